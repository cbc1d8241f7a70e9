#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# endings_test.sh MPI LIBRARY PROGRAM CONFIG...: how failed attribute calls end, natively and served by LIBRARY: the
# codes returned, the error handlers called, and the exit codes and messages of calls that end the program.
# PROGRAM (endings.c, endings.F90) prints a line for each of its scenarios; both runs must print the same.

set -u

mpi=$1 library=$(readlink -f -- "$2") program=$(readlink -f -- "$3")
shift 3

source tests/mpi/environment.sh
export ATTRCACHE_VERBOSE=1
# Makes Open MPI print the message that ends the program by itself: without a daemon, to which it would hand the
# message, and which may lose it when the program ends.
export OMPI_MCA_ess_singleton_isolated=1

# What matters of the message by which an MPI ends a program: the function, the error, and the callback's code.
# (MPICH puts numbers of its own before the function and after it, and names the keyval.)
message() { # FILE
  sed -n -e 's/^.*Fatal error in \(.*\)$/\1/p' -e 's/^.*: \(user [a-z]* function returned.*\)/\1/p' \
    -e 's/^.*\*\*\* \(An error occurred in .*\)/\1/p' -e 's/^.*\*\*\* \(MPI_ERR_[A-Z]*\):.*/\1/p' "$1"
}

# table PRELOAD CONFIG: every scenario's end. After one that ended the program, it is started again at the next.
table() {
  local first=0 code attempt
  while :; do
    # Since version 5, a thread prints Open MPI's messages, and the program may end before it does. Then try
    # again.
    for attempt in {1..200}; do
      LD_PRELOAD=$1 timeout -k 5 120 "$program" "$2" "$first" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null
      code=$?
      if grep -q '^end: all' "$TMPDIR/out" || [ -n "$(message "$TMPDIR/err")" ]; then break; fi
      echo "$attempt" >>"$TMPDIR/overtaken${1:+.served}"
    done
    cat "$TMPDIR/out"
    if [ -n "$1" ] && ! grep -q '^attrcache\[[0-9]*\]: serving' "$TMPDIR/err"; then echo "not served"; fi
    grep -q '^end: all' "$TMPDIR/out" && break
    printf '\nended the program with %s: %s\n' "$code" "$(message "$TMPDIR/err" | tr '\n' ' ')"
    # Without progress, this loop would not end.
    grep -q '^end:' "$TMPDIR/out" || { cat "$TMPDIR/err"; break; }
    first=$((first + $(grep -c '^end:' "$TMPDIR/out")))
  done
  [ "$code" = 0 ] || echo "exit code $code"
}

lines=0
for config in "$@"; do
  table '' "$config" >"$TMPDIR/native"
  table "$library" "$config" >"$TMPDIR/served"
  grep -q '^end: all' "$TMPDIR/native" ||
    { cat "$TMPDIR/native"; fail "$config: natively, it does not run all scenarios"; }
  diff "$TMPDIR/native" "$TMPDIR/served" >"$TMPDIR/diff" ||
    { cat "$TMPDIR/diff"; fail "$config: native (<) and served (>) differ"; }
  lines=$((lines + $(grep -c '^end:' "$TMPDIR/served")))
  printf '%s: %s, of which %s end the program\n' "$config" "$(grep '^end: all' "$TMPDIR/native")" \
    "$(grep -c '^ended' "$TMPDIR/native")"
done
# What the MPI by itself gets wrong (check.h).
grep -h '^peer bug: ' "$TMPDIR/native" | sort -u
peer_bug "$(mpi_of "$mpi")" "the message that ends a program is lost at times" test ! -f "$TMPDIR/overtaken"
[ ! -f "$TMPDIR/overtaken.served" ] || echo "messages lost served: $(wc -l <"$TMPDIR/overtaken.served")"
[ "$failures" = 0 ] && echo "passed: $mpi, $lines lines"
exit "$((failures != 0))"
