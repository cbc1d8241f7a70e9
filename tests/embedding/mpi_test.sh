#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# mpi_test.sh MPI PROGRAM: the program for the small MPI must do the same on Open MPI and MPICH.

set -euo pipefail
source tests/mpi/environment.sh
# The output is checked below. A rank that fails must not, by its exit code, have the other killed before it prints.
output=$(timeout 60 "mpirun.$1" -np 2 sh -c '"$0" || true' "$PWD/$2" 2>&1) || true
echo "$output"
both() { (($(grep -c "$1" <<<"$output") == 2)); }
both 'passed$' || {
  both ' 2 copied, 3 deleted, 1 released: FAILED$' &&
    peer_bug "$1" "MPI_Finalize does not delete the attributes of MPI_COMM_WORLD" false
}
