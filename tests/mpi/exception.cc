// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Exceptions that leave callbacks end in attrcache: the MPI call fails, and nothing is lost.

#include <mpi.h>

#include <cstdio>
#include <stdexcept>

namespace {

int checks;
int failures;
bool angry = true;

void check(bool good, int line) {
  ++checks;
  if (!good) {
    ++failures;
    std::printf("rank 0: FAILED exception.cc:%d\n", line);
  }
}
#define CHECK(condition) check((condition), __LINE__)

int copy(MPI_Comm, int, void*, void*, void*, int*) { throw std::runtime_error("copy"); }
int del(MPI_Comm, int, void*, void*) {
  if (angry) throw 42;
  return MPI_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm dup = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int key;
  int flag = 0;
  void* value = nullptr;
  MPI_Comm_create_keyval(copy, del, &key, nullptr);
  MPI_Comm_set_attr(comm, key, &key);
  CHECK(MPI_Comm_delete_attr(comm, key) != MPI_SUCCESS);
  CHECK(MPI_Comm_set_attr(comm, key, nullptr) != MPI_SUCCESS);
  CHECK(MPI_Comm_dup(comm, &dup) != MPI_SUCCESS);
  MPI_Comm_get_attr(comm, key, &value, &flag);
  CHECK(flag && value == &key);
  angry = false;
  CHECK(MPI_Comm_delete_attr(comm, key) == MPI_SUCCESS);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free(&comm);
  if (failures == 0) std::printf("rank 0: %d checks passed\n", checks);
  std::fflush(stdout);
  MPI_Finalize();
  return failures != 0;
}
