#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds without Bazel, and compares: both builds export the same names and install the same files.

source tests/packaging/lib.sh

cmake -S "$root" -B "$work/build" -DCMAKE_INSTALL_PREFIX="$work/cmake" -DCMAKE_INSTALL_LIBDIR=lib \
  >/dev/null
cmake --build "$work/build" -j 2 >"$work/log" 2>&1 || fail "$(cat "$work/log")"
! grep -i 'warning' "$work/log" || fail "there were warnings"
cmake --install "$work/build" >/dev/null
tools/install --prefix "$work/bazel" --built "$root" >/dev/null

files() {
  (cd "$1" && find . -type f -o -type l) | LC_ALL=C sort
}
diff <(files "$work/bazel") <(files "$work/cmake") || fail "Bazel (<) and CMake (>) install other files"

for library in lib/libattrcache.so lib/attrcache/libattrcache_{openmpi,mpich}.so; do
  [[ -n $(exported "$work/bazel/$library") ]] || fail "$library exports nothing"
  diff <(exported "$work/bazel/$library") <(exported "$work/cmake/$library") ||
    fail "$library: Bazel (<) and CMake (>) export other names"
  needed() { readelf -d "$1" | sed -n 's/.*\(NEEDED\|SONAME\).*\[\(.*\)\]/\1 \2/p' | grep -v ld-linux | sort; }
  ! needed "$work/cmake/$library" | grep -q 'NEEDED libattrcache' || fail "$library needs us"
done
# The same package files, but for where they are.
for file in lib/pkgconfig/attrcache.pc lib/cmake/attrcache/attrcache-config{,-version}.cmake; do
  diff <(sed "s|$work/bazel|PREFIX|" "$work/bazel/$file") \
    <(sed "s|$work/cmake|PREFIX|" "$work/cmake/$file") || fail "$file differs"
done
gcc "$here/use.c" -I"$work/cmake/include" -L"$work/cmake/lib" -lattrcache -o "$work/use"
expect "works in C" env LD_LIBRARY_PATH="$work/cmake/lib" "$work/use"
echo "passed"
