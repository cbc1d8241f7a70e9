#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Checks the Debian packages without building them, which would need more than this repository's tests: their symbols are
# the library's, and CHANGELOG.md begins with the library's version.
# (cmake_test.sh checks that each installed file is in one package.)

source tests/packaging/lib.sh
debian=tools/packaging/debian

# The soname is in the package's name, and the exported names, with their versions, are in its file of symbols.
soname=$(readelf -d "$root"/libattrcache.so.? | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
package=libattrcache${soname##*.}
[[ $(head -n 1 "$debian/$package.symbols") == "$soname $package "* ]] || fail "no $debian/$package.symbols for $soname"
[[ -f $debian/$package.install ]] || fail "no $debian/$package.install"
grep -qx "Package: $package" "$debian/control" || fail "control has no $package"
grep -q "^Depends: $package (= " "$debian/control" || fail "no package depends on $package"
[[ -n $(exported "$root/$soname") ]] || fail "nothing is exported"
versioned() { # as dpkg-gensymbols writes them; the version itself is a symbol
  nm -D --defined-only "$1" | awk '$2 ~ /^[A-Z]$/ {sub("@@", "@", $3); print $3}' | sed 's/^[^@]*$/&@&/'
}
diff <(versioned "$root/$soname" | LC_ALL=C sort) \
  <(sed -n 's/^ \([^ ]*\) .*/\1/p' "$debian/$package.symbols" | LC_ALL=C sort) ||
  fail "exported (<) and in $package.symbols (>) are not the same"

version=$(tools/version)
[[ $(grep -m 1 '^## ' CHANGELOG.md) =~ ^"## $version "\((unreleased|[0-9]{4}-[0-9]{2}-[0-9]{2})\)$ ]] ||
  fail "CHANGELOG.md doesn't begin with $version"

! tools/package >"$work/log" 2>&1 || fail "it ran without a kind of packages"
! tools/package rpm >"$work/log" 2>&1 || fail "it accepted rpm"
expect "unknown kind of packages 'rpm'" cat "$work/log"
expect "usage: tools/package deb" tools/package --help
echo "passed"
