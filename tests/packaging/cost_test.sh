#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The C++ API costs nothing over the C API, with either compiler. cost.cc has a pair of functions for each operation.
# The two gets must have the same instructions. Of the other operations, the C++ one must have no more, because the
# compilers arrange results differently; borrow may have one store more, by which the guard remembers its status. Then
# the instructions that are executed are counted, those of the library included: they must be as many.

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

# executed FUNCTION: prints the instructions per call, as the difference of two runs of different length.
executed() {
  local times count=()
  for times in 1000 2000; do
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work/run" "$1" "$times" 2>"$work/counted" ||
      fail "$1 does not work: $(cat "$work/counted")"
    count+=("$(sed -n 's/.*Collected : //p' "$work/counted")")
  done
  echo $(((count[1] - count[0]) / 1000))
}

# The functions are compiled separately, so that none is inlined into the loop.
g++ -std=c++20 -O2 -Wall -Wextra -Werror -Ilib/include -fno-inline-functions-called-once "$here/cost_run.cc" libattrcache.so.0 \
  -Wl,-rpath,"$root" -o "$work/run"
for operation in get get_status set delete borrow; do
  cxx=$(executed "cxx_$operation")
  capi=$(executed "capi_$operation")
  echo "$operation: $cxx instructions executed in C++, $capi in C"
  ((capi > 20)) || fail "nothing was counted"
  [[ $operation == borrow ]] && extra=1 || extra=0
  ((cxx <= capi + extra)) || fail "$operation executes more in C++ than in C"
done
echo "passed"
