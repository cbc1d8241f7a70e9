/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Communicators and windows. Dup copies attributes, and free deletes them. An object whose
 * attributes can't be deleted is not freed.
 */

#include <stdlib.h>

#include "runtime.h"

MPI_Comm tiny_comm_world(void) { return &tiny_me->world; }
MPI_Comm tiny_comm_self(void) { return &tiny_me->self; }

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  if (comm == MPI_COMM_NULL) return MPI_ERR_COMM;
  *rank = comm->rank;
  return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int* size) {
  if (comm == MPI_COMM_NULL) return MPI_ERR_COMM;
  *size = comm->size;
  return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* fresh) {
  MPI_Comm made;
  int code;
  if (comm == MPI_COMM_NULL) return MPI_ERR_COMM;
  made = calloc(1, sizeof *made);
  if (made == NULL) return MPI_ERR_NO_MEM;
  made->rank = comm->rank;
  made->size = comm->size;
  made->barrier = comm->barrier;
  code = tiny_copy_attributes(tiny_me->comms, &comm->attributes, comm, &made->attributes, made);
  if (code != MPI_SUCCESS) {
    free(made);
    return code;
  }
  *fresh = made;
  return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm* comm) {
  int code;
  if (*comm == MPI_COMM_NULL || *comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF) {
    return MPI_ERR_COMM;
  }
  code = tiny_delete_attributes(tiny_me->comms, &(*comm)->attributes, *comm);
  if (code != MPI_SUCCESS) return code;
  free(*comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return MPI_ERR_COMM;
  if (comm->barrier != NULL) pthread_barrier_wait(comm->barrier);
  return MPI_SUCCESS;
}

int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                   MPI_Win* win) {
  MPI_Win made;
  (void)info;
  if (comm == MPI_COMM_NULL) return MPI_ERR_COMM;
  made = calloc(1, sizeof *made);
  if (made == NULL) return MPI_ERR_NO_MEM;
  made->base = base;
  made->size = size;
  made->unit = unit;
  *win = made;
  return MPI_Barrier(comm);
}

int MPI_Win_free(MPI_Win* win) {
  int code;
  if (*win == MPI_WIN_NULL) return MPI_ERR_WIN;
  code = tiny_delete_attributes(tiny_me->wins, &(*win)->attributes, *win);
  if (code != MPI_SUCCESS) return code;
  free(*win);
  *win = MPI_WIN_NULL;
  return MPI_SUCCESS;
}
