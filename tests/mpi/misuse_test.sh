#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# misuse_test.sh MPI RUN LIBRARY PROGRAM... -- PROGRAM... (a PROGRAM may be a word with arguments)
#
# With ATTRCACHE_CHECK=1, the first programs must get the warnings that they announce ("expect SORT FUNCTION") and no
# others, each place once; without it, none. The other programs are correct and must never get a warning, and neither
# must the checks of tools/check-mpi.

set -u

mpi=$1 run=$2 library=$3
shift 3

source tests/mpi/environment.sh
served_by "$library"
export ATTRCACHE_TEST_SERVED=1

output=$TMPDIR/output errors=$TMPDIR/errors
launch() { # CHECK PROGRAM
  local check=$1
  shift
  rm -f "$errors".*
  # Each rank writes its errors to a file of its own: a launcher may mix up their parts.
  # shellcheck disable=SC2048,SC2086 # a program and its arguments
  ATTRCACHE_CHECK=$check timeout -k 5 60 "$run" --mpi "$(interposer_of "$mpi")" "mpirun.$(mpi_of "$mpi")" -np "$np" \
    bash -c 'exec "$@" 2>"$0.$$"' "$errors" $* >"$output" 2>&1 </dev/null
  local code=$?
  cat "$errors".* >"$errors"
  return "$code"
}

# "SORT FUNCTION" for each warning, which is two lines: "...: warning: ..., at LIBRARY: FUNCTION (FILE:12)" and
# "...:   ... [SORT]".
warnings() {
  sed -n 's/^\(attrcache\[[0-9]*\]: \)\(warning\|note\): .*, \(at\|in\) \([^:]*\): \([^ +]*\) ([a-z_]*[.][cF]9\?0\?:[0-9]*)$/\1\5/p
    s/^\(attrcache\[[0-9]*\]: \)  .* \[\([a-z-]*\)\]$/\1[\2]/p' "$errors" |
    awk '$2 ~ /^\[/ { print substr($2, 2, length($2) - 2), place[$1]; next } { place[$1] = $2 }' | sort
}
silent() { # WHAT
  ! grep -q '^attrcache\[' "$errors" || { cat "$errors"; fail "$1: warned"; }
}

checks=0
while [ "${1---}" != -- ]; do
  program=$1
  shift
  # Most programs with an argument fail, and might end other ranks too early.
  case $program in *' '*) nps=1 ;; *) nps='1 2' ;; esac
  for np in $nps; do
    launch 1 "$program"
    grep '^expect ' "$output" | cut -d' ' -f2- | sort >"$TMPDIR/expected"
    [ -s "$TMPDIR/expected" ] || grep -q '^nothing to expect ' "$output" || { cat "$output" "$errors"; fail "$program: expects nothing"; }
    warnings | diff "$TMPDIR/expected" - || { cat "$errors"; fail "$program: expected (<), warned (>)"; }
    [ "$(grep -c 'warning:\|note:' "$errors")" = "$(wc -l <"$TMPDIR/expected")" ] || fail "$program: warnings without a place"
    [ "$(grep -c ': set_if_absent (' "$errors")" = "$(grep -c ': MPIX_Comm_set_attr_if_absent: ' "$errors")" ] ||
      { cat "$errors"; fail "$program: set_attr_if_absent is called by another name"; }
    [ "$np" = 1 ] || [ ! -s "$TMPDIR/expected" ] || grep -q "warning: rank 1 on $(hostname): " "$errors" || { cat "$errors"; fail "$program: no rank"; }
    [ "$(grep -c '^rank [0-9]*: [0-9]* checks passed$' "$output")" = "$np" ] && ! grep -q FAILED "$output" ||
      { grep FAILED "$output"; fail "$program: not all checks passed"; }
    checks=$((checks + $(wc -l <"$TMPDIR/expected")))
    launch 0 "$program"
    silent "$program unchecked"
  done
done
shift
np=2
for program in "$@"; do
  launch 1 "$program"
  silent "$program"
  grep -q 'passed$\|^rank' "$output" || { cat "$output" "$errors"; fail "$program: did not run"; }
  checks=$((checks + 1))
done

for check in component-freed-first dup-of-dup-comm free-in-delete-callback-type freed-on-many-comm freed-twice-in-delete mpi1-mixed \
  session-attributes session-outlives-world storm-keyvals-type win-unchanged-by-others; do
  # Not each MPI has sessions.
  [[ $check != session-* ]] || compile_mpi "$mpi" -x c - -c -o "$TMPDIR/session.o" 2>/dev/null <<<'#include <mpi.h>
MPI_Session session;' || continue
  tools/check-mpi --reproducer "$check" >"$TMPDIR/right.c"
  compile_mpi "$mpi" -w "$TMPDIR/right.c" -o "$TMPDIR/right" -lpthread
  launch 1 "$TMPDIR/right" || fail "$check: exit code"
  silent "$check"
  grep -q 'FAILED' "$output" && fail "$check: $(cat "$output")"
  checks=$((checks + 1))
done

[ "$failures" = 0 ] && echo "passed: $mpi, $checks checks"
exit "$((failures != 0))"
