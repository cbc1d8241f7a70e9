#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Bazel has no rules for Python here, so this script starts the test, which is in Python.

exec python3 -B "$@"
