#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Each public header compiles by itself and without a warning: in the oldest standard that lib/include/README.md names and
# in the newest, with both compilers, and with the warnings that strict projects switch on. In earlier standards,
# attrcache.hpp fails with a message that says what it needs.

source tests/packaging/lib.sh

warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror)
compile() { # COMPILER LANGUAGE STANDARD OPTION... <SOURCE
  "$1" -x "$2" "-std=$3" "${warnings[@]}" "${@:4}" -Ilib/include -fsyntax-only - 2>"$work/log"
}
works() {
  compile "$@" || fail "$*: $(cat "$work/log")"
}

# Uses each macro, because the compiler checks its contents only then.
cat >"$work/use.h" <<'END'
#include "attrcache/attrcache.h"
#include "attrcache/attrcache.h"
attrcache_table table = ATTRCACHE_TABLE_INIT;
attrcache_callbacks callbacks = {.size = sizeof callbacks};
attrcache_callback* known[] = {ATTRCACHE_DUP_FN, ATTRCACHE_NULL_COPY_FN, ATTRCACHE_NULL_DELETE_FN};
int values[] = {ATTRCACHE_VERSION, ATTRCACHE_KEYVAL_INVALID, ATTRCACHE_KEYVAL_MIN, ATTRCACHE_KEYVAL_MAX};
END
for compiler in gcc clang; do
  for standard in c11 c2x; do
    works "$compiler" c "$standard" -Wstrict-prototypes <"$work/use.h"
    works "$compiler" c "$standard" -Wstrict-prototypes <<<'#include "attrcache/attrcache_inline.h"'
  done
done
# The example on top of attrcache.hpp, in a function.
{
  echo '#include "attrcache/attrcache.hpp"'
  echo 'struct Cache { void use() {} };'
  sed -n '/^#/q; s|^//   ||p' lib/include/attrcache/attrcache.hpp | sed '1a attrcache::Status example(Session& session) {'
  echo '}'
} >"$work/example.cc"
grep -q get_or_emplace "$work/example.cc" || fail "attrcache.hpp has no example"
for compiler in g++ clang++; do
  for standard in c++11 c++17 c++2b; do
    sed 's/= {.size.*}/= {}/' "$work/use.h" |
      works "$compiler" c++ "$standard" -Wold-style-cast -Wzero-as-null-pointer-constant
  done
  for standard in c++20 c++2b; do
    works "$compiler" c++ "$standard" -Wold-style-cast -Wnon-virtual-dtor <"$here/cost.cc"
    works "$compiler" c++ "$standard" <"$work/example.cc"
  done
  ! compile "$compiler" c++ c++17 <"$here/cost.cc" || fail "attrcache.hpp compiles in C++17"
  grep -q 'attrcache.hpp needs C++20' "$work/log" || fail "the error doesn't name C++20: $(cat "$work/log")"
  for mpi in openmpi mpich; do
    readarray -t folders < <("mpicc.$mpi" -show | tr ' ' '\n' | sed -n 's/^-I/-isystem/p')
    works "$compiler" c++ c++17 "${folders[@]}" <<<'#include "attrcache/mpi2.hpp"'
    works "$compiler" c++ c++17 "${folders[@]}" <<<$'#include <mpi.h>\n#include "attrcache/mpix.h"'
  done
done

# The interposers use attributes as every embedder does, by the public headers.
! grep -rnE '#include "(table|readers|epoch|domain|c_api)/' lib/mpi || fail "the interposers include what is inside the library"
echo "passed"
