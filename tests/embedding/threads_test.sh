#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# threads_test.sh RUN PROGRAM: runs a program on the small MPI, with 1 and with 4 ranks. Each rank
# must print "passed", and nothing may be attached at the end.

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
