#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# served_test.sh MPI LIBRARY [ARGUMENT...]
#
# All checks of tools/check-mpi, served by LIBRARY (ARGUMENTs are for the tool). What the standard demands passes, unless this
# MPI fails in it natively as well; what it implies passes in any case; where the standard leaves it open, served is as
# natively, but for what served.py knows.

source tests/conformance/lib.sh
mpi=$1
served_by "$2"
shift 2
code=0
check_mpi "$mpi" --served --together --json "$work/served.json" "$@" >"$work/log" 2>&1 || code=$?
((code < 2)) || fail "served: $(cat "$work/log")"
mapfile -t names < <(python3 tests/conformance/served.py --names "$work/served.json")
if ((${#names[@]} == 0)); then
  echo '{"results": []}' >"$work/native.json"
  exec python3 tests/conformance/served.py "$work/served.json" "$work/native.json"
fi
# Some MPIs waver (Open MPI 6 with sid's PMIx fails now and then in MPI_Session_init): what differs is asked again.
for ((times = 1; times <= 3; ++times)); do
  check_mpi "$mpi" --together --json "$work/native.json" "${names[@]/#/--only=}" >"$work/log" 2>&1 || code=$?
  ((code < 2)) || fail "natively: $(cat "$work/log")"
  python3 tests/conformance/served.py "$work/served.json" "$work/native.json" && exit
done
exit 1
