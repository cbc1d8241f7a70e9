// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/fortran.h"

namespace attrcache::mpi::fortran {
namespace {

AllCalls find() {
  AllCalls n;
  resolve(n.mpi1.create_keyval, "pmpi_keyval_create_");
  resolve(n.mpi1.free_keyval, "pmpi_keyval_free_");
  resolve(n.mpi1.set_attr, "pmpi_attr_put_");
  resolve(n.mpi1.get_attr, "pmpi_attr_get_");
  resolve(n.mpi1.delete_attr, "pmpi_attr_delete_");
#define ATTRCACHE_KIND(kind, word, Comm, comm, ...)               \
  resolve(n.comm.create_keyval, "pmpi_" #comm "_create_keyval_"); \
  resolve(n.comm.free_keyval, "pmpi_" #comm "_free_keyval_");     \
  resolve(n.comm.set_attr, "pmpi_" #comm "_set_attr_");           \
  resolve(n.comm.get_attr, "pmpi_" #comm "_get_attr_");           \
  resolve(n.comm.delete_attr, "pmpi_" #comm "_delete_attr_");
#include "mpi/native/kinds.def"
  return n;
}

}  // namespace

const AllCalls& calls() {
  static const AllCalls found = find();
  return found;
}

}  // namespace attrcache::mpi::fortran
