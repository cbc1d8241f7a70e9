#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# threads_test.sh RUN PROGRAM: a program on the small MPI, with 1 and 4 ranks; each prints
# "passed", and nothing is left attached at the end.

set -euo pipefail
for ranks in 1 4; do
  output=$("$1" "$ranks" "$2" 2>&1) || {
    echo "FAILED with $ranks ranks: $output"
    exit 1
  }
  echo "$output"
  (($(grep -c 'passed$' <<<"$output") == ranks)) || exit 1
  ! grep -q 'FAILED\|still attached' <<<"$output" || exit 1
done
