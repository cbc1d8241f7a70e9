# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# AM_PATH_ATTRCACHE([MINIMUM-VERSION], [ACTION-IF-FOUND], [ACTION-IF-NOT-FOUND])
#
# Finds attrcache for an Autotools project, and sets and substitutes (AC_SUBST) ATTRCACHE_CFLAGS and ATTRCACHE_LIBS.
#
#   --with-attrcache=DIR     where it is installed; by default, configure tries the compiler's own paths and pkg-config
#   --enable-static-attrcache  links the static library, even if the shared one is there
#
# Without ACTION-IF-NOT-FOUND, configure stops if attrcache isn't found.
AC_DEFUN([AM_PATH_ATTRCACHE], [
  AC_REQUIRE([AC_PROG_CC])
  AC_ARG_WITH([attrcache], [AS_HELP_STRING([--with-attrcache=DIR], [where attrcache is installed])],
    [], [with_attrcache=])
  AC_ARG_ENABLE([static-attrcache],
    [AS_HELP_STRING([--enable-static-attrcache], [link the static attrcache])], [], [enable_static_attrcache=no])
  ATTRCACHE_CFLAGS=
  ATTRCACHE_LIBS=-lattrcache
  attrcache_package=attrcache
  AS_IF([test "x$enable_static_attrcache" = xyes],
    [ATTRCACHE_LIBS="-Wl,-Bstatic -lattrcache -Wl,-Bdynamic -pthread" attrcache_package=attrcache-static])
  AS_IF([test "x$with_attrcache" != x && test "x$with_attrcache" != xyes], [
      ATTRCACHE_CFLAGS="-I$with_attrcache/include"
      attrcache_libdir="$with_attrcache/lib"
      for attrcache_dir in "$with_attrcache"/lib/*/libattrcache.a "$with_attrcache"/lib64/libattrcache.a; do
        AS_IF([test -f "$attrcache_dir"], [attrcache_libdir=`dirname "$attrcache_dir"`])
      done
      AS_IF([test "x$enable_static_attrcache" = xyes], [ATTRCACHE_LIBS="$attrcache_libdir/libattrcache.a -pthread"],
        [ATTRCACHE_LIBS="-L$attrcache_libdir -lattrcache"])
    ], [
      AC_PATH_PROG([PKG_CONFIG], [pkg-config])
      AS_IF([test -n "$PKG_CONFIG" && "$PKG_CONFIG" --exists $attrcache_package 2>/dev/null], [
        ATTRCACHE_CFLAGS=`"$PKG_CONFIG" --cflags $attrcache_package`
        ATTRCACHE_LIBS=`"$PKG_CONFIG" --libs $attrcache_package`])
    ])
  AC_MSG_CHECKING([for attrcache m4_ifval([$1], [>= $1])])
  attrcache_saved_cflags=$CFLAGS attrcache_saved_libs=$LIBS
  CFLAGS="$CFLAGS $ATTRCACHE_CFLAGS" LIBS="$ATTRCACHE_LIBS $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <attrcache/attrcache.h>
#define NUMBER(major, minor, patch) (10000 * (major) + 100 * (minor) + (patch))
]m4_ifval([$1], [[#if ATTRCACHE_VERSION < NUMBER(]m4_translit([$1], [.], [,])[)
#error "too old"
#endif]])], [[return attrcache_version() == 0;]])],
    [attrcache_found=yes], [attrcache_found=no])
  CFLAGS=$attrcache_saved_cflags LIBS=$attrcache_saved_libs
  AC_MSG_RESULT([$attrcache_found])
  AC_SUBST([ATTRCACHE_CFLAGS])
  AC_SUBST([ATTRCACHE_LIBS])
  AS_IF([test $attrcache_found = yes], [m4_default([$2], [:])],
    [m4_default([$3], [AC_MSG_ERROR([attrcache was not found: say where it is by --with-attrcache=DIR])])])
])
