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
first=$root/tests/embedding/first/first.c # README's program, which prints "planned"

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

# builds_with_cmake OPTION...: the project here finds the package, and its programs work.
builds_with_cmake() {
  cmake -S "$here" -B "$work/user" "$@" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
  cmake --build "$work/user" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
  expect "works in C++" "$work/user/shared"
  expect "works in C++" "$work/user/static"
  expect planned "$work/user/in_c"
}

# For programs of Open MPI and MPICH, on few cores, as root too; attrcache says that it serves them.
with_mpi() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_rmaps_base_oversubscribe=1
  export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_mapby=:oversubscribe
  export HYDRA_LAUNCHER=fork ATTRCACHE_VERBOSE=1 TMPDIR=$work
}

# serves ATTRCACHE-RUN: it serves programs of both MPIs, and makes a report and a page.
serves() {
  local mpi output
  with_mpi
  for mpi in openmpi mpich; do
    "mpicc.$mpi" "$root/tests/clusters/program.c" -o "$work/program"
    output=$(timeout 60 "$1" --report --report="$work/$mpi.html" "mpirun.$mpi" -np 2 "$work/program" 2>&1) || fail "$mpi: $output"
    (($(grep -c '^attrcache\[[0-9]*\]: serving' <<<"$output") == 2)) || fail "$mpi: not served: $output"
    [[ $output == *$'\nattrcache: the attributes of 2 ranks'* ]] || fail "$mpi: no report: $output"
    grep -q 'The attributes of 2 ranks' "$work/$mpi.html" || fail "$mpi: no page"
  done
}

needs() { # FILE: the shared libraries that it needs
  readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p'
}

# Prints the names that a shared library exports, with their versions. gold lists local names too,
# which are left out.
exported() {
  nm -D --defined-only "$1" | awk '$2 ~ /^[B-Z]$/ {print $3}' | LC_ALL=C sort
}
