#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The oldest and newest compilers installed compile what tools/amalgamate makes, by one command, with no option but
# -std=c++17 (or c++20), without a warning. As part of a C runtime it needs no C++ runtime and exports nothing.

source tests/packaging/lib.sh

tools/amalgamate "$work/drop" >/dev/null
cd "$work/drop"
for compiler in g++-11 g++ clang++-13 clang++; do
  command -v "$compiler" >/dev/null || continue
  for standard in c++20 c++17; do
    "$compiler" "-std=$standard" -fsanitize=thread -Wall -Wextra -Werror -c attrcache.cc
    "$compiler" "-std=$standard" -pedantic -Wall -Wextra -Werror -c attrcache.cc
  done
  # Compiled with exceptions and RTTI, it must be linked by the C++ compiler.
  gcc -std=c11 -I. -c "$first" -o use.o
  "$compiler" use.o attrcache.o -o use
  expect planned ./use
  echo "compiled by $("$compiler" --version | head -n 1)"
done

c++ -std=c++17 -O2 -fPIC -fno-exceptions -fno-rtti -c attrcache.cc
! nm -u attrcache.o | grep -E ' (_Z|__cxa|__gxx|_Unwind)' || fail "a C++ runtime is needed"
gcc use.o attrcache.o -lpthread -o use
expect planned ./use
echo 'int mine(void) { return 1; }' | gcc -x c -fPIC -c - -o mine.o
gcc -shared mine.o attrcache.o -lpthread -o libmine.so
[[ $(exported libmine.so) == mine ]] || fail "exported: $(exported libmine.so | xargs)"

# It is as fast as the library: get has as many instructions.
code() {
  objdump -d --no-show-raw-insn --disassemble=attrcache_get "$1" | sed -n 's/^ *[0-9a-f]*:\t\([a-z0-9]*\).*/\1/p'
}
if [[ $(uname -m) == x86_64 ]]; then
  (($(code attrcache.o | wc -l) <= $(code "$root/libattrcache.a" | wc -l) + 4)) ||
    fail "get has $(code attrcache.o | wc -l) instructions, and $(code "$root/libattrcache.a" | wc -l) in the library"
fi
echo "passed"
