#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# CMake's builds: they export the same names as Bazel's, have the same tests, and what they install works for its users.

source tests/packaging/lib.sh

# Copies of the sources, as a user unpacks them: here they are links.
mkdir "$work/source"
cp -RL BUILD CMakeLists.txt CMakePresets.json ./*.md LICENSE-* bench lib tests tools "$work/source"
export build=$work/source/build
configure() { # OPTION...
  cmake -S "$work/source" -B "$build" -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib/multi "$@" >"$work/log" 2>&1
}
make() { # FOLDER
  cmake --build "$1" -j 2 >"$work/log" 2>&1 || fail "$(cat "$work/log")"
}
without_mpi=(-DATTRCACHE_{OPENMPI_INCLUDE,MPICH_INCLUDE,MPI_ABI}=OFF)

# All of it is compiled without optimization, in a third of the time; the library again below, with the defaults.
configure -DCMAKE_BUILD_TYPE=Debug || fail "$(cat "$work/log")"
make "$build"
! grep -i 'warning' "$work/log" || fail "there were warnings"
for library in lib/mpi/libattrcache_{openmpi,mpich,mpi_abi}.so libattrcache.so.1; do
  made=$build/${library##*/}
  [[ -n $(exported "$library") ]] || fail "$library exports nothing"
  diff <(exported "$library") <(exported "$made") || fail "$library: Bazel (<) and CMake (>) export different names"
  [[ $(needs "$made") != *libattrcache* ]] || fail "$made needs libattrcache"
done

# Debian packages: each installed file is in exactly one, and each of their lines names a file.
stage=$work/stage
DESTDIR=$stage cmake --install "$build" >/dev/null
(cd "$stage" && find . -type f -o -type l) | sed 's|^\./||' | LC_ALL=C sort >"$work/installed"
(($(wc -l <"$work/installed") > 30)) || fail "only these were installed: $(cat "$work/installed")"
cat tools/packaging/debian/{*.install,*.manpages,not-installed} | while read -r pattern; do
  (cd "$stage" && compgen -G "$pattern") || fail "there is no $pattern"
done >"$work/unsorted"
LC_ALL=C sort "$work/unsorted" >"$work/packaged"
diff "$work/installed" "$work/packaged" || fail "installed (<) and in packages (>) are not the same"
grep -qx 'libdir=${prefix}/lib/multi' "$stage/usr/lib/multi/pkgconfig/attrcache.pc" || fail "libdir is wrong in attrcache.pc"
grep -qx 'prefix=/usr' "$stage/usr/lib/multi/pkgconfig/attrcache.pc" || fail "the prefix is wrong in attrcache.pc"

echo commands
bash "$here/commands.sh" "$work/source" || fail "commands.sh"
echo user
bash "$here/user.sh" || fail "user.sh"

# What packages test. (tools/release and debian/rules run all of them.)
configure -DBUILD_TESTING=ON || fail "$(cat "$work/log")"
cmake --build "$build" -j 2 --target run tour caching_example tasks >"$work/log" 2>&1 || fail "$(cat "$work/log")"
expect "100% tests passed, 0 tests failed out of 3" ctest --test-dir "$build" -E '^(unit|storms)$'

# The defaults, except for absolute folders, as some package managers give them, and for the two shared libraries that
# Debian's packages have: on processors with AVX2 the dynamic linker takes the one that uses AVX.
build=$work/release
[[ $(uname -m) == x86_64 ]] && hwcaps=ON || hwcaps=OFF
configure -DCMAKE_INSTALL_LIBDIR=/usr/lib64 -DATTRCACHE_HWCAPS=$hwcaps "${without_mpi[@]}" || fail "$(cat "$work/log")"
make "$build"
! grep -i 'warning' "$work/log" || fail "there were warnings"
DESTDIR=$work/lib64 cmake --install "$build" >/dev/null
installed=$work/lib64/usr
grep -qx 'libdir=${prefix}/lib64' "$installed/lib64/pkgconfig/attrcache.pc" || fail "libdir is wrong in attrcache.pc"
[[ ! -e $installed/lib/attrcache ]] || fail "the interposers were not switched off"
builds_with_cmake -Dattrcache_DIR="$installed/lib64/cmake/attrcache"
! configure -DCMAKE_INSTALL_LIBDIR=/elsewhere/lib || fail "a LIBDIR outside the prefix was accepted"
if [[ $hwcaps == ON ]]; then
  gcc "$here/platform.c" -I"$installed/include" -L"$installed/lib64" -lattrcache -Wl,-rpath,"$installed/lib64" -o "$work/platform"
  expect "a domain, success: x86-64: 16 bytes are read in two steps" qemu-x86_64 -cpu Nehalem "$work/platform"
  expect "a domain, success: x86-64: 16 bytes are read in one step" qemu-x86_64 -cpu max "$work/platform"
fi

# So that a C library can embed it, the library needs no runtime of C++ or of the compiler, runs nothing before main(), and
# exports nothing of an archive, even if all of that is linked.
for made in {.,"$build"}/libattrcache; do
  gcc -shared -Wl,--whole-archive "$made.a" -Wl,--no-whole-archive -Wl,-z,defs -lpthread -o "$work/embedding.so"
  [[ -z $(exported "$work/embedding.so") ]] || fail "$made.a exports $(exported "$work/embedding.so" | xargs)"
  ! readelf -SW "$made.a" | grep -E '\.(init_array|ctors|preinit_array|gcc_except_table)' ||
    fail "$made.a runs something before main(), or handles exceptions"
  for library in "$made.so.1" "$work/embedding.so"; do
    [[ $(needs "$library" | grep -v ld-linux) == libc.so.6 ]] || fail "$library needs $(needs "$library" | xargs)"
  done
done

# The headers of this machine's MPIs are not those of another's.
cmake -S "$work/source" -B "$work/cross" -DCMAKE_SYSTEM_NAME=Linux -DATTRCACHE_MPICH_INCLUDE="$work" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
grep -q '^-- No openmpi' "$work/log" || fail "it cross-compiles with this machine's mpi.h"
grep -q "^ATTRCACHE_MPICH_INCLUDE:[A-Z]*=$work$" "$work/cross/CMakeCache.txt" || fail "it doesn't take the mpi.h that it is told"

# Warnings are errors by the developers' preset alone.
cmake --preset developer -S "$work/source" -B "$work/developer" "${without_mpi[@]}" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
flags=CMakeFiles/attrcache_objects.dir/flags.make
grep -q -- -Werror "$work/developer/$flags" || fail "the preset lets warnings pass"
grep -q -- -Wall "$build/$flags" && ! grep -q -- -Werror "$build/$flags" || fail "warnings are errors by default"

# The preset's tests are those that Bazel finds by their names.
command make -C "$work/developer/tests" help | sed -nE 's#^\.\.\. ((alloc|fuzz|model|stress|unit)/.*_test)\.o$#\1#p' |
  LC_ALL=C sort >"$work/by_cmake"
(cd tests && ls {alloc,fuzz,stress}/*_test.cc model/{*_model,explorer/*}_test.cc unit/*/*_test.c*) | sed 's/\.cc*$//' |
  LC_ALL=C sort >"$work/by_bazel"
(($(wc -l <"$work/by_bazel") > 60)) || fail "only these tests: $(cat "$work/by_bazel")"
diff "$work/by_bazel" "$work/by_cmake" || fail "Bazel (<) and CMake (>) have different tests"

# A project that has these sources in a subfolder, and its own targets and files of the same common names; with clang,
# and one of the three interposers, which are alike.
mkdir "$work/project"
cp "$first" "$here/use.cc" "$work/project"
cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(runtime LANGUAGES C CXX)
add_library(objects OBJECT first.c)
target_link_libraries(objects attrcache::static)
add_subdirectory("$work/source" attrcache)
add_executable(shared use.cc)
target_compile_features(shared PRIVATE cxx_std_20)
target_link_libraries(shared attrcache::attrcache)
add_executable(static first.c)
target_link_libraries(static attrcache::static)
END
CC=clang CXX=clang++ cmake -S "$work/project" -B "$work/project/build" -DCMAKE_BUILD_TYPE=Debug -DATTRCACHE_{OPENMPI,MPICH}_INCLUDE=OFF >/dev/null
make "$work/project/build"
expect "works in C++" "$work/project/build/shared"
expect planned "$work/project/build/static"
! grep -rq -- "-I$work/source/lib " "$work/project/build/CMakeFiles" || fail "users see our internal headers"

echo "passed"
