// SPDX-License-Identifier: Apache-2.0 OR MIT
// What Fortran has set under a keyval of C++'s is duplicated by MPI::Comm::DUP_FN as it is.
#include <mpi.h>

#include <cstdio>
extern "C" void mpi_comm_set_attr_(MPI_Fint*, MPI_Fint*, MPI_Aint*, MPI_Fint*);
static int delete_fn(MPI::Comm&, int, void*, void*) { return MPI_SUCCESS; }
int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  MPI_Fint keyval = MPI::Comm::Create_keyval(MPI::Comm::DUP_FN, delete_fn, nullptr);
  MPI_Fint self = MPI_Comm_c2f(MPI_COMM_SELF), error;
  MPI_Aint value = 42, *copy = nullptr;
  MPI_Comm dup;
  int flag = 0;
  mpi_comm_set_attr_(&self, &keyval, &value, &error);
  MPI_Comm_dup(MPI_COMM_SELF, &dup);
  MPI_Comm_get_attr(dup, keyval, &copy, &flag);
  value = flag ? *copy : -1;
  std::printf("set to 42; the copy is %ld\n", static_cast<long>(value));
  MPI_Comm_free(&dup);
  MPI::Finalize();
  return value != 42;
}
