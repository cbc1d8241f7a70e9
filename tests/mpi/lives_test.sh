#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# lives_test.sh MPI RUN LIBRARY PROGRAM: whatever an MPI does natively in one life after another works served, too.

set -u

mpi=$1 run=$2 library=$3 program=$4

source tests/mpi/environment.sh
served_by "$library"

# Open MPI has sessions only under its launcher.
launcher=(mpirun.$mpi -np 1)
for how in sessions idle-world idle-world-beside world-later foreign-keyval nested-end; do
  native=$(timeout -k 5 60 "${launcher[@]}" "$program" "$how" 2>&1 </dev/null) || {
    echo "not tested, since $mpi can't do it natively: $how${native:+: $native}"
    continue
  }
  served=$(timeout -k 5 60 "$run" --mpi "$mpi" "${launcher[@]}" "$program" "$how" 2>&1 </dev/null) || fail "$how: $served"
done
exit "$((failures != 0))"
