// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/report/calls.h"

#include "mpi/native/native.h"

namespace attrcache::mpi::report {
namespace {

MpiCalls find() {
  MpiCalls c;
  resolve(c.comm_rank, "PMPI_Comm_rank");
  resolve(c.comm_size, "PMPI_Comm_size");
  resolve(c.igather, "PMPI_Igather");
  resolve(c.igatherv, "PMPI_Igatherv");
  resolve(c.test, "PMPI_Test");
  return c;
}

}  // namespace

const MpiCalls& calls() {
  static const MpiCalls found = find();
  return found;
}

}  // namespace attrcache::mpi::report
