#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# fuzz.sh [SECONDS]: runs libFuzzer for 60 seconds, or as many as given, with address and undefined-behaviour sanitizers,
# on the C API against the reference, starting from the corpus. Inputs that reach new code go to a scratch folder. A
# failure leaves a crash-* file there, and its name is printed. `fuzz.sh --merge` adds these inputs to the corpus, and
# minimizes it.

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
# The corpus is one file of inputs, each after its size in two bytes, the low one first.
rm -rf "$scratch/corpus" "$scratch/merged"
mkdir "$scratch/corpus" "$scratch/merged"
python3 - tests/fuzz/corpus "$scratch/corpus" <<'END'
import pathlib, sys
data, number = pathlib.Path(sys.argv[1]).read_bytes(), 0
while data:
    end = 2 + int.from_bytes(data[:2], "little")
    pathlib.Path(sys.argv[2], str(number)).write_bytes(data[2:end])
    data, number = data[end:], number + 1
END
# shellcheck disable=SC2086  # lists of files
clang++ -std=c++20 -O1 -g -mcx16 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
  -I. -Ilib -Ilib/include $sources $targets -o "$scratch/fuzzer"
if [[ ${1:-} == --merge ]]; then
  "$scratch/fuzzer" -merge=1 -max_len=600 "$scratch/merged" "$scratch/corpus" "$scratch/found"
  python3 - "$scratch/merged" >tests/fuzz/corpus <<'END'
import pathlib, sys
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    data = path.read_bytes()
    sys.stdout.buffer.write(len(data).to_bytes(2, "little") + data)
END
  exit
fi
"$scratch/fuzzer" -max_total_time="${1:-60}" -max_len=2000 -artifact_prefix="$scratch/" \
  -print_final_stats=1 "$scratch/found" "$scratch/corpus"
