#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Programs that embed the static library need no C++ runtime, run nothing before main(), and export nothing of it.

source tests/packaging/lib.sh

# All that the archive needs from outside: functions of C, POSIX and Linux, and of the compiler's libgcc.a.
nm -u libattrcache.a | sed -n 's/^ *[Uw] //p' | sort -u >"$work/needed"
nm --defined-only libattrcache.a | awk 'NF == 3 {print $3}' | sort -u >"$work/defined"
comm -23 "$work/needed" "$work/defined" >"$work/outside"
echo "needed from outside: $(xargs <"$work/outside")"
grep -qx malloc "$work/outside" || fail "nothing was listed"
! grep -E '^(_Z|__cxa|__gxx|__gcc_personality|_Unwind|__dynamic_cast)' "$work/outside" || fail "a C++ runtime is needed"
! readelf -SW libattrcache.a | grep -E '\.(init_array|ctors|preinit_array|gcc_except_table)' ||
  fail "something runs before main(), or handles exceptions"

gcc -std=c11 -Wall -Wextra -Werror -Ilib/include "$first" libattrcache.a -lpthread -o "$work/program"
expect planned "$work/program"
[[ $(needs "$work/program") == libc.so.* ]] || fail "the program needs $(needs "$work/program" | xargs)"

# A runtime's shared library with all of attrcache inside, built without -fvisibility=hidden.
cat >"$work/runtime.c" <<'END_OF_RUNTIME'
#include "attrcache/attrcache.h"
int runtime_init(attrcache_domain** domain) { return attrcache_domain_create(0, domain); }
END_OF_RUNTIME
gcc -std=c11 -Wall -Wextra -Werror -fPIC -shared -Ilib/include "$work/runtime.c" \
  -Wl,--whole-archive libattrcache.a -Wl,--no-whole-archive -Wl,-z,defs -lpthread -o "$work/libruntime.so"
[[ $(exported "$work/libruntime.so") == runtime_init ]] || fail "exported: $(exported "$work/libruntime.so" | xargs)"
[[ $(needs "$work/libruntime.so") == libc.so.* ]] || fail "the library needs $(needs "$work/libruntime.so" | xargs)"
echo "passed"
