#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The binary interface must be the one in abi.txt: exported names with their versions, functions, layouts
# and values. Additions must be added to abi.txt. Any other change needs a new soname (CONTRIBUTING.md).
#
#   tests/packaging/abi_test.sh --update     writes abi.txt, in a source tree, after bazel build -c opt

if [[ ${1-} == --update ]]; then
  cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." || exit 1
fi
source tests/packaging/lib.sh
library=libattrcache.so.0
[[ -f $library ]] || library=bazel-bin/$library

{
  echo '#include "attrcache/attrcache.h"'
  sed -n 's/^ATTRCACHE_API [^;(]*\(attrcache_[a-z_]*\)(.*/__typeof__(\1)* f_\1;/p' lib/include/attrcache/attrcache.h
  echo 'int main(void) { return 0; }'
} >"$work/all.c"
gcc -g -fno-eliminate-unused-debug-types -fno-eliminate-unused-debug-symbols -Ilib/include "$work/all.c" -o "$work/all"

{
  echo "soname $(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')"
  exported "$library" | sed 's/^/exports /'
  gdb -nx -batch -ex "py HEADER = 'lib/include/attrcache/attrcache.h'" -x tests/packaging/abi.py "$work/all"
} >"$work/abi.txt"

if [[ ${1-} == --update ]]; then
  cp "$work/abi.txt" tests/packaging/abi.txt
  exit
fi
(($(grep -c '^function' "$work/abi.txt") == $(grep -c '^exports' "$work/abi.txt"))) ||
  fail "declared and exported are not as many: $(cat "$work/abi.txt")"
diff tests/packaging/abi.txt "$work/abi.txt" || fail "the interface that was (<) and is (>) differ"
echo "passed"
