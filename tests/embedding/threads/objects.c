/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Communicators, datatypes and windows. Dup copies attributes, and free deletes them. An object
 * whose attributes can't be deleted is not freed.
 */

#include <stdlib.h>

#include "runtime.h"

MPI_Comm tiny_comm_world(void) { return &tiny_me->world; }
MPI_Comm tiny_comm_self(void) { return &tiny_me->self; }
MPI_Datatype tiny_type_int(void) { return &tiny_me->type_int; }

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

int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  if (comm == MPI_COMM_NULL) return MPI_ERR_COMM;
  *group = malloc(sizeof **group);
  if (*group == NULL) return MPI_ERR_NO_MEM;
  (*group)->rank = comm->rank;
  (*group)->size = comm->size;
  return MPI_SUCCESS;
}

int MPI_Group_free(MPI_Group* group) {
  free(*group);
  *group = NULL;
  return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return MPI_ERR_COMM;
  if (comm->barrier != NULL) pthread_barrier_wait(comm->barrier);
  return MPI_SUCCESS;
}

static int make_type(int size, MPI_Datatype* fresh) {
  *fresh = calloc(1, sizeof **fresh);
  if (*fresh == NULL) return MPI_ERR_NO_MEM;
  (*fresh)->size = size;
  return MPI_SUCCESS;
}

int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype* fresh) {
  return old != MPI_DATATYPE_NULL ? make_type(count * old->size, fresh) : MPI_ERR_TYPE;
}

int MPI_Type_size(MPI_Datatype type, int* size) {
  if (type == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
  *size = type->size;
  return MPI_SUCCESS;
}

int MPI_Type_dup(MPI_Datatype type, MPI_Datatype* fresh) {
  MPI_Datatype made;
  int code;
  if (type == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
  code = make_type(type->size, &made);
  if (code != MPI_SUCCESS) return code;
  code = tiny_copy_attributes(tiny_me->types, &type->attributes, type, &made->attributes, made);
  if (code != MPI_SUCCESS) {
    free(made);
    return code;
  }
  *fresh = made;
  return MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype* type) {
  int code;
  if (*type == MPI_DATATYPE_NULL || *type == MPI_INT) return MPI_ERR_TYPE;
  code = tiny_delete_attributes(tiny_me->types, &(*type)->attributes, *type);
  if (code != MPI_SUCCESS) return code;
  free(*type);
  *type = MPI_DATATYPE_NULL;
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
