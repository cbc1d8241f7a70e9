#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# fuzz.sh [SECONDS]: runs libFuzzer for 60 seconds, or as many as given, with address and undefined-behaviour sanitizers,
# on the C API against the reference. Inputs that reach new code are kept in a scratch folder, where the next run starts. A
# failure leaves a crash-* file there, and its name is printed.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ $# -le 1 && ${1:-60} =~ ^[0-9]+$ ]] || {
  echo "usage: tests/fuzz/fuzz.sh [SECONDS]" >&2
  exit 2
}
scratch=${ATTRCACHE_FUZZ_DIR:-${TMPDIR:-/tmp}/attrcache-fuzz}
mkdir -p "$scratch/found"
sources=$(find lib -name '*.cc' -not -path 'lib/mpi/*' -not -path 'lib/runtimes/*')
targets=$(find tests/fuzz -name '*.cc' -not -name '*_test.cc')
# shellcheck disable=SC2086  # lists of files
clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
  -I. -Ilib -Ilib/include $sources $targets -o "$scratch/fuzzer"
"$scratch/fuzzer" -max_total_time="${1:-60}" -max_len=2000 -artifact_prefix="$scratch/" \
  -print_final_stats=1 "$scratch/found"
