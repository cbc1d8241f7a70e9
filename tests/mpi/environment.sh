# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What MPI programs want in tests, on both MPIs: to run as root, on few cores, on one machine. Sourced. $TMPDIR is a
# folder of their own, gone at the end.

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_osc=^ucx OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export HYDRA_LAUNCHER=fork UCX_LOG_LEVEL=error
export HOME=${HOME:-/tmp}
# Sockets of the run-time systems want short paths.
TMPDIR=$(mktemp -d /tmp/attrcache.XXXXXX) || exit 1
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# For tools/attrcache-run: the folder of an interposer.
served_by() { # LIBRARY
  ATTRCACHE_LIBDIR=$(dirname -- "$(readlink -f -- "$1")")
  export ATTRCACHE_LIBDIR
}
