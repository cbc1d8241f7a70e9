/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Freeing a keyval a second time, while an attribute keeps it in use, must not take away what the
 * attribute needs. Natively the attribute's delete callback isn't called any more, or the process
 * crashes.
 */
#include <mpi.h>
#include <stdio.h>

static int deleted;
static int del(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  (void)comm, (void)keyval, (void)value, (void)extra_state;
  ++deleted;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  int k, again, i, other[8];
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, del, &k, NULL);
  MPI_Comm_set_attr(comm, k, NULL);
  again = k;
  MPI_Comm_free_keyval(&k);
  MPI_Comm_free_keyval(&again);
  for (i = 0; i < 8; ++i)
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other[i], NULL);
  MPI_Comm_free(&comm);
  if (deleted != 1) printf("FAILED: the value was deleted %d times\n", deleted);
  MPI_Finalize();
  return deleted != 1;
}
