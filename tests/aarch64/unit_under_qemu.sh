#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Cross-compiles the library and its unit tests for AArch64, in one program with GoogleTest, and runs it under
# qemu-user. This shows that the library builds there and gives the same results. It does not test AArch64's weaker
# memory ordering, because under qemu the ordering is that of the host.

set -euo pipefail
compiler=aarch64-linux-gnu-g++
command -v "$compiler" qemu-aarch64 >/dev/null || {
  echo "aarch64: needs $compiler and qemu-aarch64; tools/setup installs them" >&2
  exit 1
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
gtest=/usr/src/googletest/googletest
flags=(-std=c++20 -Wall -Wextra -Werror -DATTRCACHE_TESTS_EMULATED -I. -Ilib -Ilib/include "-I$gtest/include")
sources=$(find -L lib -name '*.cc' -not -path 'lib/mpi/*')
# The tests of the C++ API's cost read this machine's code, so they are left out.
tests=$(find -L tests/unit -name '*_test.cc' -not -name 'hpp_*')

compile() { # SOURCE OPTIMIZATION
  "$compiler" "${flags[@]}" "$2" -c "$1" -o "$scratch/${1//\//_}.o"
}
export -f compile
export compiler scratch
"$compiler" -std=c++20 "-I$gtest" "-I$gtest/include" -c "$gtest/src/gtest-all.cc" -o "$scratch/gtest-all.o" &
"$compiler" -std=c++20 "-I$gtest/include" -c "$gtest/src/gtest_main.cc" -o "$scratch/gtest_main.o"
wait $!
# Most of the time goes into compiling, and of that into the tests, which need no optimization.
for source in $sources $tests; do
  case $source in lib/*) compile "$source" -O1 & ;; *) compile "$source" -O0 & ;; esac
  while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n; done
done
while (($(jobs -rp | wc -l) > 0)); do wait -n; done
"$compiler" -static -pthread "$scratch"/*.o -o "$scratch/unit_tests"
qemu-aarch64 "$scratch/unit_tests" --gtest_brief=1
