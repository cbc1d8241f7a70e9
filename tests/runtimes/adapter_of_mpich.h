/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* For adapter_test.c. */
#include "mpi_fortimpl.h"
#include "mpiimpl.h"

int MPIR_Dup_fn(MPI_Comm comm, int keyval, void* extra_state, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra_state, (void)in, (void)out, (void)flag;
  abort(); /* attrcache copies without calling it */
}

typedef MPIR_Comm Comm;
#define HANDLE handle

/* The language of a set or get: from 5.1 on functions for Fortran, before it a parameter. */
#ifdef MPIR_ATTR_AS_FORTRAN
#define C(name, ...) MPIR_Comm_##name##_attr_impl(__VA_ARGS__)
#define FORTRAN(name, ...) MPIR_Comm_##name##_attr_as_fortran_impl(__VA_ARGS__)

/* What MPICH's Fortran binding has around keyvals_in_fortran.h. */
#include "keyvals_in_fortran.h"
static void F77_keyval_free(void* extra_state) { MPL_free(extra_state); }
#define PROXIES(Kind)                                                                             \
  static int F77_##Kind##_attr_copy_proxy(int object, int keyval, void* context, void* value,     \
                                          void* copy, int* flag) {                                \
    return F77_attr_copy_proxy(object, keyval, context, value, copy, flag);                       \
  }                                                                                               \
  static int F77_##Kind##_attr_delete_proxy(int object, int keyval, void* value, void* context) { \
    return F77_attr_delete_proxy(object, keyval, value, context);                                 \
  }
PROXIES(Comm)
PROXIES(Type)
PROXIES(Win)
#else
#define C(name, ...) MPIR_Comm_##name##_attr_impl(__VA_ARGS__, MPIR_ATTR_PTR)
#define FORTRAN(name, ...) MPIR_Comm_##name##_attr_impl(__VA_ARGS__, MPIR_ATTR_AINT)
#endif

static void begin(void) {
  if (MPIR_Attr_init() != MPI_SUCCESS) abort();
  MPIR_Attr_take_predefined();
}
static int create(MPI_Comm_delete_attr_function* delete_fn) {
  int keyval = 0;
  MPIR_Comm_create_keyval_impl(MPIR_Dup_fn, delete_fn, &keyval, NULL);
  return keyval;
}
static int create_for_fortran(attrcache_callback* copy_fn, attrcache_callback* delete_fn,
                              MPI_Aint* extra_state) {
  int keyval = 0;
#ifdef MPIR_ATTR_AS_FORTRAN
  MPII_Keyval_create((F90_CopyFunction*)copy_fn, (F90_DeleteFunction*)delete_fn, &keyval,
                     extra_state, F77_COMM);
#else
  MPIR_Comm_create_keyval_impl((MPI_Comm_copy_attr_function*)copy_fn,
                               (MPI_Comm_delete_attr_function*)delete_fn, &keyval, extra_state);
  MPII_Keyval_set_f90_proxy(keyval);
#endif
  return keyval;
}
static void set(Comm* comm, int keyval, void* value) { C(set, comm, keyval, value); }
static void set_in_fortran(Comm* comm, int keyval, MPI_Aint value) {
  FORTRAN(set, comm, keyval, (void*)value);
}
static void* get(Comm* comm, int keyval) {
  void* value = NULL;
  int flag = 0;
  C(get, comm, keyval, &value, &flag);
  return flag ? value : NULL;
}
static MPI_Aint get_in_fortran(Comm* comm, int keyval) {
  void* value = NULL;
  int flag = 0;
  FORTRAN(get, comm, keyval, &value, &flag);
  return (MPI_Aint)value;
}

/* These are called within MPICH's lock, which they leave to run callbacks. */
static int within_lock(int result) {
  if (!MPIR_locked) abort();
  MPIR_locked = 0;
  return result;
}
static void dup(Comm* from, Comm* to) {
  MPIR_locked = 1;
  within_lock(MPIR_Attr_copy_all(MPIR_ATTR_COMM, from->handle, &from->attributes, to->handle,
                                 &to->attributes));
}
static int end(Comm* comm) {
  MPIR_locked = 1;
  return within_lock(MPIR_Attr_delete_all(MPIR_ATTR_COMM, comm->handle, &comm->attributes));
}
