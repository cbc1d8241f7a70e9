#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# mutants_test.sh MPI [NUMBER...]
#
# tools/check-mpi notices an MPI that breaks a rule: for each way that broken.c knows, the named check fails and says
# what it should. Unbroken, all of them pass. The reproducer shows the failure by itself as well.
# NUMBERs: these ways only.

source tests/conformance/lib.sh
mpi=$1
shift

# What is broken, the check that is to notice, and what it says it saw.
mutants=(
  "1 delete-comm delete 7;delete 7;"
  "2 get-absent-comm 1"
  "3 set-all-bits-comm [0-9]"
  "4 overwrite-comm \"\""
  "5 flag-0-comm 13"
  "6 copied-value-comm 7"
  "7 free-sets-invalid-comm [0-9]"
  "8 set-get-comm that it hangs"
  "9 delete-comm that it crashes, by signal 11"
  "10 failing-delete MPI_SUCCESS"
  "11 free-deletes-comm 0"
  "12 finalize-runs-self \"\""
  "13 extra-state-comm another one"
  "14 tag-ub 100"
  "15 set-get-comm that it ends with exit code"
  "16 get-while-replaced-comm gets did not find it"
  "17 storm-same-key-comm [0-9]{5,} of 160000 deleted more than once"
  "18 create-unique-comm the same one"
  "19 set-null-comm -1"
  "20 delete-arguments-comm another handle"
  "21 freed-get-comm -1"
)

wanted() { # NUMBER
  ((${#numbers[@]} == 0)) || [[ " ${numbers[*]} " == *" $1 "* ]]
}
numbers=("$@")

broken() { # NUMBER: that MPI, as the program sees it
  "mpicc.$mpi" -DBROKEN="$1" -c tests/conformance/broken.c -o "$work/broken_$1.o" 2>"$work/log" ||
    fail "broken.c does not compile: $(cat "$work/log")"
}
check() { # NUMBER ARGUMENT...
  local number=$1
  shift
  tools/check-mpi --mpicc "mpicc.$mpi $work/broken_$number.o" --mpirun "mpirun.$mpi -np 1" "$@"
}

only=()
for mutant in "${mutants[@]}"; do
  read -r number name _ <<<"$mutant"
  # 17 is a race that the MPI itself may lose.
  [[ $number == 17 ]] || ! wanted "$number" || only+=(--only "$name")
done
broken 0
check 0 "${only[@]}" >"$work/log" 2>&1 || fail "unbroken: $(cat "$work/log")"
! grep -q FAIL "$work/log" || fail "unbroken: $(cat "$work/log")"

noticed=0
for mutant in "${mutants[@]}"; do
  read -r number name says <<<"$mutant"
  wanted "$number" || continue
  limit=60
  [[ $number != 8 ]] || limit=5
  broken "$number"
  code=0
  check "$number" --only "$name" --timeout "$limit" --json "$work/results.json" --html "$work/page.html" \
    >"$work/log" 2>&1 || code=$?
  grep -q "FAIL  $name " "$work/log" || fail "mutant $number: $name does not notice: $(cat "$work/log")"
  grep -Eq "; seen .*$says" "$work/log" || fail "mutant $number: $name says something else: $(cat "$work/log")"
  wanted=1
  [[ $number != 16 && $number != 17 ]] || wanted=0 # what is only implied
  [[ $code == "$wanted" ]] || fail "mutant $number: exit code $code"
  grep -q '"result": "fail"' "$work/results.json" || fail "mutant $number: the JSON knows of no failure"
  grep -A 5 '^<h2>What fails</h2>$' "$work/page.html" | grep -q "^<article><h3><code>$name</code>" &&
    grep -q "<pre>/\* $name$" "$work/page.html" || fail "mutant $number: the page doesn't begin with $name and its program"
  noticed=$((noticed + 1))

  # The reproducer alone. It can't tell a program that ends early, and takes its time to notice that it hangs.
  [[ $number != 8 && $number != 15 ]] || continue
  tools/check-mpi --reproducer "$name" >"$work/reproducer.c"
  "mpicc.$mpi" "$work/reproducer.c" "$work/broken_$number.o" -o "$work/reproducer" -lpthread
  code=0
  "mpirun.$mpi" -np 1 "$work/reproducer" >"$work/log" 2>&1 || code=$?
  [[ $code != 0 ]] || fail "mutant $number: the reproducer of $name succeeds"
  [[ $number == 9 ]] || grep -q '^FAILED at line [0-9]*: expected .*; seen ' "$work/log" ||
    fail "mutant $number: the reproducer of $name says: $(cat "$work/log")"
  [[ $number != 4 ]] || {
    "mpicc.$mpi" "$work/reproducer.c" -o "$work/reproducer" -lpthread
    "mpirun.$mpi" -np 1 "$work/reproducer" >"$work/log" 2>&1 || fail "the reproducer fails unbroken: $(cat "$work/log")"
  }
done

((noticed == (${#numbers[@]} > 0 ? ${#numbers[@]} : ${#mutants[@]}))) || fail "only $noticed ways were tried"
echo "passed: $noticed broken MPIs noticed"
