# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Sourced by tests that run MPI programs: makes every MPI run them as root, on few cores, on one machine. $TMPDIR is the
# test's own folder, removed at the end.

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_osc=^ucx OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
# Open MPI 4, 5 and 6 each have another name for oversubscription.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_mapby=:oversubscribe
export HYDRA_LAUNCHER=fork UCX_LOG_LEVEL=error
export HOME=${HOME:-/tmp}
# The run-time systems' sockets need short paths.
TMPDIR=$(mktemp -d /tmp/attrcache.XXXXXX) || exit 1
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# A test's MPI is openmpi or mpich, or openmpi_abi or mpich_abi for their libraries with the standard ABI. Here is which
# MPI that is, and which interposer serves it.
mpi_of() { echo "${1%_abi}"; }
interposer_of() {
  case $1 in
    *_abi) echo mpi_abi ;;
    *) echo "$1" ;;
  esac
}

# The library and the header's folder that an MPI (openmpi or mpich) has for the standard ABI, if any: its own, or those
# of a wrapper above it that is installed in $MPI_ABI_WRAPPERS/openmpi or .../mpich (tests/mpi/README.md).
abi_library() {
  find -L ${MPI_ABI_WRAPPERS:+"$MPI_ABI_WRAPPERS/$1/lib"} /usr/lib/*/ -maxdepth 1 \
    \( -name "libmpi_abi_$1.so.*" -o -name libmpi_abi.so -path "*/$1/lib/*" \) 2>/dev/null | head -n 1
}
abi_headers() {
  find -L ${MPI_ABI_WRAPPERS:+"$MPI_ABI_WRAPPERS/$1/include"} /usr/lib/*/"mpi_abi_$1/include" \
    /usr/lib/*/"$1/include/standard_abi" -name mpi.h -printf '%h\n' 2>/dev/null | head -n 1
}
has_mpi() { # MPI
  case $1 in
    *_abi) [[ -n $(abi_library "${1%_abi}") && -n $(abi_headers "${1%_abi}") ]] ;;
    *) command -v "mpicc.$1" && command -v "mpirun.$1" ;;
  esac >/dev/null
}
# Makes a program for the standard ABI find this MPI's library.
choose_library() { # MPI
  unset LD_LIBRARY_PATH
  [[ $1 != *_abi ]] || {
    mkdir -p "$TMPDIR/$1.lib"
    for name in libmpi_abi.so libmpi_abi.so.1; do
      ln -sf "$(abi_library "${1%_abi}")" "$TMPDIR/$1.lib/$name"
    done
    export LD_LIBRARY_PATH=$TMPDIR/$1.lib
  }
}
compile_mpi() { # MPI ARGUMENT...
  local mpi=$1
  shift
  case $mpi in
    # The MPIs' compiler wrappers don't know the standard ABI.
    *_abi) cc -isystem "$(abi_headers "${mpi%_abi}")" "$@" -Wl,--no-as-needed "$(abi_library "${mpi%_abi}")" ;;
    *) "mpicc.$mpi" "$@" ;;
  esac
}
# tools/check-mpi with the compilers and the launcher of an MPI, on 2 ranks.
check_mpi() { # MPI ARGUMENT...
  local mpi=$1 compilers
  shift
  case $mpi in
    *_abi) compilers=(--mpicc "cc -isystem $(abi_headers "${mpi%_abi}") -Wl,--no-as-needed $(abi_library "${mpi%_abi}")") ;;
    *) compilers=(--mpicc "mpicc.$mpi" --mpif90 "mpif90.$mpi" --mpicxx "mpicxx.$mpi") ;;
  esac
  (choose_library "$mpi" && tools/check-mpi "${compilers[@]}" --mpirun "mpirun.$(mpi_of "$mpi") -np 2" "$@")
}

# Makes tools/attrcache-run use the interposers in LIBRARY's folder.
served_by() { # LIBRARY
  ATTRCACHE_LIBDIR=$(dirname -- "$(readlink -f -- "$1")")
  export ATTRCACHE_LIBDIR
}

# For tests that go on after a failure, and end with `exit "$((failures != 0))"`.
failures=0
fail() { # WHAT
  printf 'FAILED (%s): %s\n' "${mpi-}${np+, np $np}" "$1"
  failures=$((failures + 1))
}
has() { # TEXT, which must be in $output
  # shellcheck disable=SC2154 # the test sets it
  [[ $output == *"$1"* ]] || fail "no \"$1\" in: $output"
}

# A test must not expect of the interposer what the MPI gets wrong by itself. Succeeds if COMMAND fails natively, and then
# prints "peer bug: Open MPI 5.0.7: WHAT", as check.h does in C.
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
