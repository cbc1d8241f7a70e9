// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/fortran.h"

namespace attrcache::mpi::fortran {
namespace {

Native find() {
  Native n;
  resolve(n.mpi1.create_keyval, "pmpi_keyval_create_");
  resolve(n.mpi1.free_keyval, "pmpi_keyval_free_");
  resolve(n.mpi1.set_attr, "pmpi_attr_put_");
  resolve(n.mpi1.get_attr, "pmpi_attr_get_");
  resolve(n.mpi1.delete_attr, "pmpi_attr_delete_");
#define ATTRCACHE_RESOLVE(calls, name)                          \
  resolve(calls.create_keyval, "pmpi_" name "_create_keyval_"); \
  resolve(calls.free_keyval, "pmpi_" name "_free_keyval_");     \
  resolve(calls.set_attr, "pmpi_" name "_set_attr_");           \
  resolve(calls.get_attr, "pmpi_" name "_get_attr_");           \
  resolve(calls.delete_attr, "pmpi_" name "_delete_attr_")
  ATTRCACHE_RESOLVE(n.comm, "comm");
  ATTRCACHE_RESOLVE(n.type, "type");
  ATTRCACHE_RESOLVE(n.win, "win");
  return n;
}

}  // namespace

const Native& native() {
  static const Native found = find();
  return found;
}

}  // namespace attrcache::mpi::fortran
