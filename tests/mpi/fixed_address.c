/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A program at a fixed address that calls MPI through pointers: the functions then seem to be its
 * own. */
#include "check.h"

static int (*volatile set)(MPI_Comm, int, void*) = MPI_Comm_set_attr;
static int (*volatile get)(MPI_Comm, int, void*, int*) = MPI_Comm_get_attr;

int main(int argc, char** argv) {
  void* value = NULL;
  int flag = 0;
  int k;
  int status;
  MPI_Init(&argc, &argv);
  check_begin();
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &k, NULL);
  if (served()) CHECK(k >= 0x40000000); /* one of ours */
  CHECK_EQUAL(set(MPI_COMM_WORLD, k, &k), MPI_SUCCESS);
  CHECK_EQUAL(get(MPI_COMM_WORLD, k, &value, &flag), MPI_SUCCESS);
  CHECK(flag && value == &k);
  MPI_Comm_free_keyval(&k);
  status = check_report();
  MPI_Finalize();
  return status;
}
