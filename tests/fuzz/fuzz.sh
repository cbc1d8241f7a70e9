#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# fuzz.sh [SECONDS]: libFuzzer, with address and undefined-behaviour sanitizers, on the C API against the reference,
# starting from the corpus; 60 seconds unless said otherwise. What it finds worth keeping goes to a scratch folder; a
# failure leaves a crash-* file there, and its name is printed. `fuzz.sh --merge` minimizes the corpus with what the
# scratch folder has gathered.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ $# -le 1 && ${1:-60} =~ ^([0-9]+|--merge)$ ]] || {
  echo "usage: tests/fuzz/fuzz.sh [SECONDS | --merge]" >&2
  exit 2
}
scratch=${ATTRCACHE_FUZZ_DIR:-${TMPDIR:-/tmp}/attrcache-fuzz}
mkdir -p "$scratch/found"
sources=$(find lib -name '*.cc' -not -path 'lib/mpi/*' -not -path 'lib/runtimes/*')
targets=$(find tests/fuzz -name '*.cc' -not -name '*_test.cc')
# shellcheck disable=SC2086  # lists of files
clang++ -std=c++20 -O1 -g -mcx16 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
  -I. -Ilib -Ilib/include $sources $targets -o "$scratch/fuzzer"
if [[ ${1:-} == --merge ]]; then
  mkdir -p "$scratch/corpus"
  "$scratch/fuzzer" -merge=1 -max_len=600 "$scratch/corpus" tests/fuzz/corpus "$scratch/found"
  echo "merged: $scratch/corpus"
  exit
fi
"$scratch/fuzzer" -max_total_time="${1:-60}" -max_len=2000 -artifact_prefix="$scratch/" \
  -print_final_stats=1 "$scratch/found" tests/fuzz/corpus
