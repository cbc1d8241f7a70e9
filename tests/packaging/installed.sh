#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Tests the installed Debian packages of tools/package (see CONTRIBUTING.md): MPI programs must be served, and
# programs must build with the library. Run it in the sources' folder, with both MPIs installed.

source tests/packaging/lib.sh
packages=(libattrcache1 libattrcache-dev attrcache-mpi)
dpkg --verify "${packages[@]}" || fail "files of the packages have changed since they were installed"
for page in 1/attrcache-run 3/attrcache_get 7/attrcache; do
  dpkg -S "/usr/share/man/man${page%/*}/${page#*/}.${page%/*}.gz" >/dev/null || fail "no package has ${page#*/}"
done

for mpi in mpich openmpi; do
  expect "/usr/lib/attrcache/libattrcache_$mpi.so" attrcache-run --print "mpirun.$mpi"
done
serves attrcache-run

gcc "$first" -lattrcache -o "$work/use"
expect planned "$work/use"
builds_with_cmake
echo "passed"
