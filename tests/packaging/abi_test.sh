#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The binary interface that attrcache.h declares is the one in abi.xml, or more: abidiff finds no function, type, member or
# value that was removed or changed. (deb_test.sh compares the names that the library exports.)
#
#   tests/packaging/abi_test.sh --update     writes abi.xml, at a release, and when a struct with a `size` has grown

if [[ ${1-} == --update ]]; then
  cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." || exit 1
fi
source tests/packaging/lib.sh

# A library of C functions that do nothing: what they are called with is all that counts. abidiff looks at what exported
# functions and variables lead to, so each enum without a name, of result codes for example, is that of a variable.
build() { # HEADER LIBRARY
  {
    awk '/^enum {/ {sub("enum", "enum attrcache_constants_" ++n)} {print}
      END {for (i = 1; i <= n; ++i) print "enum attrcache_constants_" i " attrcache_of_" i ";"}' "$1"
    sed -n '/^ATTRCACHE_API/{:more; /;$/!{N; b more}; s/;$/ { __builtin_trap(); }/p}' "$1"
  } >"$work/stub.c"
  gcc -g -shared -fPIC "$work/stub.c" -o "$2" -Wl,-soname,"$(sed -n 's/.*name = "\(lib.*\)",/\1/p' BUILD)"
}
compare() { # LIBRARY
  abidiff --fail-no-debug-info --no-added-syms "$here/abi.xml" "$1" >"$work/log" 2>&1
}

header=lib/include/attrcache/attrcache.h
build "$header" "$work/now.so"
if [[ ${1-} == --update ]]; then
  abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed "$work/now.so" |
    sed "s|path='[^']*'||" >tests/packaging/abi.xml
  exit
fi
compare "$work/now.so" || fail "the interface has changed (CONTRIBUTING.md says what may): $(cat "$work/log")"

# Changes that break programs that are there, which must be found; and some that break none.
tried=0
while IFS='|' read -r breaks change; do
  sed "$change" "$header" >"$work/changed.h"
  ! cmp -s "$header" "$work/changed.h" || fail "nothing is changed by: $change"
  build "$work/changed.h" "$work/changed.so"
  [[ $(compare "$work/changed.so" && echo no || echo yes) == "$breaks" ]] ||
    fail "breaks programs: $breaks, but not to abidiff: $change $(cat "$work/log")"
  tried=$((tried + 1))
done <<'TEXT'
yes|s/^ATTRCACHE_API int attrcache_version(void)/static inline int attrcache_version_(void)/
yes|s/^ATTRCACHE_API int attrcache_give_back(/ATTRCACHE_API void attrcache_give_back(/
yes|/^typedef struct attrcache_kind_options {/,/^}/s/  const char\* name;/  int added; &/
yes|/^typedef struct attrcache_borrowed {/,/^}/s/opaque\[7\]/opaque[8]/
yes|s/ATTRCACHE_ERR_NULL = 2,/ATTRCACHE_ERR_NULL = 18,/
yes|s/ATTRCACHE_DRAIN = 1/ATTRCACHE_DRAIN = 3/
no|s/^ATTRCACHE_API int attrcache_version(void).*/&\nATTRCACHE_API int attrcache_added(void);/
no|s/^  ATTRCACHE_DRAIN_FINALLY = 2/&, ATTRCACHE_ADDED = 4/
TEXT
echo "passed: the interface is as it was; $tried changes of it are judged rightly"
