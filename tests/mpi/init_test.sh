#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# init_test.sh MPI RUN LIBRARY TOOL PROGRAM...: with ATTRCACHE_VERBOSE=1 each process that initializes MPI prints one line
# that it is served, in C and Fortran, by every function that initializes, with and without TOOL preloaded, even if it
# uses no attribute; without it, there is no line. The first PROGRAM is C's. (The C++ bindings call MPI_Init, too.)

set -u

mpi=$1 run=$2 library=$3 tool=$(readlink -f -- "$4")
shift 4

source tests/mpi/environment.sh
served_by "$library"

runs=0
# says LINES PROCESSES COMMAND...
says() {
  local lines=$1 processes=$2 output
  shift 2
  runs=$((runs + 1))
  output=$(timeout -k 5 120 "$@" 2>&1 </dev/null)
  # A launcher may print the end of one rank's line after the beginning of another's.
  if [ "$(grep -o 'attrcache\[[0-9]*\]: serving' <<<"$output" | wc -l)" != "$lines" ] ||
    [ "$(grep -o through <<<"$output" | wc -l)" != "$processes" ] || grep -q 'not serving' <<<"$output" ||
    { [ "$lines" = 0 ] && grep -q attrcache <<<"$output"; }; then
    fail "$*: $lines lines of $processes processes expected: $output"
  fi
}

c=$1
served=("$run" --mpi "$(interposer_of "$mpi")") launcher=mpirun.$(mpi_of "$mpi")
export ATTRCACHE_VERBOSE=1
for program in "$@"; do
  for how in "" thread; do
    says 2 2 "${served[@]}" "$launcher" -np 2 "$program" $how
  done
done
[ "$mpi" = openmpi ] || # whose interposer does not override MPI_Session_init
  says 1 1 "${served[@]}" "$launcher" -np 1 "$c" session
says 1 1 env LD_PRELOAD="$tool:$(readlink -f -- "$library")" "$c"
# A program that never initializes MPI: attrcache-run says that no rank was served.
runs=$((runs + 1))
output=$("${served[@]}" "$c" nothing 2>&1 </dev/null)
has through
has 'attrcache-run: served no rank'
for silence in 0 ''; do
  ATTRCACHE_VERBOSE=$silence says 0 2 "${served[@]}" "$launcher" -np 2 "$c"
done
unset ATTRCACHE_VERBOSE
says 0 2 "${served[@]}" "$launcher" -np 2 "$c" thread
[ "$failures" = 0 ] && echo "passed: $mpi, $runs runs"
exit "$((failures != 0))"
