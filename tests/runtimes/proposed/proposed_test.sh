#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# proposed_test.sh LIBRARY PROGRAM: what tools/check-mpi asks of sessions and files, of MPICH with LIBRARY in front of it;
# and PROGRAM, in C, which ends with 0.

source tests/mpi/environment.sh
library=$(readlink -f -- "$1")
# Names that MPICH's own headers have: the first where it makes the library of the standard ABI, the others in ch4.
if grep -n -E '\b(ABI_[A-Z]|(GET|PUT|SEND|RECV)\b)' lib/runtimes/proposed.c; then
  exit 1
fi
mpicc="mpicc.mpich -Wl,--no-as-needed $library"
checks=()
for kind in session file; do
  for check in attributes end finalize failing once older-while-ending misuse threads; do
    checks+=(--only "$check-$kind")
  done
done
said=$(tools/check-mpi --mpicc "$mpicc" --mpirun "mpirun.mpich -np 2" "${checks[@]}" 2>&1)
if ! grep -q '^proposed: 16 of 16 pass, 0 fail, 0 not applicable$' <<<"$said"; then
  echo "$said"
  exit 1
fi
$mpicc -Ilib/include "$2" -Wl,-rpath,"$(dirname "$library")" -o "$TMPDIR/program" && mpirun.mpich -np 1 "$TMPDIR/program"
