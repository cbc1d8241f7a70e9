# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# How tools/embed gets and configures Open MPI. It is sourced there; see there for what each name means.

versions=(5.0.7 5.0.10{rc2,} 6.0.0a1) # rc2 is what 5.0.10 calls itself in its repository
package=openmpi
suite=trixie
# A clone has neither configure nor what flex makes.
packages=(gcc g++ gfortran make perl python3 dpkg-dev zlib1g-dev libevent-dev libhwloc-dev autoconf automake libtool flex)
library=ompi/attribute

find_version() { # DIRECTORY
  [[ -f $1/VERSION && -f $1/ompi/attribute/attribute.c ]] || return 0
  sed -n -E 's/^(major|minor|release|greek)=(.*)$/\2/p' "$1/VERSION" | paste -s -d . | sed 's/\.\([^.]*\)$/\1/'
}

make_configure() { # DIRECTORY
  cd "$1" && ./autogen.pl --force --no-3rdparty hwloc,libevent
}

# A complete MPI for one machine and TCP, in a third of the time that all of Open MPI takes to build. Left out are other
# networks, accelerators and batch systems, OpenSHMEM, Java, ROMIO (OMPIO is there), and components that are only
# used where they are asked for. PMIx and PRRTE are those of the source, so that mpirun needs nothing that isn't in PREFIX.
unneeded=(
  btl-{ofi,portals4,smcuda,uct,usnic} coll-{adapt,ftagree,monitoring} common-{monitoring,ofi}
  fcoll-{dynamic,dynamic_gen2,vulcan} hook-comm_method mtl op-avx osc-monitoring pml-{cm,monitoring,v}
  reachable-netlink sharedfp-lockedfile topo-treematch vprotocol
)
configure_options=(
  --with-hwloc=external --with-libevent=external --with-pmix=internal --with-prrte=internal
  --enable-mpi-fortran=usempif08 --disable-debug-symbols --disable-dependency-tracking --disable-sphinx
  --disable-oshmem --disable-io-romio --disable-mpi-java
  --without-{cuda,hcoll,knem,lustre,ofi,portals4,psm2,rocm,sge,slurm,tm,treematch,ucc,ucx,xpmem,ze}
  "--enable-mca-no-build=$(IFS=, && echo "${unneeded[*]}")"
  CFLAGS=-O2 CXXFLAGS=-O2 FCFLAGS=-O1
)
