#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tsan_test.sh MPI RUN LIBRARY PROGRAM...: ThreadSanitizer, with which each PROGRAM (tsan.c) is built, finds no race in it when it
# is served, and still finds the one that it has if told to.

set -u

mpi=$1 run=$2 library=$3
shift 3

source tests/mpi/environment.sh
served_by "$library"
# UCX hooks system calls that ThreadSanitizer's runtime makes for a thread that isn't ready yet: that crashes, natively, too.
export UCX_MEM_EVENTS=n ATTRCACHE_VERBOSE=1
# As tools/bazel/fixed_addresses.sh.
fixed=()
setarch -R true 2>/dev/null && fixed=(setarch -R)

runs=0
# ends CODE COMMAND...
ends() {
  local expected=$1 code
  shift
  runs=$((runs + 1))
  output=$(timeout -k 5 120 "$@" 2>&1 </dev/null)
  code=$?
  [ "$code" = "$expected" ] || fail "$*: exit code $code, not $expected: $output"
}

for program in "$@"; do
  program=$(readlink -f -- "$program")
  peer_bug "$mpi" "ThreadSanitizer finds races natively" "${fixed[@]}" "$program" && continue
  served=("$run" --mpi "$(interposer_of "$mpi")" "${fixed[@]}" "$program")
  ends 0 "${served[@]}"
  has ': serving the attributes'
  has '3 threads'
  ends 0 "${served[@]}" callbacks
  has '6 threads'
  ends 66 "${served[@]}" race
  has 'data race'
  has 'read_raced'
done
[ "$failures" = 0 ] && echo "passed: $mpi, $runs runs"
exit "$((failures != 0))"
