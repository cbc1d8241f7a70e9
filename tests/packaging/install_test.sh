#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Installs into an empty prefix with tools/install. Then does what users do: builds a C program with
# pkg-config and a C++ program with CMake, and runs man and the launcher.

source tests/packaging/lib.sh
prefix=$work/prefix

# Every user may read the installed files, whoever installed them.
(umask 077 && tools/install --prefix "$prefix" --libdir lib/multi --built "$root" >/dev/null)
[[ -z $(find "$prefix" ! -type l ! -perm -444) ]] || fail "unreadable: $(find "$prefix" ! -perm -444)"
[[ -z $(find "$prefix" -type d ! -perm -555) ]] || fail "folders are closed"
version=$(sed -n 's/^Version: //p' "$prefix/lib/multi/pkgconfig/attrcache.pc")
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "the version is '$version'"

# pkg-config for a C program. A C++ compiler accepts the header, too.
export PKG_CONFIG_PATH=$prefix/lib/multi/pkgconfig
readarray -t shared < <(pkg-config --cflags --libs attrcache | xargs -n 1)
gcc -std=c11 -pedantic -Wall -Wextra -Werror "$here/use.c" "${shared[@]}" -o "$work/shared"
expect "works in C" env LD_LIBRARY_PATH="$prefix/lib/multi" "$work/shared"
[[ $(readelf -d "$work/shared") == *NEEDED*'[libattrcache.so.'[0-9]']'* ]] || fail "no soname is needed"
# The static library beside the shared one.
readarray -t static < <(pkg-config --cflags --libs attrcache-static | xargs -n 1)
gcc -std=c11 "$here/use.c" "${static[@]}" -o "$work/static"
expect "works in C" "$work/static"
[[ $(readelf -d "$work/static") != *NEEDED*attrcache* ]] || fail "the shared library is needed"
# A fully static program.
readarray -t static < <(pkg-config --static --cflags --libs attrcache | xargs -n 1)
gcc -std=c11 "$here/use.c" "${static[@]}" -static -o "$work/wholly_static"
expect "works in C" "$work/wholly_static"

# CMake finds the tree even after it was moved: only attrcache.pc contains its path.
mv "$prefix" "$work/moved"
prefix=$work/moved
cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" -DWANTED="${version%.*}" \
  -Dattrcache_DIR="$prefix/lib/multi/cmake/attrcache" >/dev/null
cmake --build "$work/build" >/dev/null
expect "works in C++" "$work/build/shared"
expect "works in C++" "$work/build/static"
expect "works in C" "$work/build/in_c"
! cmake -S "$here" -B "$work/too_new" -DCMAKE_PREFIX_PATH="$prefix" -DWANTED=99.0 \
  -Dattrcache_DIR="$prefix/lib/multi/cmake/attrcache" >/dev/null 2>&1 || fail "99.0 was found"
# A project in C only; and a request for components, which the package doesn't have.
cat >"$work/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES C)
find_package(attrcache REQUIRED ${WANTED})
add_executable(shared use.c)
target_link_libraries(shared attrcache::attrcache)
add_executable(static use.c)
target_link_libraries(static attrcache::static)
END
cp "$here/use.c" "$work"
cmake -S "$work" -B "$work/in_c" -Dattrcache_DIR="$prefix/lib/multi/cmake/attrcache" >/dev/null
cmake --build "$work/in_c" >/dev/null
expect "works in C" "$work/in_c/shared"
expect "works in C" "$work/in_c/static"
rm -r "$work/in_c"
! cmake -S "$work" -B "$work/in_c" -Dattrcache_DIR="$prefix/lib/multi/cmake/attrcache" \
  -DWANTED="COMPONENTS;shared" >"$work/log" 2>&1 || fail "a component was found"
grep -q 'has no component shared' "$work/log" || fail "no word of components: $(cat "$work/log")"
rm "$work/use.c" "$work/CMakeLists.txt"

# The launcher finds the interposers.
for mpi in openmpi mpich mpi_abi; do
  expect "$prefix/lib/attrcache/libattrcache_$mpi.so" "$prefix/bin/attrcache-run" --mpi "$mpi" --print
done

# The checks of MPIs find theirs.
expect overwrite-comm "$prefix/bin/attrcache-check-mpi" --list

# Nothing else was installed.
(cd "$prefix" && find . -type f -o -type l) | sed 's|^\./||' | grep -v '^share/man/man3/' |
  LC_ALL=C sort >"$work/there"
diff - "$work/there" <<END || fail "installed (>) is not what should be (<)"
bin/attrcache-check-mpi
bin/attrcache-run
include/attrcache/attrcache.h
include/attrcache/attrcache.hpp
include/attrcache/attrcache_inline.h
include/attrcache/mpi2.hpp
lib/attrcache/libattrcache_mpi_abi.so
lib/attrcache/libattrcache_mpich.so
lib/attrcache/libattrcache_openmpi.so
lib/multi/cmake/attrcache/attrcache-config-version.cmake
lib/multi/cmake/attrcache/attrcache-config.cmake
lib/multi/libattrcache.a
lib/multi/libattrcache.so
lib/multi/libattrcache.so.0
lib/multi/libattrcache.so.$version
lib/multi/pkgconfig/attrcache-static.pc
lib/multi/pkgconfig/attrcache.pc
share/aclocal/attrcache.m4
share/attrcache/attrcache_gdb.py
$(cd tools && find conformance -name '*.py' -o -path '*/checks/*' | sed 's|^|share/attrcache/|' | LC_ALL=C sort)
share/attrcache/installed-files
share/attrcache/report/comparing.py
share/attrcache/report/dataset.py
share/attrcache/report/documents.py
share/attrcache/report/page.py
share/attrcache/report/page/changes.js
share/attrcache/report/page/charts.js
share/attrcache/report/page/drawing.js
share/attrcache/report/page/events.js
share/attrcache/report/page/findings.js
share/attrcache/report/page/format.js
share/attrcache/report/page/main.js
share/attrcache/report/page/ranks.js
share/attrcache/report/page/style.css
share/attrcache/report/page/table.js
share/attrcache/report/page/template.html
share/attrcache/report/page/timeline.js
share/attrcache/report/page/users.js
share/attrcache/report/page/zooming.js
share/attrcache/report/places.py
share/attrcache/report/reading.py
share/attrcache/report/report.py
share/attrcache/report/spread.py
share/attrcache/report/supervising.py
share/attrcache/report/text.py
share/attrcache/report/third_party/d3/LICENSE
share/attrcache/report/third_party/d3/README.md
share/attrcache/report/third_party/d3/d3.min.js
share/attrcache/report/timeline.py
share/attrcache/report/words.py
$(for f in CHANGELOG.md LICENSE-APACHE LICENSE-MIT README.md; do [[ ! -f $f ]] || echo "share/doc/attrcache/$f"; done)
share/man/man1/attrcache-check-mpi.1
share/man/man1/attrcache-run.1
share/man/man7/attrcache.7
END

# Installs over an older version that had more files, and uninstalls. Files of others stay.
touch "$prefix/lib/attrcache/old.so" "$prefix/share/attrcache/mine"
echo lib/attrcache/old.so >>"$prefix/share/attrcache/installed-files"
LC_ALL=C sort -o "$prefix/share/attrcache/installed-files"{,}
tools/install --prefix "$prefix/" --built "$root" >/dev/null
[[ ! -e $prefix/lib/multi && ! -e $prefix/lib/attrcache/old.so ]] || fail "old files are still there"
expect "works in C" env LD_LIBRARY_PATH="$prefix/lib" "$work/shared"
(cd "$prefix" && find . -type f -o -type l) | sed 's|^\./||' | grep -vx share/attrcache/mine | LC_ALL=C sort |
  diff - "$prefix/share/attrcache/installed-files" || fail "there (<) and in the list (>) are not the same"
tools/install --prefix "$prefix" --uninstall >/dev/null
[[ $(cd "$prefix" && find . -type f -o -type l) == ./share/attrcache/mine ]] || fail "left: $(find "$prefix")"
! tools/install --prefix "$prefix" --uninstall 2>/dev/null || fail "nothing was taken away again"

# A prefix with unusual characters.
odd="$work/a b&c|d\\e"
tools/install --prefix "$odd" --built "$root" --without-mpi >/dev/null
readarray -t flags < <(PKG_CONFIG_PATH="$odd/lib/pkgconfig" pkg-config --cflags --libs attrcache | xargs -n 1)
[[ " ${flags[*]} " == *" -I$odd/include "* ]] || fail "pkg-config: ${flags[*]}"
gcc -std=c11 "$here/use.c" "${flags[@]}" -o "$work/shared"
expect "works in C" env LD_LIBRARY_PATH="$odd/lib" "$work/shared"

# DESTDIR, with which packagers install into a staging folder.
DESTDIR=$work/stage tools/install --prefix /usr --built "$root" --without-mpi >/dev/null
[[ -f $work/stage/usr/lib/libattrcache.so ]] || fail "DESTDIR was ignored"
[[ ! -e $work/stage/usr/share/attrcache/installed-files ]] || fail "a package has a list of its own"
[[ ! -e $work/stage/usr/lib/attrcache ]] || fail "--without-mpi was ignored"
grep -qx 'prefix=/usr' "$work/stage/usr/lib/pkgconfig/attrcache.pc" || fail "DESTDIR got into attrcache.pc"
! tools/install --prefix relative --built "$root" 2>/dev/null || fail "a relative prefix was taken"
for libdir in "" /lib ../lib; do
  ! tools/install --prefix "$odd" --libdir "$libdir" --built "$root" 2>/dev/null || fail "--libdir '$libdir' was taken"
done
echo "passed"
