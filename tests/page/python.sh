#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# python.sh PROGRAM ARGUMENT...: runs a test in Python.

exec python3 -B "$@"
