#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Bazel tests are shell scripts here, and these are in Python.

export HOME="${HOME:-/tmp}" # Open MPI 5 and 6 don't start without
exec python3 -B "$@"
