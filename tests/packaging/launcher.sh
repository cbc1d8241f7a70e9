#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The installed launcher runs an unmodified Fortran program of either MPI. The installed interposer must serve it.
# Part of cmake_test.sh.

source tests/packaging/lib.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_mapby=:oversubscribe
export HYDRA_LAUNCHER=fork ATTRCACHE_VERBOSE=1 TMPDIR=$work

install_to "$work/prefix"
for mpi in openmpi mpich; do
  "mpif90.$mpi" "$here/fortran.f90" -J"$work" -o "$work/program" 2>"$work/log" || fail "$(cat "$work/log")"
  output=$(timeout 60 "$work/prefix/bin/attrcache-run" "mpirun.$mpi" -np 2 "$work/program" 2>&1) ||
    fail "$mpi: $output"
  reported=$(timeout 60 "$work/prefix/bin/attrcache-run" --report "mpirun.$mpi" -np 2 "$work/program" 2>&1) ||
    fail "$mpi: $reported"
  grep -q '^attrcache: the attributes of 2 ranks' <<<"$reported" || fail "$mpi: no report: $reported"
  timeout 60 "$work/prefix/bin/attrcache-run" --report="$work/$mpi.html" "mpirun.$mpi" -np 2 "$work/program" >"$work/log" 2>&1 &&
    grep -q 'The attributes of 2 ranks' "$work/$mpi.html" || fail "$mpi: no page: $(cat "$work/log")"
  (($(grep -c '^rank [01] passed$' <<<"$output") == 2)) || fail "$mpi: $output"
  (($(grep -c '^attrcache\[[0-9]*\]: serving' <<<"$output") == 2)) || fail "$mpi: not served: $output"
done

# The modulefiles, if Lmod is installed.
lmod=/usr/share/lmod/lmod/libexec/lmod
for file in "$work"/prefix/share/attrcache/modulefiles/attrcache/*; do
  [ -x $lmod ] || break
  rm -rf "$work/modules" && mkdir -p "$work/modules/attrcache" && cp "$file" "$work/modules/attrcache"
  (eval "$(MODULEPATH=$work/modules $lmod bash load attrcache 2>"$work/log")" &&
    [ "$(command -v attrcache-run)" = "$work/prefix/bin/attrcache-run" ]) || fail "$file: $(cat "$work/log")"
done
echo "passed"
