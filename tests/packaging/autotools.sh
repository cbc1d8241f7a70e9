#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# An Autotools project finds an installed attrcache by attrcache.m4, with either library, and configure says what is missing.
# Part of cmake_test.sh.

source tests/packaging/lib.sh

prefix=$work/prefix
install_to "$prefix"
project=$work/project
mkdir "$project"
cp "$here/use.c" "$project"
cat >"$project/configure.ac" <<'END'
AC_INIT([user], [1.0])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CC
AM_PATH_ATTRCACHE([99.0.0], [AC_MSG_ERROR([99.0.0 was found])], [:])
AM_PATH_ATTRCACHE([1.0.0])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
cat >"$project/Makefile.am" <<'END'
bin_PROGRAMS = use
use_SOURCES = use.c
use_CFLAGS = $(ATTRCACHE_CFLAGS)
use_LDADD = $(ATTRCACHE_LIBS)
END
(cd "$project" && ACLOCAL_PATH="$prefix/share/aclocal" autoreconf -fi) >"$work/log" 2>&1 || fail "$(cat "$work/log")"
configure() { # OPTION...
  rm -rf "$work/build"
  mkdir "$work/build"
  (cd "$work/build" && "$project/configure" "$@") >"$work/log" 2>&1
}
build() {
  make -C "$work/build" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
}

configure "--with-attrcache=$prefix" || fail "$(cat "$work/log")"
build
expect "works in C" env LD_LIBRARY_PATH="$prefix/lib/multi" "$work/build/use"
[[ $(readelf -d "$work/build/use") == *NEEDED*attrcache* ]] || fail "the program doesn't need the shared library"

configure "--with-attrcache=$prefix" --enable-static-attrcache || fail "$(cat "$work/log")"
build
expect "works in C" "$work/build/use"
[[ $(readelf -d "$work/build/use") != *NEEDED*attrcache* ]] || fail "the program needs the shared library"

# By pkg-config.
export PKG_CONFIG_PATH=$prefix/lib/multi/pkgconfig
configure --enable-static-attrcache || fail "$(cat "$work/log")"
build
expect "works in C" "$work/build/use"
unset PKG_CONFIG_PATH

! configure "--with-attrcache=$work/elsewhere" || fail "it was found elsewhere"
grep -q 'attrcache was not found: say where it is' "$work/log" || fail "configure doesn't say so: $(cat "$work/log")"
echo "passed"
