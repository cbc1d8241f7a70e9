#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Runs a test in Python. What it leaves in $TEST_UNDECLARED_OUTPUTS_DIR, Bazel keeps.

program=$1
shift
case $program in
  */page_test.py) exec python3 -B "$program" "$@" ${TEST_UNDECLARED_OUTPUTS_DIR:+"$TEST_UNDECLARED_OUTPUTS_DIR"} ;;
  *) exec python3 -B "$program" "$@" ;;
esac
