#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# proposed_test.sh LIBRARY PROGRAM...: with LIBRARY in front of it, MPICH must pass tools/check-mpi's checks of sessions and
# files; and each PROGRAM, in C, must exit with 0.

source tests/mpi/environment.sh
library=$(readlink -f -- "$1")
# Names that MPICH's headers define: the first in its build of the standard ABI's library, the others in ch4.
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
for program in "${@:2}"; do
  $mpicc -Ilib/include "$program" -Wl,-rpath,"$(dirname "$library")" -o "$TMPDIR/program" || exit 1
  mpirun.mpich -np 1 "$TMPDIR/program" || exit 1
done
