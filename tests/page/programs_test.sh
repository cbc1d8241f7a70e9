#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# programs_test.sh MPI RUN LIBRARY CHECK NAME:PROGRAM...
#
# Runs PROGRAMs under MPI with --report=FILE.html, twice, the second time compared with the first; CHECK
# (programs_check.py) looks at the pages in a browser. Then what the launcher says of bad files and odd ends.

set -u

source tests/mpi/environment.sh
mpi=$1 run=$(absolute "$2") library=$3 check=$(absolute "$4")
shift 4
served_by "$library"
unset ATTRCACHE_REPORT ATTRCACHE_TRACE
mpirun=mpirun.$mpi

names=() programs=()
for program in "$@"; do
  names+=("${program%%:*}")
  words=(${program#*:})
  for i in "${!words[@]}"; do [ ! -e "${words[i]}" ] || words[i]=$(absolute "${words[i]}"); done
  programs+=("${words[*]}")
done
cd "$TMPDIR" || exit 1

launch() { # ARGUMENT... of attrcache-run; the output is in $output
  output=$(timeout -k 5 200 "$run" "$@" 2>&1 </dev/null)
}
nothing_else() {
  [ -z "$(find . -name '.attrcache*')" ] || fail "left: $(find . -name '.attrcache*')"
}

for i in "${!names[@]}"; do
  name=${names[i]}
  read -ra command <<<"${programs[i]}"
  launch --report="$name.first.json" "$mpirun" -np 4 "${command[@]}"
  launch --report="$name.html" --report="$name.json" --report="$name.txt" --trace="$name.trace" \
    --compare "$name.first.json" "$mpirun" -np 4 "${command[@]}"
  [ -f "$name.html" ] || fail "$name: no page: $output"
  nothing_else
  grep -q "^attrcache: compared with $name.first.json, 4 ranks" "$name.txt" || fail "$name: no comparison in the text"
  [[ $output != *"compared with"* ]] || fail "$name: the comparison is not in the text alone"
  python3 -B "$check" "$name.html" "$name.json" "$name.trace" "$name.first.json" "${command[@]}" || fail "$name"
done

# What is not asked for.
program=${programs[-1]% *}
launch --compare="${names[-1]}.json" --mpi "$mpi" "$program" nothing
has "attrcache: compared with ${names[-1]}.json"
has "  gone: report: delete_far: "
nothing_else
launch --report --compare="${names[-1]}.json" "$mpirun" -np 2 "$program" nothing
has "the attributes of 2 ranks"
has "  ranks: 4 then, 2 now"

# From what an earlier run has written.
launch --from "${names[-1]}.json" --trace="${names[-1]}.trace" --report=later.html --compare "${names[-1]}.first.json"
python3 -B "$check" later.html "${names[-1]}.json" "${names[-1]}.trace" "${names[-1]}.first.json" || fail "later: $output"

# Ranks without MPI_Finalize.
for end in exit abort; do
  launch --report=$end.html "$mpirun" -np 2 "$program" $end
  [ -f $end.html ] || fail "$end: no page: $output"
  nothing_else
done
launch --report=nothing.html --mpi "$mpi" true
has "attrcache-run: no report: no rank has handed anything over"
[ ! -f nothing.html ] || fail "nothing: a page"

# What is refused, before anything runs.
echo '{' >bad.json
echo '{"format": 9, "sum": {}}' >other.json
refuses() { # TEXT ARGUMENT...
  local text=$1
  shift
  launch "$@"
  [ $? = 2 ] || fail "$*: exit code"
  has "$text"
  [[ $output != *Traceback* ]] || fail "$*: $output"
}
refuses "none.json can't be read: No such file" --report=no.html --compare none.json "$program" nothing
refuses "bad.json is no JSON" --report=no.html --compare=bad.json "$program" nothing
refuses "other.json is a report of format 9" --compare other.json "$program" nothing
refuses "argument --compare: expected one argument" --compare
refuses "--compare wants" --compare= "$program"
refuses "argument --from: expected one argument" --from
refuses "there is no folder" --report=/no/such/page.html "$program" nothing
refuses "--from runs nothing" --from bad.json --report=no.html "$program" nothing
refuses "--from wants --report" --from bad.json
refuses "bad.json is no JSON" --from bad.json --report=no.html
refuses "there is no such file" --from bad.json --report=no.html --trace=none.trace
[ ! -f no.html ] || fail "a page of nothing"

[ "$failures" = 0 ] && echo "passed: $mpi, pages of ${names[*]}"
exit "$((failures != 0))"
