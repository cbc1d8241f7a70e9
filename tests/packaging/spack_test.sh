#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Tests the Spack recipe without Spack. The recipe must be valid Python that uses only directives of Spack. With the
# arguments that it passes, CMake must build the interposers of the chosen MPI and of the standard ABI, and no other.

source tests/packaging/lib.sh
recipe=$root/tools/packaging/spack/packages/attrcache/package.py

sources=$(python3 "$here/spack_stand_in.py" "$recipe" git)
[[ -f ${sources#file://}/CMakeLists.txt ]] || fail "no sources in $sources"

include() { # MPI: where its mpi.h is
  "mpicc.$1" -show | tr ' ' '\n' | sed -n 's/^-I//p' | while read -r folder; do
    if [[ -f $folder/mpi.h ]]; then echo "$folder"; fi
  done | head -n 1
}
for mpi in openmpi mpich none; do
  headers=$([[ $mpi == none ]] || include "$mpi")
  readarray -t arguments < <(python3 "$here/spack_stand_in.py" "$recipe" "$mpi" "$headers")
  ((${#arguments[@]} == 3)) || fail "$mpi: ${arguments[*]}"
  cmake -S "$root" -B "$work/$mpi" "${arguments[@]}" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
  ! grep -A3 'not used by the project' "$work/log" || fail "CMake doesn't know what it is given"
  made=$(cmake --build "$work/$mpi" --target help | sed -n 's/^\.\.\. attrcache_\(openmpi\|mpich\|mpi_abi\)$/\1/p' | sort | xargs)
  [[ $made == "$(case $mpi in none) ;; mpich) echo "mpi_abi mpich" ;; *) echo "mpi_abi openmpi" ;; esac)" ]] || fail "for $mpi the interposers are: '$made'"
done
echo "passed"
