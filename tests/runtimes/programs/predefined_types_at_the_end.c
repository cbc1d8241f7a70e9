/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * MPI_Finalize deletes what is attached to predefined datatypes: plain ones, pair types, and those
 * of MPI_Type_create_f90_real and its kin; each once, while MPI works, so that delete functions may
 * use the datatype, MPI_COMM_SELF and MPI_COMM_WORLD.
 */
#include <mpi.h>
#include <stdio.h>

enum { TYPES = 7 };
static int deleted[TYPES], failed;

static int delete_fn(MPI_Datatype type, int keyval, void* value, void* extra_state) {
  int size = 0, rank = -1, sent = 1, received = 0;
  MPI_Datatype two;
  (void)keyval, (void)extra_state;
  ++*(int*)value;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_contiguous(2, type, &two);
  MPI_Type_size(two, &size);
  MPI_Type_free(&two);
  MPI_Sendrecv(&sent, 1, MPI_INT, 0, 0, &received, 1, MPI_INT, 0, 0, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
  if (rank < 0 || size <= 0 || received != 1) {
    printf("FAILED: rank %d, size %d, received %d\n", rank, size, received), failed = 1;
  }
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Datatype types[TYPES] = {MPI_INT, MPI_DOUBLE, MPI_FLOAT_INT, MPI_DOUBLE_INT};
  int keyval;
  MPI_Init(&argc, &argv);
  MPI_Type_create_f90_integer(9, &types[4]);
  MPI_Type_create_f90_real(6, 30, &types[5]);
  MPI_Type_create_f90_complex(6, 30, &types[6]);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_fn, &keyval, NULL);
  for (int i = 0; i < TYPES; i++) MPI_Type_set_attr(types[i], keyval, &deleted[i]);
  MPI_Finalize();
  for (int i = 0; i < TYPES; i++) {
    if (deleted[i] != 1) printf("FAILED: type %d: deleted %d times\n", i, deleted[i]), failed = 1;
  }
  return failed;
}
