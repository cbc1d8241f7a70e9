#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# attrcache.h keeps the binary interface of released.h, or adds to it: abidiff finds no function, type, member or value
# that was removed or changed. (deb_test.sh compares the names that the library exports.)
#
# What the header compiles into its users is compared, too: macros and inline functions must be those of released.h.
#
#   tests/packaging/abi_test.sh --update     writes released.h, at a release, and when a struct with a `size` has grown

if [[ ${1-} == --update ]]; then
  cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." || exit 1
fi
source tests/packaging/lib.sh
header=lib/include/attrcache/attrcache.h
released=tests/packaging/released.h

# What is compiled into users: the macros that have a value, but the version's, and the inline functions.
macros() { # HEADER
  gcc -E -dM "$1" | grep -E '^#define ATTRCACHE_' | grep -vE 'ATTRCACHE_(VERSION|ATTRCACHE_H_|API|NOEXCEPT|ENUM_BASE|SIZE)' | sort
}
inlined() { # HEADER
  gcc -E -P "$1" | tr -d ' \n' | grep -oE 'staticinlineint[^}]*}' | sort
}

if [[ ${1-} == --update ]]; then
  {
    echo '// SPDX-License-Identifier: Apache-2.0 OR MIT'
    echo "// attrcache.h as it was released, without comments and macros. Written by abi_test.sh --update."
    echo
    printf '%s\n' '#include <stddef.h>' '#include <stdint.h>' '#define ATTRCACHE_API'
    sed '/^#include/d; s/^ATTRCACHE_API/EXPORTED/' "$header" | gcc -E -P -x c - | sed 's/^EXPORTED/ATTRCACHE_API/'
    macros "$header"
  } >"$work/released.h"
  clang-format --style=file <"$work/released.h" >"$released"
  exit
fi

# A library of C functions that do nothing: only their signatures count. abidiff compares the types that exported
# functions and variables use, so each unnamed enum, such as the result codes, becomes the type of a variable.
build() { # HEADER LIBRARY
  {
    awk '/^enum {/ {sub("enum", "enum attrcache_constants_" ++n)} {print}
      END {for (i = 1; i <= n; ++i) print "enum attrcache_constants_" i " attrcache_of_" i ";"}' "$1"
    sed -n '/^ATTRCACHE_API/{:more; /;$/!{N; b more}; s/;$/ { __builtin_trap(); }/p}' "$1"
  } >"$work/stub.c"
  gcc -g -shared -fPIC "$work/stub.c" -o "$2" -Wl,-soname,libattrcache.so
}
compare() { # LIBRARY
  abidiff --fail-no-debug-info --no-added-syms "$work/released.so" "$1" >"$work/log" 2>&1
}

build "$released" "$work/released.so"
build "$header" "$work/now.so"
compare "$work/now.so" || fail "the interface has changed (CONTRIBUTING.md says what may): $(cat "$work/log")"

for part in macros inlined; do
  lost=$(comm -23 <("$part" "$released") <("$part" "$header"))
  [[ -z $lost ]] || fail "what programs have compiled into them has changed: $lost"
done

# Changes that break existing programs, each of which must be found, and some that don't.
tried=0
while IFS='|' read -r breaks change; do
  sed "$change" "$header" >"$work/changed.h"
  ! cmp -s "$header" "$work/changed.h" || fail "nothing is changed by: $change"
  build "$work/changed.h" "$work/changed.so"
  [[ $({ compare "$work/changed.so" && [[ -z $(comm -23 <(macros "$header") <(macros "$work/changed.h"))$(
    comm -23 <(inlined "$header") <(inlined "$work/changed.h")) ]]; } && echo no || echo yes) == "$breaks" ]] ||
    fail "breaks programs: $breaks, and the verdict is the opposite: $change $(cat "$work/log")"
  tried=$((tried + 1))
done <<'TEXT'
yes|s/^ATTRCACHE_API int attrcache_version(void)/static inline int attrcache_version_(void)/
yes|s/^ATTRCACHE_API int attrcache_give_back(/ATTRCACHE_API void attrcache_give_back(/
yes|/^typedef struct attrcache_kind_options {/,/^}/s/  const char\* name;/  int added; &/
yes|/^typedef struct attrcache_borrowed {/,/^}/s/opaque\[5\]/opaque[6]/
yes|s/ATTRCACHE_ERR_NULL = -1,/ATTRCACHE_ERR_NULL = -19,/
yes|s/^typedef void attrcache_deleted_fn(void\* context, int/typedef void attrcache_deleted_fn(void* context, long/
yes|s/^  int fortran_false;/  int64_t fortran_false;/
yes|s/  ATTRCACHE_TELL = 1,/  ATTRCACHE_TELL = 4,/
yes|s/ATTRCACHE_DRAIN = 1/ATTRCACHE_DRAIN = 3/
yes|s/^#define ATTRCACHE_KEYVAL_MIN .*/#define ATTRCACHE_KEYVAL_MIN 0x20000000/
yes|s/^static inline int attrcache_table_is_empty(/static inline int attrcache_table_is_bare(/
yes|s/(&table->opaque\[1\], /(\&table->opaque[2], /
no|s/^#define ATTRCACHE_KEYVAL_MIN .*/&\n#define ATTRCACHE_ADDED 1/
no|s/^ATTRCACHE_API int attrcache_version(void).*/&\nATTRCACHE_API int attrcache_added(void);/
no|s/^  ATTRCACHE_DRAIN_FINALLY = 2/&, ATTRCACHE_ADDED = 4/
TEXT
echo "passed: the interface is compatible; $tried changes of it are judged rightly"
