# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: Apache-2.0
#
# What the tests here share; sourced. They run in a tree of links to the sources and to what was
# built, laid out as both are.

set -euo pipefail
PATH=/usr/bin:/bin
HOME=${HOME:-/tmp}
export PATH HOME
root=$PWD
# Short, and ours whatever $TEST_TMPDIR is.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$root/tests/packaging

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect TEXT COMMAND...: the command succeeds, and prints that.
expect() {
  local text=$1 output
  shift
  output=$("$@" 2>&1) || fail "'$*' failed: $output"
  grep -qF -- "$text" <<<"$output" || fail "'$*' did not print '$text', but: $output"
}

# The names that a shared library exports, with their versions. (gold lists local ones, too.)
exported() {
  nm -D --defined-only "$1" | awk '$2 ~ /^[B-Z]$/ {print $3}' | LC_ALL=C sort
}
