#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# A wrong command line gets an error message of one sentence, and exit code 2.

source tests/conformance/lib.sh
mpi=$1

refuses() { # SENTENCE ARGUMENT...
  local code=0 sentence=$1
  shift
  tools/check-mpi "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
  [[ $code == 2 ]] || fail "exit code $code of $*: $(cat "$work/out" "$work/err")"
  [[ $(wc -l <"$work/err") == 1 ]] || fail "more than a line: $(cat "$work/err")"
  grep -Eq "^check-mpi: .*$sentence" "$work/err" || fail "'$sentence' of $*: $(cat "$work/err")"
}
good=(--mpicc "mpicc.$mpi" --mpirun "mpirun.$mpi -np 1")

refuses "--mpicc is needed" --mpirun "mpirun.$mpi"
refuses "--mpirun is needed" --mpicc "mpicc.$mpi"
refuses "there is no command no_such_compiler" --mpicc no_such_compiler --mpirun "mpirun.$mpi"
refuses "there is no command no_such_launcher" --mpicc "mpicc.$mpi" --mpirun "no_such_launcher -np 2"
refuses "--mpicc is empty" --mpicc " " --mpirun "mpirun.$mpi"
refuses "cc does not compile a small MPI program: .*mpi.h" --mpicc cc --mpirun "mpirun.$mpi"
refuses "does not compile a small MPI program: it says nothing|it said nothing" --mpicc false --mpirun "mpirun.$mpi"
refuses "false does not run a small MPI program .exit code 1.: it said nothing" --mpicc "mpicc.$mpi" --mpirun false
refuses "does not run a small MPI program" --mpicc "mpicc.$mpi" --mpirun "mpirun.$mpi --no-such-option"
refuses "a small MPI program does not end within 2 seconds" --mpicc "mpicc.$mpi" --timeout 2 \
  --mpirun "bash -c 'while :; do read -rt 9 <> <(:) || :; done'"
refuses "there is no section and no check nonsense" "${good[@]}" --only nonsense
refuses "there is no check nonsense" --reproducer nonsense
refuses "need a number of at least 1" "${good[@]}" --jobs 0
refuses "no_such_folder/x: No such file" "${good[@]}" --json no_such_folder/x
refuses "No closing quotation" --mpicc "mpicc '" --mpirun true

# A launcher that doesn't serve must not have its results called served.
mkdir "$work/beside"
cp -rL tools/check-mpi tools/conformance "$work/beside"
printf '#!/bin/sh\nexec "$@"\n' >"$work/beside/attrcache-run"
chmod +x "$work/beside/attrcache-run"
code=0
"$work/beside/check-mpi" "${good[@]}" --served --only set-get-comm >"$work/out" 2>"$work/err" || code=$?
[[ $code == 2 ]] && grep -q 'attrcache does not serve this MPI' "$work/err" || fail "served: $code, $(cat "$work/err")"

# argparse's own.
code=0
tools/check-mpi --no-such-option >/dev/null 2>"$work/err" || code=$?
[[ $code == 2 ]] && grep -q 'no-such-option' "$work/err" || fail "an unknown option: $code, $(cat "$work/err")"

# Without an MPI at all.
tools/check-mpi --list >"$work/list"
(($(grep -c '^  ' "$work/list") > 300)) || fail "the list is short"
tools/check-mpi --help | grep -q -- --reproducer || fail "no help"
echo "passed"
