#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# run.sh MPI MODE NPS RUN LIBRARY PROGRAM [ARGUMENT...]
#
# Runs PROGRAM under MPI (openmpi, mpich; see environment.sh) on each number of ranks in NPS ("1 2"), served by LIBRARY through RUN
# (tools/attrcache-run), and judges by what it prints: a line "rank R: N checks passed" from each rank, and
# nowhere FAILED. MODE says what else:
#
#   served    nothing
#   control   it must also pass natively: it tests what the standard says
#   possible  nothing, unless it fails natively: the MPI can't do it
#   same      it must print the same natively, whatever that is: its lines that begin with "rank", sorted

set -u

mpi=$1 mode=$2 nps=$3 run=$4 library=$5 program=$6
shift 6

source tests/mpi/environment.sh
served_by "$library"
launcher=mpirun.$(mpi_of "$mpi")
export ATTRCACHE_VERBOSE=1

case $program in /*) ;; *) program=$PWD/$program ;; esac

launch() { # OUTPUT [PREFIX...]: runs the program, served or natively
  local output=$1
  shift
  timeout -k 5 120 "$@" "$launcher" -np "$np" "$program" "${arguments[@]+"${arguments[@]}"}" \
    >"$output" 2>"$output.errors" </dev/null
  # Appended: if both went to one file, a line of one might be in the middle of another's.
  cat "$output.errors" >>"$output"
}

passed() { # OUTPUT
  ! grep -q FAILED "$1" && [ "$(grep -c '^rank [0-9]*: [0-9]* checks passed$' "$1")" = "$np" ]
}

arguments=("$@")
runs=0 checks=0
count() { # OUTPUT: adds up the runs and their ranks' checks, or where only the output is compared, its lines
  runs=$((runs + 1))
  checks=$((checks + $(sed -n -e 's/^rank [0-9]*: \([0-9]*\) checks passed$/\1/p' -e t -e 's/^rank.*/1/p' \
    "$1" | awk '{ sum += $1 } END { print sum + 0 }')))
}
for np in $nps; do
  served=$TMPDIR/served.$np native=$TMPDIR/native.$np
  if [ "$mode" = possible ]; then
    ATTRCACHE_TEST_SERVED=0 launch "$native"
    passed "$native" || { cat "$native"; echo "not tested, since $mpi can't do it natively" && continue; }
  fi
  ATTRCACHE_TEST_SERVED=1 launch "$served" "$run" --mpi "$(interposer_of "$mpi")"
  count "$served"
  [ "$mode" = same ] || passed "$served" || { cat "$served"; fail "served: not all checks passed"; }
  # Open MPI's interposer says it of no program that has sessions alone.
  [ "$mode" = possible ] || [ "$(grep -c '^attrcache\[[0-9]*\]: serving' "$served")" -ge "$np" ] ||
    { cat "$served"; fail "it was not served"; }
  case $mode in
    control)
      ATTRCACHE_TEST_SERVED=0 launch "$native"
      passed "$native" || { cat "$native"; fail "native: not all checks passed"; }
      ;;
    same)
      ATTRCACHE_TEST_SERVED=0 launch "$native"
      diff <(grep '^rank' "$served" | sort) <(grep '^rank' "$native" | sort) ||
        fail "served (<) and native (>) differ"
      grep -q '^rank' "$served" || { cat "$served"; fail "no output"; }
      ;;
  esac
  [ ! -f "$native" ] || count "$native"
done
# What the MPI gets wrong by itself (check.h).
cat "$TMPDIR"/served.* "$TMPDIR"/native.* 2>/dev/null | grep '^peer bug: ' | sort -u
[ "$failures" = 0 ] && echo "passed: $mpi, np $nps, $mode: $runs runs, $checks checks"
exit "$((failures != 0))"
