# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Shared by the tests here, which source it. They run in a folder of links to the sources and to the built
# files, with the layout of both.

set -euo pipefail
PATH=/usr/bin:/bin
HOME=${HOME:-/tmp}
export PATH HOME
root=$PWD
# A scratch folder with a short path, whatever $TEST_TMPDIR is.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$root/tests/packaging

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect TEXT COMMAND...: the command must succeed and print the text.
expect() {
  local text=$1 output
  shift
  output=$("$@" 2>&1) || fail "'$*' failed: $output"
  grep -qF -- "$text" <<<"$output" || fail "'$*' did not print '$text', but: $output"
}

# Installs what cmake_test.sh has built in $build, which it exports to its parts.
install_to() { # PREFIX
  cmake --install "$build" --prefix "$1" >/dev/null
}

needs() { # FILE: the shared libraries that it needs
  readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p'
}

# Prints the names that a shared library exports, with their versions. gold lists local names too,
# which are left out.
exported() {
  nm -D --defined-only "$1" | awk '$2 ~ /^[B-Z]$/ {print $3}' | LC_ALL=C sort
}
