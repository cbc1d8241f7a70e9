/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What opened_late.c opens. */
#include "check.h"

static int del(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  (void)comm, (void)keyval, (void)extra_state;
  note("del %ld;", (long)value);
  return MPI_SUCCESS;
}

int run(void) {
  MPI_Comm comm;
  MPI_Comm dup;
  void* value = NULL;
  int* upper_bound = NULL;
  int flag = 0;
  int k;
  int status;
  MPI_Init(NULL, NULL);
  check_begin();
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, del, &k, NULL);
  MPI_Comm_set_attr(comm, k, (void*)5);
  MPI_Comm_dup(comm, &dup);
  MPI_Comm_get_attr(dup, k, &value, &flag);
  CHECK(flag && value == (void*)5);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper_bound, &flag);
  CHECK(flag && *upper_bound >= 32767);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&comm);
  CHECK_LOG("del 5;del 5;");
  MPI_Comm_free_keyval(&k);
  status = check_report();
  MPI_Finalize();
  return status;
}
