/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Stands in for MPICH: the few functions of MPICH that our files call, and the differences between
 * its versions that callers of our files see. adapter_test.c includes it once.
 */
#ifndef ATTRCACHE_TESTS_RUNTIMES_MPICH_STAND_IN_H_
#define ATTRCACHE_TESTS_RUNTIMES_MPICH_STAND_IN_H_

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_fortimpl.h"
#include "mpiimpl.h"

static int checks, failures;
#define CHECK(condition)                                             \
  do {                                                               \
    checks++;                                                        \
    if (!(condition)) {                                              \
      failures++;                                                    \
      printf("%s:%d: FAILED: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                \
  } while (0)

/* ---- The part of proposed.c, which is tested elsewhere ---- */

int attrcache_proposed_begin(attrcache_domain* domain) {
  return domain != NULL ? ATTRCACHE_OK : ATTRCACHE_ERR_NULL;
}
int attrcache_proposed_end_session(const void* handle) { return *(const int*)handle; }
int attrcache_proposed_end_file(const void* handle) { return *(const int*)handle; }
int attrcache_proposed_end_all(void) { return MPI_SUCCESS; }

/* ---- MPICH's part ---- */

/* Attribute functions are called without the lock, dup and free within it. */
int MPIR_locked;
#define WITHIN_LOCK(call) (MPIR_locked = 1, MPIR_within_lock(call))
static int MPIR_within_lock(int result) {
  CHECK(MPIR_locked);
  MPIR_locked = 0;
  return result;
}
MPIR_Datatype MPIR_Datatype_builtin[MPIR_DATATYPE_N_BUILTIN];
#ifdef MPIR_ATTR_PAIRTYPES
int MPIR_num_pairtypes = 1;
int MPIR_fortran_false = 9; /* as a program may set it */
#else
MPI_Datatype MPIR_Datatype_index_to_predefined[MPIR_DATATYPE_N_PREDEFINED];
#endif
MPIR_Datatype* MPIR_datatype_of(MPI_Datatype handle) { return (void)handle, NULL; }
struct MPIR_Process_t MPIR_Process;
#ifdef ENABLE_THREADCOMM
_Thread_local UT_array* MPIR_threadcomm_array;
MPIR_threadcomm_tls_t* MPIR_threadcomm_get_tls(MPIR_Threadcomm* threadcomm) {
  return (void)threadcomm, NULL;
}
#endif

int MPIR_Dup_fn(MPI_Comm comm, int keyval, void* extra_state, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra_state, (void)in, (void)out, (void)flag;
  CHECK(!"attrcache copies without calling it");
  return 1;
}

void* MPL_malloc(size_t size, int class) { return class == MPL_MEM_OBJECT ? malloc(size) : NULL; }
void MPL_free(void* memory) { free(memory); }

static char last_message[64];
static int last_number;
int MPIR_Err_create_code(int previous, int fatal, const char function[], int line, int class,
                         const char generic[], const char specific[], ...) {
  CHECK(previous == MPI_SUCCESS && fatal == MPIR_ERR_RECOVERABLE && function != NULL && line > 0);
  snprintf(last_message, sizeof last_message, "%s", generic);
  last_number = 0;
  if (specific != NULL && strstr(specific, "%d") != NULL) {
    va_list arguments;
    va_start(arguments, specific);
    last_number = va_arg(arguments, int);
    va_end(arguments);
  }
  return class;
}

int MPID_Get_universe_size(int* size) { return *size = 0; }

/* ---- What differs between versions ---- */

#ifdef MPIR_ATTR_AS_FORTRAN
/* 5.1 has functions for Fortran, where earlier versions have a parameter; the tests pass that. */
#define MPIR_Comm_get_attr_impl(object, keyval, value, flag, type)                \
  ((type) == MPIR_ATTR_PTR ? MPIR_Comm_get_attr_impl(object, keyval, value, flag) \
                           : MPIR_Comm_get_attr_as_fortran_impl(object, keyval, value, flag))
#define MPIR_Comm_set_attr_impl(object, keyval, value, type)                \
  ((type) == MPIR_ATTR_PTR ? MPIR_Comm_set_attr_impl(object, keyval, value) \
                           : MPIR_Comm_set_attr_as_fortran_impl(object, keyval, value))

/* What MPICH's Fortran binding has around keyvals_in_fortran.h. */
#include "keyvals_in_fortran.h"
static int states_freed;
static void F77_keyval_free(void* extra_state) {
  states_freed++;
  MPL_free(extra_state);
}
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

static int create_in(int of_mpi1, void (*copy_fn)(void), void (*delete_fn)(void),
                     void* extra_state) {
  int keyval = 0;
  F90_CopyFunction* const copy_attr = (F90_CopyFunction*)copy_fn;
  F90_DeleteFunction* const delete_attr = (F90_DeleteFunction*)delete_fn;
  CHECK((of_mpi1 ? MPII_Keyval_create_mpi1(copy_attr, delete_attr, &keyval, extra_state)
                 : MPII_Keyval_create(copy_attr, delete_attr, &keyval, extra_state, F77_COMM)) ==
        MPI_SUCCESS);
  return keyval;
}
#else
static int create_in(int of_mpi1, void (*copy_fn)(void), void (*delete_fn)(void),
                     void* extra_state) {
  int keyval = 0;
  CHECK(MPIR_Comm_create_keyval_impl((MPI_Comm_copy_attr_function*)copy_fn,
                                     (MPI_Comm_delete_attr_function*)delete_fn, &keyval,
                                     extra_state) == MPI_SUCCESS);
  if (of_mpi1) {
    MPII_Keyval_set_f77_proxy(keyval);
  } else {
    MPII_Keyval_set_f90_proxy(keyval);
  }
  return keyval;
}
#endif
#define FUNCTION(function) ((void (*)(void))(function))

#endif /* ATTRCACHE_TESTS_RUNTIMES_MPICH_STAND_IN_H_ */
