# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# How tools/embed gets, prepares and configures MPICH. It is sourced there; see there for what each name means.

versions=(4.0.2 5.0.0 5.0.1 5.0.2 5.1.0a1)
package=mpich
suite=bookworm
packages=(gcc g++ gfortran make python3 dpkg-dev libfabric-dev libhwloc-dev)
library=src/mpi/attr/attrcache

find_version() { # DIRECTORY
  [[ -f $1/src/include/mpiimpl.h && -f $1/maint/version.m4 ]] || return 0
  sed -n 's/^m4_define(\[MPICH_VERSION_m4\],\[\(.*\)\]).*/\1/p' "$1/maint/version.m4"
}

# Like Debian, this uses the datatype engine that builds in a fraction of the time. Attributes need no lock with
# per-vci; --enable-thread-cs=global works as well.
configure_options=(
  --with-device=ch4:ofi --with-libfabric=/usr --with-hwloc=/usr --with-datatype-engine=dataloop
  --enable-threads=multiple --enable-thread-cs=per-vci
  --enable-fortran=all --enable-cxx --enable-shared --disable-static
  FFLAGS=-fallow-argument-mismatch FCFLAGS=-fallow-argument-mismatch
)
# Debian's libfabric.pc names libraries that are there only for static linking; without it, configure finds libfabric itself.
configure_environment=(PKG_CONFIG_LIBDIR=/nonexistent)

# Of a clone's submodules, Debian provides hwloc and libfabric, and UCX is left out.
make_configure() { # DIRECTORY
  cd "$1" && ./autogen.sh -without-{hwloc,ofi,ucx,yaksa}
}

# The edits change sources of what is generated in a release already. What automake and its kin made is right after the
# edits, so it must not look older than they do.
settle() { # DIRECTORY
  find "$1" -name aclocal.m4 -exec touch {} +
  find "$1" \( -name configure -o -name '*.h.in' -o -name Makefile.in \) -exec touch {} +
}
