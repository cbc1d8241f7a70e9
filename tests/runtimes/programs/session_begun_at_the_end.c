/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * MPI_Finalize deletes the attributes of sessions that are still open (attrcache/mpix.h), but none
 * of a session that a delete function begins in the place of one that it ends.
 */
#include <mpi.h>
#include <stdio.h>

#include "attrcache/mpix.h"

static MPI_Session session;
static int keyvals[2], deleted[2], of_new;

static int delete_fn(MPI_Session of, int keyval, void* value, void* extra_state) {
  (void)of, (void)keyval, (void)extra_state;
  ++*(int*)value;
  if (value != &deleted[1]) return MPI_SUCCESS;
  MPI_Session_finalize(&session);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  return MPIX_Session_set_attr(session, keyvals[0], &of_new);
}

int main(int argc, char** argv) {
  int* value = NULL;
  int flag = 0, right;
  MPI_Init(&argc, &argv);
  if (MPIX_Session_create_keyval == NULL) return MPI_Finalize();
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  for (int i = 0; i < 2; i++) {
    MPIX_Session_create_keyval(delete_fn, &keyvals[i], NULL);
    MPIX_Session_set_attr(session, keyvals[i], &deleted[i]);
  }
  MPI_Finalize();
  MPIX_Session_get_attr(session, keyvals[0], &value, &flag);
  right = flag && value == &of_new && !of_new && deleted[0] == 1 && deleted[1] == 1;
  MPI_Session_finalize(&session);
  if (!right || of_new != 1) printf("FAILED: %d %d %d\n", deleted[0], deleted[1], of_new);
  return !right || of_new != 1;
}
