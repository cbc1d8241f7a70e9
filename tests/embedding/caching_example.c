/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The example of MPI-1.1 5.7.2, by the names of MPI-2: a collective operation that computes something at its first call
 * and caches it on the communicator. This is an ordinary MPI program. It counts what happened and
 * prints that at the end.
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int ref_count; /* communicators that refer to it */
  int uses;
  int* schedule; /* in which order this rank talks to the others; costly to compute */
} gop_stuff_type;

static int gop_key = MPI_KEYVAL_INVALID;
static int made, copied, deleted, released;

static int gop_stuff_copier(MPI_Comm comm, int keyval, void* extra, void* value_in, void* value_out,
                            int* flag) {
  gop_stuff_type* gop_stuff = value_in;
  (void)comm, (void)extra;
  if (keyval != gop_key) return MPI_ERR_OTHER;
  ++gop_stuff->ref_count; /* the new communicator has the same group, and shares this */
  ++copied;
  *(void**)value_out = value_in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int gop_stuff_destructor(MPI_Comm comm, int keyval, void* value, void* extra) {
  gop_stuff_type* gop_stuff = value;
  (void)comm, (void)keyval, (void)extra;
  ++deleted;
  if (--gop_stuff->ref_count == 0) {
    ++released;
    free(gop_stuff->schedule);
    free(gop_stuff);
  }
  return MPI_SUCCESS;
}

static int Efficient_Collective_Op(MPI_Comm comm) {
  gop_stuff_type* gop_stuff;
  int foundflag, rank, size;

  if (gop_key == MPI_KEYVAL_INVALID) { /* the first call of all */
    if (MPI_Comm_create_keyval(gop_stuff_copier, gop_stuff_destructor, &gop_key, NULL) !=
        MPI_SUCCESS) {
      MPI_Abort(comm, 1);
    }
  }
  MPI_Comm_get_attr(comm, gop_key, &gop_stuff, &foundflag);
  if (!foundflag) { /* the first call on this communicator and on those it was copied from */
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    gop_stuff = malloc(sizeof *gop_stuff);
    if (gop_stuff == NULL) MPI_Abort(comm, 2);
    gop_stuff->ref_count = 1;
    gop_stuff->uses = 0;
    gop_stuff->schedule = malloc((size_t)size * sizeof(int));
    if (gop_stuff->schedule == NULL) MPI_Abort(comm, 3);
    for (int i = 0; i < size; ++i) gop_stuff->schedule[i] = (rank + i) % size;
    ++made;
    MPI_Comm_set_attr(comm, gop_key, gop_stuff);
  }
  ++gop_stuff->uses;
  MPI_Barrier(comm); /* stands for the rest of the operation */
  return gop_stuff->uses;
}

int main(int argc, char** argv) {
  MPI_Comm duplicate, duplicate_of_duplicate;
  int rank, uses, good;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; ++i) Efficient_Collective_Op(MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Comm_dup(duplicate, &duplicate_of_duplicate);
  Efficient_Collective_Op(duplicate);
  uses = Efficient_Collective_Op(duplicate_of_duplicate);
  MPI_Comm_free(&duplicate);
  MPI_Comm_free(&duplicate_of_duplicate);
  Efficient_Collective_Op(MPI_COMM_SELF);
  MPI_Comm_free_keyval(&gop_key); /* in use until MPI_Finalize deletes the last attribute */
  MPI_Finalize();

  good = uses == 12 && made == 2 && copied == 2 && deleted == 4 && released == 2;
  printf("rank %d: %d uses, %d made, %d copied, %d deleted, %d released: %s\n", rank, uses, made,
         copied, deleted, released, good ? "passed" : "FAILED");
  return !good;
}
