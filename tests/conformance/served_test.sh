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
runs=()
# Some MPIs waver (Open MPI 6 with sid's PMIx fails now and then in MPI_Session_init, natively and served): what differs
# is asked again, both ways, and fails if it still differs in the third round.
for run in {1,2,3}-{served,native}; do
  how=() code=0
  [[ $run == *native ]] || how=(--served)
  check_mpi "$mpi" "${how[@]}" --json "$work/$run.json" "$@" >"$work/log" 2>&1 || code=$?
  ((code < 2)) || fail "$run: $(cat "$work/log")"
  runs+=("$work/$run.json")
  mapfile -t names < <(python3 tests/conformance/served.py --names "${runs[@]}")
  ((${#names[@]} > 0)) || break
  set -- "${names[@]/#/--only=}"
done
python3 tests/conformance/served.py "${runs[@]}"
