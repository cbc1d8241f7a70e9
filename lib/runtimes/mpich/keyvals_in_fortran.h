/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Keyvals of Fortran programs, in the Fortran binding of MPICH 5.1. This replaces the code of
 * user_proxy.c, which includes it. It calls MPI's public functions alone, as all of that binding
 * does, so it works above any library that has them. The proxies of the three kinds, and what frees
 * a keyval's state, are that file's.
 */
#include "attrcache/attrcache.h"

/* After it. */
#include "known_in_fortran.h"

#define MPIR_ATTR_FALSE MPIR_fortran_false
#include "mpir_attr_fortran.h"

static int F77_attr_copy_proxy(int handle, int keyval, void* context, void* value_in,
                               void* value_out, int* flag) {
  MPI_Aint copy = 0;
  const int error = copy_by_fortran(context, handle, keyval, (MPI_Aint)value_in, &copy, flag);

  *(void**)value_out = (void*)copy;
  return error;
}

static int F77_attr_delete_proxy(int handle, int keyval, void* value, void* context) {
  return delete_by_fortran(context, handle, keyval, (MPI_Aint)value);
}

static void F77_keyval_free(void* extra_state);
#define MPIR_ATTR_PROXIES(Kind, Handle)                                            \
  static int F77_##Kind##_attr_copy_proxy(Handle, int, void*, void*, void*, int*); \
  static int F77_##Kind##_attr_delete_proxy(Handle, int, void*, void*);
MPIR_ATTR_PROXIES(Comm, MPI_Comm)
MPIR_ATTR_PROXIES(Type, MPI_Datatype)
MPIR_ATTR_PROXIES(Win, MPI_Win)

/* MPI's DUP_FN stays DUP_FN, so a copy has the type of the original. C's name for it means
 * Fortran's own here, except above the standard ABI. (Those that do nothing are called, as MPICH's
 * own functions take no null pointers.) */
#ifdef MPI_COMM_DUP_FN
#define MPIR_ATTR_DUP_FN(Kind, KIND) MPI_##KIND##_DUP_FN
#else
#define MPIR_ATTR_DUP_FN(Kind, KIND) ((MPI_##Kind##_copy_attr_function*)MPIR_Dup_fn)
#endif
#define MPIR_ATTR_CREATE(Kind, KIND)                                                          \
  MPIX_##Kind##_create_keyval_x(                                                              \
      copy == ATTRCACHE_DUP_FN ? MPIR_ATTR_DUP_FN(Kind, KIND) : F77_##Kind##_attr_copy_proxy, \
      F77_##Kind##_attr_delete_proxy, F77_keyval_free, keyval, state)

static int create_in_fortran(F90_CopyFunction* copy_fn, F90_DeleteFunction* delete_fn, int* keyval,
                             const void* extra_state, enum F77_handle_type type, int of_mpi1) {
  attrcache_callback* const copy = attrcache_known_in_fortran((attrcache_callback*)copy_fn);
  attrcache_callback* const delete = attrcache_known_in_fortran((attrcache_callback*)delete_fn);
  Fortran_functions* const state = MPL_malloc(sizeof *state, MPL_MEM_OBJECT);
  int error;

  if (state == NULL) return MPI_ERR_NO_MEM;
  *state = functions_of_fortran(copy, delete, of_mpi1, extra_state);
  error = type == F77_COMM       ? MPIR_ATTR_CREATE(Comm, COMM)
          : type == F77_DATATYPE ? MPIR_ATTR_CREATE(Type, TYPE)
                                 : MPIR_ATTR_CREATE(Win, WIN);
  if (error != MPI_SUCCESS) MPL_free(state);
  return error;
}

int MPII_Keyval_create(F90_CopyFunction* copy_fn, F90_DeleteFunction* delete_fn, int* keyval,
                       void* extra_state, enum F77_handle_type type) {
  return create_in_fortran(copy_fn, delete_fn, keyval, extra_state, type, 0);
}

/* MPI_KEYVAL_CREATE, whose functions get INTEGERs. */
int MPII_Keyval_create_mpi1(F90_CopyFunction* copy_fn, F90_DeleteFunction* delete_fn, int* keyval,
                            void* extra_state) {
  return create_in_fortran(copy_fn, delete_fn, keyval, extra_state, F77_COMM, 1);
}
