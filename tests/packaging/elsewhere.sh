#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What users do where nothing has Debian's names, in a fresh clone: tools/on prefix tests/packaging/elsewhere.sh. CMake builds
# and tests, README's commands run, and tools/check-mpi finds no fault in the MPI served; mpicc and mpirun are on the PATH.

set -euo pipefail
cmake -B build -DBUILD_TESTING=ON
cmake --build build --parallel
ctest --test-dir build --output-on-failure
tests/packaging/commands.sh .
tools/check-mpi --mpicc mpicc --mpirun "mpirun -np 2" --served | tee build/checked || (($? == 1))
grep -q '^left open: ' build/checked # its last line
# Serving leaves one fault of MPICH 4.0's own as it is.
wrong=$(grep '^  FAIL ' build/checked | grep -v failing-free-last-set) || true
[[ -z $wrong ]] || exit 1
echo "passed"
