#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# On an x86-64 processor without AVX, as qemu emulates it, making a domain fails with an error, unless the library was built
# for such processors.

source tests/packaging/lib.sh

[[ $(uname -m) == x86_64 ]] || { echo "not x86-64: nothing to test"; exit 0; }
gcc -std=c11 -Wall -Werror -Ilib/include "$here/platform.c" libattrcache.a -pthread -static -o "$work/domain"
for processor in Nehalem Conroe; do
  expect "no domain, this processor" qemu-x86_64 -cpu "$processor" "$work/domain"
done
for processor in SandyBridge max; do
  expect "a domain, success" qemu-x86_64 -cpu "$processor" "$work/domain"
done

# A build for such processors runs on all but the oldest, which have no exchange of 16 bytes.
tools/amalgamate "$work/drop" >/dev/null
g++ -std=c++20 -O2 -fno-exceptions -fno-rtti -DATTRCACHE_PAIR_TWO_STEP -c "$work/drop/attrcache.cc" -o "$work/two_step.o"
gcc -std=c11 -Wall -Werror -Ilib/include "$here/platform.c" "$work/two_step.o" -pthread -static -o "$work/two_step"
for processor in Nehalem Penryn max; do
  expect "a domain, success" qemu-x86_64 -cpu "$processor" "$work/two_step"
done
expect "no domain, this processor" qemu-x86_64 -cpu Conroe "$work/two_step" # qemu's Conroe has no cmpxchg16b
echo "passed"
