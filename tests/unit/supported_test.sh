#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Where the library isn't supported, the first error of its build is ours, and says why. Where it is supported, there is
# none.

set -euo pipefail

# errors TARGET HEADER OPTION...: a compiler's errors for that target, without any system headers.
errors() {
  local target=$1 header=$2
  shift 2
  clang++ "--target=$target" -std=c++20 -nostdinc -Ilib -Ilib/include -fsyntax-only "$@" -x c++ "lib/platform/$header" 2>&1 |
    sed -n 's/.*error: //p'
}

expect() { # TEXT TARGET OPTION...
  local text=$1 first
  shift
  first=$(errors "$1" pair.h "${@:2}" | head -n 1) || true
  [[ $first == *attrcache:*"$text"* ]] || {
    echo "FAILED: for $* the first error should speak of '$text', but is: $first"
    exit 1
  }
  echo "$*: $first"
}

expect "no 8-byte atomic access" armv5te-linux-gnueabi
expect "no 8-byte atomic access" mips-linux-gnu
expect "no 8-byte atomic access" powerpc-linux-gnu
expect "x32" x86_64-linux-gnux32
expect "POSIX threads" x86_64-pc-windows-gnu
expect "C++17" x86_64-linux-gnu -std=c++14
expect "AArch64" x86_64-linux-gnu -DATTRCACHE_LSE2

for target in x86_64-linux-gnu aarch64-linux-gnu aarch64_be-linux-gnu riscv64-linux-gnu powerpc64le-linux-gnu s390x-linux-gnu \
  mips64el-linux-gnuabi64 i686-linux-gnu armv7-linux-gnueabihf x86_64-apple-darwin aarch64-unknown-freebsd; do
  [[ -z $(errors "$target" supported.h) ]] || {
    echo "FAILED: $target is refused"
    exit 1
  }
done
echo "passed"
