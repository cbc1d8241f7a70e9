#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# commands.sh TREE [DEMO-OUTPUT]: types the commands of README's "Preload it", and those on the last page of tools/demo, in a
# source tree that was built. Word for word, except that mpirun stands for an MPI's own name for it that isn't here, and
# that check-mpi checks one section. Part of cmake_test.sh and demo_test.sh.

source tests/packaging/lib.sh
with_mpi
PATH=$work/bin:$PATH:/opt/mpich/bin
cd "$1"

readarray -t commands < <(
  sed -n '/^## Preload it/,/^## Embed it/{/^```sh/,/^```/{/^```/!p}}' README.md
  [[ -z ${2-} ]] || sed -n 's/^  [^ ].*  \(tools\/.*\)/\1/p' "$2"
)
((${#commands[@]} == ${2:+3+}4)) || fail "these commands: $(printf '%s; ' "${commands[@]}")"

mkdir "$work/bin"
name() { # PREFIX MPI
  command -v "$1.$2" >/dev/null && echo "$1.$2" || echo "$1"
}
for command in "${commands[@]}"; do
  [[ $command == *openmpi* ]] && mpi=openmpi || mpi=mpich
  printf '#!/bin/sh\nshift 4\nexec %s -np 8 "$@"\n' "$(name mpirun $mpi)" >"$work/bin/srun" # -N 2 -n 8
  chmod +x "$work/bin/srun"
  "$(name mpicc $mpi)" tests/clusters/program.c -o program
  command=${command//mpirun.$mpi/$(name mpirun $mpi)}
  command=${command//mpicc.$mpi/$(name mpicc $mpi)}
  echo "$command"
  [[ $command != tools/check-mpi* ]] || command+=" --only keyvals"
  output=$(bash -c "$command" 2>&1) || fail "$output"
  case $command in
    tools/check-mpi*) [[ $output == *keyvals* ]] ;;
    *) [[ $output == *"]: serving"* && $output == *"rank 0 of"* && $output != *attrcache-run:* ]] ;;
  esac || fail "$output"
  [[ $command != *--report* || $output == *"attrcache: the attributes of 2 ranks"* ]] || fail "$output"
done
echo "passed"
