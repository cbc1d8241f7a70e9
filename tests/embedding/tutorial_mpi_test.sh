#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tutorial_mpi_test.sh MPI LIBRARY PAGE: the tutorial's section on MPI programs, with the MPI's compiler and launcher.

set -euo pipefail
source tests/mpi/environment.sh
served_by "$2"
sed "s/\bmpi\(cc\|run\) /mpi\1.$1 /" "$3" >"$TMPDIR/page"
tests/embedding/tutorial_test.py "$TMPDIR/page"
