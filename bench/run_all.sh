#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Runs the given programs, one after the other, with the arguments that follow "--".

set -euo pipefail

programs=()
while (($# > 0)) && [[ $1 != -- ]]; do
  programs+=("$1")
  shift
done
shift || true

for program in "${programs[@]}"; do
  "$program" "$@"
done
