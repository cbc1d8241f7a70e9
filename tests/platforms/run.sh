#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Compiles the library and its tests for another platform, in one program with GoogleTest, and runs it, mostly under
# qemu-user:
#
#   run.sh PLATFORM unit|storms
#
# It shows that the library builds there and gives the same results. It does not show weaker memory ordering, because
# under qemu the ordering is that of the host. The last lines say which platform it was, and how many tests passed;
# tools/test --platforms makes its table from them.

set -euo pipefail
PATH=/usr/bin:/bin
platform=$1
kind=$2

options=()
case $platform in
  aarch64) target=aarch64-linux-gnu runner=(qemu-aarch64) ;;
  aarch64_lse2) target=aarch64-linux-gnu runner=(qemu-aarch64 -cpu max) options=(-DATTRCACHE_LSE2) ;;
  armhf) target=arm-linux-gnueabihf runner=(qemu-arm) ;;
  # Runs natively on x86-64: under qemu, a return from a signal handler gives a thread another's thread-local memory.
  i386) target=i686-linux-gnu runner=(env) ;;
  nehalem) target=x86_64-linux-gnu runner=(qemu-x86_64 -cpu Nehalem) options=(-DATTRCACHE_PAIR_TWO_STEP) ;;
  ppc64el) target=powerpc64le-linux-gnu runner=(qemu-ppc64le) ;;
  riscv64) target=riscv64-linux-gnu runner=(qemu-riscv64) ;;
  s390x) target=s390x-linux-gnu runner=(qemu-s390x) ;;
  *)
    echo "platforms: $platform isn't known" >&2
    exit 2
    ;;
esac
compiler=$target-g++
command -v "$compiler" "${runner[0]}" >/dev/null || {
  echo "platforms: needs $compiler and ${runner[0]}; tools/setup --platforms installs them" >&2
  exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# In qemu 7.2 (Debian 12), POWER's 16-byte exchange never succeeds: a program of one exchange doesn't end. So there the
# library is tested in steps of 8 bytes.
if [[ $platform == ppc64el ]]; then
  cat >"$scratch/exchange.c" <<'END'
int main(void) {
  static _Alignas(16) unsigned __int128 word;
  unsigned __int128 expected = 0;
  return !__atomic_compare_exchange_n(&word, &expected, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
END
  "${compiler%g++}gcc" -O2 -static "$scratch/exchange.c" -o "$scratch/exchange"
  timeout 30 "${runner[@]}" "$scratch/exchange" || {
    options=(-DATTRCACHE_PAIR_TWO_WORDS)
    echo "peer bug: under this qemu, POWER never exchanges 16 bytes; ppc64el is tested in steps of 8 bytes"
  }
fi
gtest=/usr/src/googletest/googletest
flags=(-std=c++20 -Wall -Wextra -Werror -DATTRCACHE_TESTS_EMULATED "${options[@]}" -I. -Ilib -Ilib/include)
sources=$(find -L lib -name '*.cc' -not -path 'lib/mpi/*')
case $kind in
  # The tests of the C++ API's cost read this machine's code, so they are left out.
  unit) tests=$(find -L tests/unit -name '*_test.cc') coverage='' ;;
  # One storm stops threads at each basic block (tests/stress/stopping.h).
  storms) tests=$(find -L tests/stress -name '*_test.cc') coverage=-fsanitize-coverage=trace-pc ;;
esac
[[ $platform != nehalem ]] || coverage='' # x86-64 has another way

failures=$scratch/failures
compile() { # SOURCE OPTION...
  "$compiler" "${flags[@]}" "${@:2}" -c "$1" -o "$scratch/${1//\//_}.o" || echo "$1" >>"$failures"
}
# Tests need no optimization, and most of the time goes into the headers of GoogleTest: so these are compiled once.
echo '#include <gtest/gtest.h>' >"$scratch/first.h"
"$compiler" "${flags[@]}" "-I$gtest/include" -O0 -x c++-header "$scratch/first.h" -o "$scratch/first.h.gch" &
"$compiler" -std=c++20 "-I$gtest" "-I$gtest/include" -c "$gtest/src/gtest-all.cc" -o "$scratch/gtest-all.o" &
"$compiler" -std=c++20 "-I$gtest/include" -c "$gtest/src/gtest_main.cc" -o "$scratch/gtest_main.o"
wait
for source in $sources $tests; do
  case $source in
    lib/*) compile "$source" -O2 -fno-exceptions -fno-rtti -funwind-tables $coverage & ;;
    *) compile "$source" -O0 "-I$gtest/include" -include "$scratch/first.h" & ;;
  esac
  while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n; done
done
wait
[[ ! -e $failures ]] || {
  echo "platforms: does not compile for $platform: $(xargs <"$failures")" >&2
  exit 1
}
# The first program is C, and linked as C.
cat >"$scratch/platform.c" <<'END'
#include <attrcache/attrcache.h>
#include <stdio.h>
void __sanitizer_cov_trace_pc(void) {} /* for $coverage */
int main(void) {
  attrcache_domain* domain;
  const int result = attrcache_domain_create(NULL, &domain);
  printf("%s (%s)\n", attrcache_platform(), attrcache_strerror(result));
  return result != ATTRCACHE_OK || attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, NULL) != ATTRCACHE_OK;
}
END
"${compiler%g++}gcc" -std=c11 -Wall -Wextra -Werror -Ilib/include -static "$scratch/platform.c" "$scratch"/lib_*.o -lpthread \
  -o "$scratch/platform"
supported=yes
said=$("${runner[@]}" "$scratch/platform") || supported=no
echo "platform $platform: $said"
if [[ $supported == no ]]; then
  # A missing feature gives an error code, as on real hardware. qemu has had FEAT_LSE2 since 8.1; Debian 12's is 7.2.
  [[ $platform == aarch64_lse2 ]] || exit 1
  echo "platform $platform, $kind: compiled, not run: this qemu has no FEAT_LSE2"
  exit
fi
"$compiler" -static -pthread "$scratch"/*.o -o "$scratch/tests"
"${runner[@]}" "$scratch/tests" --gtest_brief=1 | tee "$scratch/log"
passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\?\.$/\1/p' "$scratch/log")
echo "platform $platform, $kind: ${passed:-0} passed"
