#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The C++ API costs nothing over the C API, with either compiler. cost.cc has a pair of functions for each operation.
# The two gets must have the same instructions. Of the other operations, for which compilers arrange results differently,
# the one in C++ must have no more than the one in C, except that borrow may have one more: the store of the guard's
# status.

source tests/packaging/lib.sh

# Prints the instructions of a function without addresses. Calls and jumps are printed with their target's name.
code() { # OBJECT FUNCTION
  objdump -dr --no-show-raw-insn -M intel "$1" | awk -v f="<$2>:" '
    $2 == f { on = 1; start = $1; next }
    NF == 0 { on = 0 }
    on && /R_X86_64|R_AARCH64/ { print $NF; next }
    on { sub(/^ *[0-9a-f]+:[ \t]*/, ""); sub(/[0-9a-f]+ <[^+>]*/, "<"); sub(/#.*/, ""); gsub(/[ \t]+/, " "); print }' |
    grep -v '^nop\|^data16\|^xchg ax,ax\|^cs nop'
}

for compiler in g++ clang++; do
  "$compiler" -std=c++20 -O2 -Wall -Wextra -Werror -Ilib/include -c "$here/cost.cc" -o "$work/cost.o"
  for operation in get get_status set delete borrow; do
    code "$work/cost.o" "cxx_$operation" >"$work/cxx"
    code "$work/cost.o" "capi_$operation" >"$work/capi"
    lines=$(wc -l <"$work/capi")
    [[ $operation == borrow ]] && extra=1 || extra=0
    ((lines > 4)) || fail "no code of $operation: $(cat "$work/capi")"
    echo "$compiler, $operation: $(wc -l <"$work/cxx") lines of assembly in C++, $lines in C"
    if [[ $operation == get* ]]; then
      diff "$work/cxx" "$work/capi" || fail "$compiler: $operation is not the same in C++ (<) and C (>)"
    elif (($(wc -l <"$work/cxx") > lines + extra)); then
      diff "$work/cxx" "$work/capi"
      fail "$compiler: $operation is longer in C++ (<) than in C (>)"
    fi
  done
done
echo "passed"
