/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the Fortran programs here do in C: attach a pointer to a communicator or, where `comm` is -1, to a datatype, and see
 * whether it is still that pointer. */
#include <mpi.h>
#include <stdio.h>

static int object;

void put_in_c(int comm, int type, int keyval) {
  if (comm != -1)
    MPI_Comm_set_attr(MPI_Comm_f2c(comm), keyval, &object);
  else
    MPI_Type_set_attr(MPI_Type_f2c(type), keyval, &object);
}

int failed_in_c(int comm, int type, int keyval) {
  void* value = NULL;
  int flag = 0;
  if (comm != -1)
    MPI_Comm_get_attr(MPI_Comm_f2c(comm), keyval, &value, &flag);
  else
    MPI_Type_get_attr(MPI_Type_f2c(type), keyval, &value, &flag);
  if (flag && value == &object) return 0;
  printf("FAILED: the copy on %s is %s, not the pointer\n",
         comm != -1 ? "a communicator" : "a datatype", flag ? "something else" : "absent");
  fflush(stdout);
  return 1;
}
