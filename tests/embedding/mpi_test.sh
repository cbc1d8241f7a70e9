#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# mpi_test.sh MPI PROGRAM: the program that runs on the small MPI does the same on a large one.

set -euo pipefail
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HOME=${HOME:-/tmp}
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_rmaps_base_oversubscribe=1
export HYDRA_LAUNCHER=fork
TMPDIR=$(mktemp -d) # the run-time systems want short paths
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
output=$(timeout 60 "mpirun.$1" -np 2 "$PWD/$2" 2>&1) || {
  echo "FAILED: $output"
  exit 1
}
echo "$output"
(($(grep -c 'passed$' <<<"$output") == 2))
