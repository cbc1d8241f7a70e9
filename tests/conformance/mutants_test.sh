#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# mutants_test.sh MPI [NUMBER...]
#
# tools/check-mpi notices an MPI that breaks a rule: for each way that broken.c knows, the named check fails with the
# expected message, which the JSON and the page have, too. Unbroken, all of them pass. NUMBERs: these ways only.

source tests/conformance/lib.sh
mpi=$1
shift
numbers=" $* "

# NUMBER CHECK SEEN: what is broken, the check that must notice, and what it prints as seen. A round's checks run in parallel.
demanded=(
  "1 delete-comm delete 7;delete 7;"
  "2 own-object-comm 0"
  "3 set-get-comm [0-9]"
  "4 overwrite-comm \"\""
  "5 dup-many-comm 4"
  "6 dup-of-dup-comm 1"
  "7 freed-on-many-comm [0-9]"
  "10 failing-delete MPI_SUCCESS"
  "11 free-deletes-comm 0"
  "12 finalize-reverse-order \"\""
  "13 finalize-arguments another one"
  "14 tag-ub 100"
  "15 world-and-self that it ends with exit code"
  "18 create-unique-comm the same one"
  "19 many-keyvals-comm -1"
  "20 delete-arguments-comm another handle"
  "21 freed-dup-comm -1"
  "22 not-by-graph 1"
  "23 tag-ub-elsewhere 100"
)
ends_badly=(
  "8 set-get-comm that it hangs"
  "9 delete-comm that it crashes, by signal 11"
)
implied=(
  "16 get-while-replaced-comm gets did not find it"
  "17 storm-same-key-comm [0-9]{5,} of 160001 deleted more than once"
)

"mpicc.$mpi" -c tests/conformance/broken.c -o "$work/broken.o" 2>"$work/log" || fail "broken.c does not compile: $(cat "$work/log")"
check() { # TIMEOUT CHECK...
  local only=("${@/#/--only=}")
  tools/check-mpi --mpicc "mpicc.$mpi $work/broken.o" --mpirun "mpirun.$mpi -np 1" --timeout "$1" \
    --json "$work/results.json" --html "$work/page.html" "${only[@]:1}" >"$work/log" 2>&1
}

noticed=0
notice() { # EXIT-CODE TIMEOUT MUTANT...
  local wanted=$1 timeout=$2 mutant number name says code=0 names=() list=()
  shift 2
  for mutant in "$@"; do
    read -r number name says <<<"$mutant"
    [[ $numbers == "  " || $numbers == *" $number "* ]] || continue
    names+=("$name")
    list+=("$name=$number")
  done
  ((${#names[@]} > 0)) || return 0
  BROKEN="${list[*]}" check "$timeout" "${names[@]}" || code=$?
  [[ $code == "$wanted" ]] || fail "${list[*]}: exit code $code: $(cat "$work/log")"
  for mutant in "$@"; do
    read -r number name says <<<"$mutant"
    [[ " ${list[*]} " == *" $name=$number "* ]] || continue
    grep -A 2 "FAIL  $name " "$work/log" | grep -Eq "; seen .*$says" || fail "mutant $number: $(cat "$work/log")"
    grep -A 5 "\"check\": \"$name\"" "$work/results.json" | grep -q '"result": "fail"' || fail "mutant $number: the JSON: no failure"
    [[ $(sed '/^<h2>What the standard/,$d' "$work/page.html") == *"<article><h3><code>$name</code>"*"<pre>/* $name"$'\n'* ]] ||
      fail "mutant $number: the page lacks $name and its program"
    noticed=$((noticed + 1))
  done
}
notice 1 60 "${demanded[@]}"
notice 1 5 "${ends_badly[@]}"
notice 0 60 "${implied[@]}"

# Unbroken, without the storm: the MPI itself may lose that race.
mapfile -t names < <(printf '%s\n' "${demanded[@]}" "${ends_badly[@]}" "${implied[0]}" | cut -d ' ' -f 2 | sort -u)
[[ $numbers == "  " ]] || names=(set-get-comm delete-comm)
check 60 "${names[@]}" || fail "unbroken: $(cat "$work/log")"
! grep -q FAIL "$work/log" || fail "unbroken: $(cat "$work/log")"

all=$((${#demanded[@]} + ${#ends_badly[@]} + ${#implied[@]}))
((noticed == ($# > 0 ? $# : all))) || fail "only $noticed ways were tried"
echo "passed: $noticed broken MPIs noticed"
