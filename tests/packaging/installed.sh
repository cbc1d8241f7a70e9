#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Tests the installed Debian packages of tools/package (see CONTRIBUTING.md): MPI programs must be served, and
# programs must build with the library. Run it in the sources' folder, with both MPIs installed.

source tests/packaging/lib.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # Open MPI 4; 5

packages=(libattrcache1 libattrcache-dev attrcache-mpi)
dpkg --verify "${packages[@]}" || fail "files of the packages have changed since they were installed"
for page in 1/attrcache-run 3/attrcache_get 7/attrcache; do
  dpkg -S "/usr/share/man/man${page%/*}/${page#*/}.${page%/*}.gz" >/dev/null || fail "no package has ${page#*/}"
done

cat >"$work/program.c" <<'TEXT'
#include <mpi.h>
#include <stdio.h>

static int deleted;
static int on_delete(MPI_Comm comm, int keyval, void* value, void* extra) {
  deleted += value == &deleted;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int keyval, found = 0;
  void* value = NULL;
  MPI_Comm copy;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, on_delete, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &deleted);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_get_attr(copy, keyval, &value, &found);
  MPI_Comm_free(&copy);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
  MPI_Comm_free_keyval(&keyval);
  printf("found %d, deleted %d\n", found && value == &deleted, deleted);
  return MPI_Finalize();
}
TEXT
for mpi in mpich openmpi; do
  "mpicc.$mpi" "$work/program.c" -o "$work/$mpi"
  expect "/usr/lib/attrcache/libattrcache_$mpi.so" attrcache-run --print "mpirun.$mpi" "$work/$mpi"
  for ranks in 1 2; do
    ATTRCACHE_VERBOSE=1 attrcache-run "mpirun.$mpi" -np "$ranks" "$work/$mpi" >"$work/log" 2>&1 ||
      fail "$mpi: $(cat "$work/log")"
    [[ $(grep -c '^found 1, deleted 2$' "$work/log") == "$ranks" ]] || fail "$mpi: $(cat "$work/log")"
    grep -q '^attrcache\[.*serving the attributes' "$work/log" || fail "$mpi was not served: $(cat "$work/log")"
  done
  attrcache-run --report="$work/report.json" "mpirun.$mpi" -np 1 "$work/$mpi" >/dev/null
  python3 -m json.tool "$work/report.json" >/dev/null || fail "$mpi: the report is no JSON"
  attrcache-run --from "$work/report.json" --report="$work/report.html" || fail "$mpi: no page"
  echo "served: $("mpirun.$mpi" --version | head -n 1)"
done

gcc "$here/use.c" -lattrcache -o "$work/use"
expect "works in C" "$work/use"
cmake -S "$here" -B "$work/build" >/dev/null
cmake --build "$work/build" >/dev/null
expect "works in C++" "$work/build/shared"
expect "works in C++" "$work/build/static"
expect "works in C" "$work/build/in_c"
echo "passed"
