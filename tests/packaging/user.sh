#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Uses an installation as users do: builds C programs with pkg-config and C++ programs with CMake, runs the tools and MPI
# programs, and removes it. Part of cmake_test.sh, which exports where it has built: $build.

source tests/packaging/lib.sh
prefix=$work/prefix

cmake --install "$build" --prefix "$prefix" >/dev/null
[[ -z $(find "$prefix" ! -type l ! -perm -444) ]] || fail "unreadable: $(find "$prefix" ! -perm -444)"
version=$(sed -n 's/^Version: //p' "$prefix/lib/multi/pkgconfig/attrcache.pc")
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "the version is '$version'"

# pkg-config for a C program. A C++ compiler accepts the header, too.
export PKG_CONFIG_PATH=$prefix/lib/multi/pkgconfig
readarray -t shared < <(pkg-config --cflags --libs attrcache | xargs -n 1)
gcc -std=c11 -pedantic -Wall -Wextra -Werror "$first" "${shared[@]}" -o "$work/shared"
expect planned env LD_LIBRARY_PATH="$prefix/lib/multi" "$work/shared"
[[ $(readelf -d "$work/shared") == *NEEDED*'[libattrcache.so.'[0-9]']'* ]] || fail "the program needs no soname"
# The static library beside the shared one.
readarray -t static < <(pkg-config --cflags --libs attrcache-static | xargs -n 1)
gcc -std=c11 "$first" "${static[@]}" -o "$work/static"
expect planned "$work/static"
[[ $(readelf -d "$work/static") != *NEEDED*attrcache* ]] || fail "the program needs the shared library"
# A fully static program.
readarray -t static < <(pkg-config --static --cflags --libs attrcache | xargs -n 1)
gcc -std=c11 "$first" "${static[@]}" -static -o "$work/wholly_static"
expect planned "$work/wholly_static"

# CMake finds the tree even after it was moved: only attrcache.pc contains its path.
mv "$prefix" "$work/moved"
prefix=$work/moved
user() { # SOURCES OPTION...
  rm -rf "$work/build"
  cmake -S "$1" -B "$work/build" -Dattrcache_DIR="$prefix/lib/multi/cmake/attrcache" "${@:2}" >"$work/log" 2>&1
}
builds_with_cmake -Dattrcache_DIR="$prefix/lib/multi/cmake/attrcache" -DWANTED="${version%.*}"
! user "$here" -DWANTED=99.0 || fail "99.0 was found"
# A project in C only; and a request for components, which the package doesn't have.
mkdir "$work/in_c"
sed '/use\.cc/d; /(shared\|(static/d; s/C CXX/C/; s/attrcache::static/${LIBRARY}/; s|\.\.|'"$root"'/tests|' "$here/CMakeLists.txt" >"$work/in_c/CMakeLists.txt"
for library in static attrcache; do
  user "$work/in_c" -DLIBRARY="attrcache::$library" || fail "$(cat "$work/log")"
  cmake --build "$work/build" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
  expect planned "$work/build/in_c"
done
! user "$work/in_c" -DWANTED="COMPONENTS;shared" || fail "a component was found"

# attrcache-run finds the interposers, and attrcache-check-mpi its files.
serves "$prefix/bin/attrcache-run"
expect "$prefix/lib/attrcache/libattrcache_mpi_abi.so" "$prefix/bin/attrcache-run" --mpi mpi_abi --print
expect overwrite-comm "$prefix/bin/attrcache-check-mpi" --list

# The modulefiles, if Lmod is installed.
lmod=/usr/share/lmod/lmod/libexec/lmod
for file in "$prefix"/share/attrcache/modulefiles/attrcache/*; do
  [ -x $lmod ] || break
  rm -rf "$work/modules" && mkdir -p "$work/modules/attrcache" && cp "$file" "$work/modules/attrcache"
  (eval "$(MODULEPATH=$work/modules $lmod bash load attrcache 2>"$work/log")" &&
    [ "$(command -v attrcache-run)" = "$prefix/bin/attrcache-run" ]) || fail "$file: $(cat "$work/log")"
done

# A prefix with unusual characters, and removing what was installed, as README.md says.
odd="$work/a b&c|d"
cmake --install "$build" --prefix "$odd" >/dev/null
for package in attrcache attrcache-static; do
  readarray -t flags < <(PKG_CONFIG_PATH="$odd/lib/multi/pkgconfig" pkg-config --cflags --libs $package | xargs -n 1)
  [[ " ${flags[*]} " == *" -I$odd/include "* ]] || fail "pkg-config: ${flags[*]}"
  gcc -std=c11 "$first" "${flags[@]}" -o "$work/odd" || fail "pkg-config: ${flags[*]}"
  expect planned env LD_LIBRARY_PATH="$odd/lib/multi" "$work/odd"
done
xargs -d '\n' rm <"$build/install_manifest.txt"
[[ -z $(find "$odd" ! -type d) ]] || fail "left: $(find "$odd" ! -type d)"
echo "passed"
