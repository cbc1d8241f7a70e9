/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * MPI_Finalize first deletes the attributes of MPI_COMM_SELF, even if a session is open: before MPI
 * is finalized, in the reverse order of setting, and without a lock that would keep a delete
 * function from ending a session.
 */
#include <mpi.h>
#include <stdio.h>

static MPI_Session sessions[2];
static int deleted, failed;

/* `value` is the number of earlier deletions. The last deletion ends a session. */
static int delete_fn(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  int finalized = 1;
  (void)comm, (void)keyval, (void)extra_state;
  MPI_Finalized(&finalized);
  if (finalized || (int)(MPI_Aint)value != deleted++) {
    printf("FAILED: finalized %d, %d deleted after %d\n", finalized, (int)(MPI_Aint)value, deleted);
    failed = 1;
  }
  return deleted == 2 ? MPI_Session_finalize(&sessions[0]) : MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int keyvals[2];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 2; i++) MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[i]);
  for (int i = 0; i < 2; i++) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, &keyvals[i], NULL);
  }
  MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[1], (void*)1);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[0], (void*)0);
  MPI_Finalize();
  if (deleted != 2) printf("FAILED: %d deleted in MPI_Finalize\n", deleted), failed = 1;
  if (MPI_Session_finalize(&sessions[1]) != MPI_SUCCESS || deleted != 2) failed = 1;
  return failed;
}
