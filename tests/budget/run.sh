#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Bazel has no rules for Python here, so this script starts the tests, which are in Python.

export HOME="${HOME:-/tmp}" # Open MPI 5 and 6 don't start without it
exec python3 -B "$@"
