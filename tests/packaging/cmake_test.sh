#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds with CMake. Both builds must export the same names and install the same files.

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
rm "$work/bazel/share/attrcache/installed-files" # CMake has its own: install_manifest.txt
diff <(files "$work/bazel") <(files "$work/cmake") || fail "Bazel (<) and CMake (>) install other files"

for library in lib/libattrcache.so lib/attrcache/libattrcache_{openmpi,mpich,mpi_abi}.so; do
  [[ -n $(exported "$work/bazel/$library") ]] || fail "$library exports nothing"
  diff <(exported "$work/bazel/$library") <(exported "$work/cmake/$library") ||
    fail "$library: Bazel (<) and CMake (>) export other names"
  [[ $(needs "$work/cmake/$library") != *libattrcache* ]] || fail "$library needs us"
done
# A C library adopts it, which should get no runtime of C++ or of the compiler by it.
for built in bazel cmake; do
  [[ $(needs "$work/$built/lib/libattrcache.so" | grep -v ld-linux) == libc.so.6 ]] ||
    fail "$built: libattrcache.so needs $(needs "$work/$built/lib/libattrcache.so" | xargs)"
done
# The package files are the same, except for the paths in them.
for file in lib/pkgconfig/attrcache.pc lib/cmake/attrcache/attrcache-config{,-version}.cmake; do
  diff <(sed "s|$work/bazel|PREFIX|" "$work/bazel/$file") \
    <(sed "s|$work/cmake|PREFIX|" "$work/cmake/$file") || fail "$file differs"
done
gcc "$here/use.c" -I"$work/cmake/include" -L"$work/cmake/lib" -lattrcache -o "$work/use"
expect "works in C" env LD_LIBRARY_PATH="$work/cmake/lib" "$work/use"

# Absolute paths for folders, as some package managers give them, and a prefix that is given at installation.
cmake -S "$root" -B "$work/build" -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=/usr/lib64 \
  -DATTRCACHE_OPENMPI_INCLUDE=OFF -DATTRCACHE_MPICH_INCLUDE=OFF -DATTRCACHE_MPI_ABI=OFF >/dev/null
cmake --build "$work/build" -j 2 >"$work/log" 2>&1 || fail "$(cat "$work/log")"
DESTDIR=$work/stage cmake --install "$work/build" >/dev/null
grep -qx 'libdir=${prefix}/lib64' "$work/stage/usr/lib64/pkgconfig/attrcache.pc" || fail "libdir is wrong in attrcache.pc"
grep -qx 'prefix=/usr' "$work/stage/usr/lib64/pkgconfig/attrcache.pc" || fail "the prefix is wrong in attrcache.pc"
[[ ! -e $work/stage/usr/lib/attrcache ]] || fail "the interposers were not switched off"
cmake -S "$here" -B "$work/user" -Dattrcache_DIR="$work/stage/usr/lib64/cmake/attrcache" >/dev/null
cmake --build "$work/user" --target in_c shared >"$work/log" 2>&1 || fail "$(cat "$work/log")"
expect "works in C" "$work/user/in_c"
expect "works in C++" "$work/user/shared"
cmake -S "$root" -B "$work/build" -DCMAKE_INSTALL_LIBDIR=lib >/dev/null
cmake --install "$work/build" --prefix "$work/else where" >/dev/null
grep -qx "prefix=$work/else where" "$work/else where/lib/pkgconfig/attrcache.pc" || fail "attrcache.pc has another prefix"
! cmake -S "$root" -B "$work/build" -DCMAKE_INSTALL_LIBDIR=/elsewhere/lib >/dev/null 2>&1 || fail "LIBDIR outside"

# A project that has these sources as a subfolder, and targets and files of the same common names; with clang.
mkdir "$work/project"
cp "$here"/use.c "$here"/use.cc "$work/project"
cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(runtime LANGUAGES C CXX)
add_library(objects OBJECT use.c)
target_link_libraries(objects attrcache::static)
add_subdirectory("$root" attrcache)
add_executable(shared use.cc)
target_compile_features(shared PRIVATE cxx_std_20)
target_link_libraries(shared attrcache::attrcache)
add_executable(static use.c)
target_link_libraries(static attrcache::static)
END
CC=clang CXX=clang++ cmake -S "$work/project" -B "$work/project/build" >/dev/null
cmake --build "$work/project/build" -j 2 >"$work/log" 2>&1 || fail "$(cat "$work/log")"
expect "works in C++" "$work/project/build/shared"
expect "works in C" "$work/project/build/static"
! grep -rq -- "-I$root/lib " "$work/project/build/CMakeFiles" || fail "users see our inner headers"

# A package's shared library: on processors with AVX2 the dynamic linker takes the one that uses AVX, on all others the
# one that doesn't.
if [[ $(uname -m) == x86_64 ]]; then
  cmake -S "$root" -B "$work/hwcaps" -DATTRCACHE_HWCAPS=ON -DCMAKE_INSTALL_PREFIX="$work/both" -DCMAKE_INSTALL_LIBDIR=lib \
    -DATTRCACHE_OPENMPI_INCLUDE=OFF -DATTRCACHE_MPICH_INCLUDE=OFF -DATTRCACHE_MPI_ABI=OFF >/dev/null
  cmake --build "$work/hwcaps" -j 2 >"$work/log" 2>&1 || fail "$(cat "$work/log")"
  cmake --install "$work/hwcaps" >/dev/null
  cat >"$work/platform.c" <<'END'
#include <attrcache/attrcache.h>
#include <stdio.h>
int main(void) {
  attrcache_domain* domain;
  const int result = attrcache_domain_create(NULL, &domain);
  printf("%s: %s\n", attrcache_strerror(result), attrcache_platform());
  return 0;
}
END
  gcc "$work/platform.c" -I"$work/both/include" -L"$work/both/lib" -lattrcache -Wl,-rpath,"$work/both/lib" -o "$work/platform"
  expect "success: x86-64: 16 bytes are read in two steps" qemu-x86_64 -cpu Nehalem "$work/platform"
  expect "success: x86-64: 16 bytes are read in one step" qemu-x86_64 -cpu max "$work/platform"
fi
echo "passed"
