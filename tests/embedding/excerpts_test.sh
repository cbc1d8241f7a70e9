#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Bazel tests are shell scripts here, and this one is in Python.

exec python3 -B "$@"
