#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# check_mpi_test.sh MPI
#
# tools/check-mpi on an MPI: quick checks of each language pass; the text, the JSON and the page agree; the
# exit code tells whether the standard's demands pass. No two launches share a $TMPDIR.

source tests/conformance/lib.sh
mpi=$1
checks=(set-get-comm set-get-win dup-of-dup-type intercommunicator finalize-reverse-order tag-ub mpi1-mixed
  get-in-copy-comm unique-keys-type f-set-get-comm-mpifh f-copy-callback-type-usempi f-set-get-win-f08 cxx-and-c
  delete-absent-comm)
only=()
for check in "${checks[@]}"; do only+=(--only "$check"); done
run=(tools/check-mpi --mpicc "mpicc.$mpi" --mpif90 "mpif90.$mpi" --mpicxx "mpicxx.$mpi")
printf '#!/bin/sh\necho "$TMPDIR" >>"%s/folders"\nexec "$@"\n' "$work" >"$work/launcher"
chmod +x "$work/launcher"

code=0
"${run[@]}" --mpirun "$work/launcher mpirun.$mpi -np 2" "${only[@]}" --json "$work/results.json" --html "$work/results.html" \
  >"$work/log" 2>&1 || code=$?
[[ $code == 0 ]] || fail "exit code $code: $(cat "$work/log")"
(($(wc -l <"$work/folders") > ${#checks[@]} / 2)) || fail "few launches of the launcher: $(cat "$work/folders")"
[[ -z $(sort "$work/folders" | uniq -d) ]] || fail "launches that share a \$TMPDIR: $(sort "$work/folders" | uniq -d)"
grep -q "MPI_THREAD_MULTIPLE, 2 ranks, native" "$work/log" || fail "the first line: $(cat "$work/log")"
python3 - "$work/results.json" "$work/results.html" "$work/log" "${checks[@]}" <<'END'
import json, re, sys
with open(sys.argv[1]) as file:
    data = json.load(file)
html, text, checks = open(sys.argv[2]).read(), open(sys.argv[3]).read(), sys.argv[4:]
results = {r["check"]: r for r in data["results"]}
assert sorted(results) == sorted(checks), sorted(results)
for name, r in results.items():
    # An MPI without C++ bindings, or without one of Fortran's interfaces, is no failure of the tool.
    allowed = ["open"] if r["kind"] == "open" else ["pass"]
    if name.startswith("cxx-") and "no C++ bindings" in r.get("detail", ""):
        allowed.append("not applicable")
    assert r["result"] in allowed, r
    assert "<code>%s</code>" % name in html, name
    assert html.index("<h2>What fails</h2>\n<p>Nothing.\n") < html.index("<h2>What passes</h2>")
counts = data["counts"]["demanded"]
assert "the standard demands: %d of %d pass, 0 fail" % (counts["pass"], counts["pass"]) in text, text
assert "<li>the standard demands: %d of %d pass" % (counts["pass"], counts["pass"]) in html
assert not re.search(r"(src|href)=", html), "the page needs something else"
assert "delete-absent-comm: delete " in text, text
END

# Reproducers are these programs; where Fortran is needed, a script compiles them.
for check in f-set-get-comm-mpifh f-set-get-comm-usempi f-without-ierror-f08; do
  tools/check-mpi --reproducer "$check" >"$work/reproducer"
  MPICC=mpicc.$mpi MPIF90=mpif90.$mpi MPIRUN="mpirun.$mpi -np 1" sh "$work/reproducer" >"$work/log" 2>&1 ||
    fail "the reproducer of $check: $(cat "$work/log")"
done

# Fewer ranks than a check needs, and no compilers but C's.
tools/check-mpi --mpicc "mpicc.$mpi" --mpirun "mpirun.$mpi -np 1" --only intercommunicator --only cxx-and-c \
  --only f-set-get-comm-f08 --called embedded >"$work/log" 2>&1 || fail "$(cat "$work/log")"
grep -q "1 rank, embedded, " "$work/log" || fail "the run isn't called what it should be: $(cat "$work/log")"
for reason in "needs 2 ranks, the launcher starts 1" "no C++ compiler was given" "no Fortran compiler was given"; do
  grep -q "n/a .*$reason" "$work/log" || fail "no word of '$reason': $(cat "$work/log")"
done
echo "passed"
