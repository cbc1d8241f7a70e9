/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The C half of fortran.F90: C sets and reads what Fortran reads and sets. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

static int copies;
static int deletes;
int c_copies(void) { return copies; }
int c_deletes(void) { return deletes; }

int c_served(void) {
  const char* s = getenv("ATTRCACHE_TEST_SERVED");
  return s != NULL && *s == '1';
}

int c_on_openmpi(void) {
#ifdef OPEN_MPI
  return 1;
#else
  return 0;
#endif
}

static int copy(MPI_Comm c, int k, void* e, void* in, void* out, int* flag) {
  (void)c, (void)k, (void)e;
  ++copies;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int del(MPI_Comm c, int k, void* value, void* e) {
  (void)c, (void)k, (void)value, (void)e;
  ++deletes;
  return MPI_SUCCESS;
}

int c_create(int kind) {
  int k = MPI_KEYVAL_INVALID;
  if (kind == 0) MPI_Comm_create_keyval(copy, del, &k, NULL);
  if (kind == 1) MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &k, NULL);
  if (kind == 2) MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &k, NULL);
  return k;
}

void c_set(int kind, int object, int keyval, intptr_t value) {
  if (kind == 0) MPI_Comm_set_attr(MPI_Comm_f2c(object), keyval, (void*)value);
  if (kind == 1) MPI_Type_set_attr(MPI_Type_f2c(object), keyval, (void*)value);
  if (kind == 2) MPI_Win_set_attr(MPI_Win_f2c(object), keyval, (void*)value);
}

/* kind 3: MPI_TAG_UB; 4: MPI_WIN_DISP_UNIT. */
intptr_t c_get(int kind, int object, int keyval, int how) {
  void* value = NULL;
  int flag = 0;
  if (kind == 0) MPI_Comm_get_attr(MPI_Comm_f2c(object), keyval, &value, &flag);
  if (kind == 1) MPI_Type_get_attr(MPI_Type_f2c(object), keyval, &value, &flag);
  if (kind == 2) MPI_Win_get_attr(MPI_Win_f2c(object), keyval, &value, &flag);
  if (kind == 3) MPI_Comm_get_attr(MPI_Comm_f2c(object), MPI_TAG_UB, &value, &flag);
  if (kind == 4) MPI_Win_get_attr(MPI_Win_f2c(object), MPI_WIN_DISP_UNIT, &value, &flag);
  if (!flag) return -77;
  return how == 0 ? (intptr_t)value : how == 1 ? *(int*)value : *(intptr_t*)value;
}
