#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Where the library is not supported, its build ends in words that say why, before anything else fails: the first
# error is ours. Where it is supported, there is none.

set -euo pipefail

# errors TARGET HEADER OPTION...: what a compiler for that target says. No system header is there, for any.
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

expect "for this processor" riscv64-linux-gnu
expect "for this processor" powerpc64le-linux-gnu
expect "for this processor" mips64el-linux-gnuabi64
expect "64-bit" i686-linux-gnu
expect "64-bit" x86_64-linux-gnux32
expect "64-bit" armv7-linux-gnueabihf
expect "big-endian" s390x-linux-gnu
expect "big-endian" aarch64_be-linux-gnu
expect "Linux" x86_64-apple-darwin
expect "Linux" aarch64-unknown-freebsd
expect "C++20" x86_64-linux-gnu -std=c++17

for target in x86_64-linux-gnu aarch64-linux-gnu; do
  [[ -z $(errors "$target" supported.h) ]] || {
    echo "FAILED: $target is refused"
    exit 1
  }
done
echo "passed"
