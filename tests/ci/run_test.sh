#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The last line of .ci/run, whatever the commands that it runs do. Its clock starts at $SECONDS from the environment.

set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{.ci,tools,bin}
cp .ci/run "$work/.ci/run"
cd "$work"
path=$work/bin:/usr/bin:/bin

# A command that runs these lines.
stand_in() { # FILE LINES
  printf '#!/bin/bash\n%s\n' "$2" >"$1"
  chmod +x "$1"
}

seconds=0
expect() { # STATUS LAST-LINE WHAT
  local status=0
  env SECONDS="$seconds" PATH="$path" .ci/run >output 2>&1 || status=$?
  [[ $status == "$1" && $(tail -n 1 output) == "$2" ]] || {
    cat output
    echo "$3: expected '$2' and status $1, not $status"
    exit 1
  }
}

stand_in bin/mmdebstrap 'exit 0'
stand_in tools/on 'exit 0'
stand_in tools/test 'echo "3 passed, 0 failed"'

seconds=2400
expect 0 "3 passed, 0 failed, 1 skipped" "tools/test took 40 minutes"
stand_in tools/test 'exit 3'
expect 1 "0 passed, 1 failed, 1 skipped" "tools/test ends without a count"

# The stand-in for timeout ends a command as soon as the command says so.
stand_in bin/timeout 'shift 2; "$@" & while kill -0 $! 2>/dev/null; do
  [[ ! -e over ]] || { rm over; kill $!; wait; exit 124; }
done; wait $!'
stand_in tools/test 'trap "echo 2 passed, 0 failed; exit" TERM; touch over; while :; do :; done'
seconds=2400
expect 0 "2 passed, 0 failed, 2 skipped" "tools/test is broken off"
seconds=4801
expect 1 "0 passed, 0 failed, 2 skipped" "no time at all"

seconds=0
stand_in tools/test 'echo "3 passed, 1 failed"; exit 1'
if ((EUID != 0)); then
  expect 1 "3 passed, 1 failed, 1 skipped" "not root"
  exit
fi
expect 1 "10 passed, 1 failed, 0 skipped" "all systems pass"
stand_in tools/test 'echo "3 passed, 0 failed"'
stand_in tools/on '[[ "$*" != "sid tools/demo" ]]'
expect 1 "9 passed, 1 failed, 0 skipped" "the demo fails on sid"
stand_in tools/on '[[ $1 == sid ]]'
expect 0 "5 passed, 0 failed, 5 skipped" "no root of trixie can be made"
stand_in tools/on '[[ "$*" != "trixie tools/demo" ]] || { touch over; while :; do :; done; }'
expect 0 "9 passed, 0 failed, 1 skipped" "the demo on trixie is broken off"
rm bin/mmdebstrap
stand_in bin/apt-get 'exit 100'
path=$work/bin
for tool in bash env dirname mktemp rm tee tail cat; do
  ln -s "/usr/bin/$tool" bin
done
expect 0 "3 passed, 0 failed, 1 skipped" "mmdebstrap can't be installed"
