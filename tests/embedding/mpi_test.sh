#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# mpi_test.sh MPI PROGRAM: the program for the small MPI must do the same on Open MPI and MPICH.

set -euo pipefail
source tests/mpi/environment.sh
output=$(timeout 60 "mpirun.$1" -np 2 "$PWD/$2" 2>&1) || {
  echo "FAILED: $output"
  exit 1
}
echo "$output"
(($(grep -c 'passed$' <<<"$output") == 2))
