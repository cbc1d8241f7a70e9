#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Bazel has no rules for Python here, so this script starts the tests, which are in Python.

exec python3 -B "$@"
