# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What MPI programs want in tests, on all MPIs: to run as root, on few cores, on one machine. Sourced. $TMPDIR is a
# folder of their own, gone at the end.

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_osc=^ucx OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
# Oversubscription has another name in each of Open MPI 4, 5 and 6.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_mapby=:oversubscribe
export HYDRA_LAUNCHER=fork UCX_LOG_LEVEL=error
export HOME=${HOME:-/tmp}
# Sockets of the run-time systems want short paths.
TMPDIR=$(mktemp -d /tmp/attrcache.XXXXXX) || exit 1
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# A test's MPI is openmpi or mpich, or what one of them has for the standard ABI, openmpi_abi or mpich_abi: which MPI
# that is, and which interposer serves it.
mpi_of() { echo "${1%_abi}"; }
interposer_of() {
  case $1 in
    *_abi) echo mpi_abi ;;
    *) echo "$1" ;;
  esac
}

# For tools/attrcache-run: the folder of an interposer.
served_by() { # LIBRARY
  ATTRCACHE_LIBDIR=$(dirname -- "$(readlink -f -- "$1")")
  export ATTRCACHE_LIBDIR
}

# What an MPI gets wrong by itself can't be asked of it served. True if COMMAND fails natively; then that is said, as
# peer.h says it in C: "peer bug: Open MPI 5.0.7: WHAT".
peer_bug() { # openmpi|mpich WHAT COMMAND...
  local mpi=$1 what=$2 version
  shift 2
  (unset LD_PRELOAD && "$@") >/dev/null 2>&1 </dev/null && return 1
  case $mpi in
    openmpi) version=$(mpirun.openmpi --version | sed -n 's/.*(\(Open MPI\))/\1/p') ;;
    mpich) version=$(mpichversion | sed -n 's/^MPICH Version: */MPICH /p') ;;
  esac
  echo "peer bug: $version: $what"
}
