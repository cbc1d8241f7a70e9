# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Sourced by the tests of tools/check-mpi.

set -euo pipefail
source tests/mpi/environment.sh
export PATH=$PATH:/usr/bin:/bin
work=$TMPDIR

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
