// SPDX-License-Identifier: Apache-2.0 OR MIT
// A delete function may use the attribute whose value it deletes, and delete it: there is nothing
// left to do then.
#include <mpi.h>
#include <stdio.h>
static int calls;
static int again(MPI_Comm c, int k, void* v, void* e) {
  return (void)v, (void)e, ++calls > 9 ? 0 : MPI_Comm_delete_attr(c, k);
}
int main(int argc, char** argv) {
  int keyval;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, again, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  MPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
  printf("%d calls for one value\n", calls);
  fflush(stdout);
  MPI_Finalize();
  return calls != 1;
}
