/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Our files for MPICH without MPICH: callbacks of each language, which must run outside of MPICH's
 * lock. lib/runtimes/mpich/declarations stands in for its headers. tests/runtimes/run tests
 * everything within MPICH itself.
 */
#include <stdio.h>
#include <stdlib.h>

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

int MPIR_Err_create_code(int previous, int fatal, const char function[], int line, int class,
                         const char generic[], const char specific[], ...) {
  CHECK(previous == MPI_SUCCESS && fatal == MPIR_ERR_RECOVERABLE && function != NULL && line > 0);
  return (void)generic, (void)specific, class;
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

/* ---- Users' callbacks ---- */

static int copies, deletes;

static int copy_fn(int handle, int keyval, void* extra_state, void* in, void* out, int* flag) {
  CHECK(!MPIR_locked && handle == 7 && keyval < 0);
  copies++;
  *(void**)out = (char*)in + *(int*)extra_state;
  *flag = 1;
  return 0;
}

static int delete_fn(int handle, int keyval, void* value, void* extra_state) {
  (void)handle, (void)keyval, (void)value, (void)extra_state;
  deletes++;
  return 0;
}

static void fortran_copy(int* handle, int* keyval, MPI_Aint* extra_state, MPI_Aint* in,
                         MPI_Aint* out, int* flag, int* ierror) {
  CHECK(*handle == 7 && *keyval < 0);
  *out = *in + *extra_state;
  *flag = 1;
  *ierror = 0;
}

static void fortran_delete(int* handle, int* keyval, MPI_Aint* value, MPI_Aint* extra_state,
                           int* ierror) {
  CHECK((*handle == 7 || *handle == 8) && *keyval < 0 && *value != 0 && *extra_state == 1000);
  deletes++;
  *ierror = 0;
}

/* MPI-1's: INTEGERs, which are no more than 4 bytes. */
static void mpi1_copy(int* handle, int* keyval, int* extra_state, int* in, int* out, int* flag,
                      int* ierror) {
  CHECK(*handle == 7 && *keyval < 0);
  *out = *in + *extra_state;
  *flag = 1;
  *ierror = 0;
}

static void mpi1_delete(int* handle, int* keyval, int* value, int* extra_state, int* ierror) {
  CHECK((*handle == 7 || *handle == 8) && *keyval < 0 && *value < 0 && *extra_state == -1000);
  deletes++;
  *ierror = 0;
}

/* As MPI::Comm::DUP_FN. */
static int same_copy_fn(int handle, int keyval, void* extra_state, void* in, void* out, int* flag) {
  (void)handle, (void)keyval, (void)extra_state;
  *(void**)out = in;
  *flag = 1;
  return 0;
}

static long long int_seen; /* what delete_seeing_fn has read at its address */
static int delete_seeing_fn(int handle, int keyval, void* value, void* extra_state) {
  (void)handle, (void)keyval, (void)extra_state;
  int_seen = *(MPI_Aint*)value;
  return 0;
}

/* Like the proxies of the C++ binding, to which MPICH before 5.1 says that values are as in C. */
#ifdef MPIR_ATTR_AS_FORTRAN
#define TYPE_PARAMETER
#define CHECK_TYPE
#else
#define TYPE_PARAMETER MPIR_Attr_type type,
#define CHECK_TYPE CHECK(type == MPIR_ATTR_PTR)
#endif
static int copy_proxy(MPI_Comm_copy_attr_function* function, int handle, int keyval,
                      void* extra_state, TYPE_PARAMETER void* value, void** copy, int* flag) {
  CHECK_TYPE;
  return function(handle, keyval, extra_state, value, copy, flag);
}

static int delete_proxy(MPI_Comm_delete_attr_function* function, int handle, int keyval,
                        TYPE_PARAMETER void* value, void* extra_state) {
  CHECK_TYPE;
  return function(handle, keyval, value, extra_state);
}

/* ---- The tests ---- */

static MPIR_Comm comm = {.handle = 7}, copy = {.handle = 8};
static char value[16];

static int create(MPI_Comm_copy_attr_function* copy_attr,
                  MPI_Comm_delete_attr_function* delete_attr, void* extra_state) {
  int keyval = 0;
  CHECK(MPIR_Comm_create_keyval_impl(copy_attr, delete_attr, &keyval, extra_state) == MPI_SUCCESS);
  CHECK(((unsigned)keyval & 0xe0000000u) == MPIR_ATTR_KEYVALS);
  return keyval;
}

/* The value of `keyval` on the copy, as an address-sized INTEGER, and as C reads it. */
static MPI_Aint copied(int keyval, void** for_c) {
  void* result = NULL;
  int flag = 0;
  CHECK(MPIR_Comm_get_attr_impl(&copy, keyval, for_c, &flag, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(flag == 1);
  CHECK(MPIR_Comm_get_attr_impl(&copy, keyval, &result, &flag, MPIR_ATTR_AINT) == MPI_SUCCESS);
  return (MPI_Aint)result;
}

static void dup(void) {
  CHECK(WITHIN_LOCK(MPIR_Attr_copy_all(MPIR_ATTR_COMM, 7, &comm.attributes, 8, &copy.attributes)) ==
        MPI_SUCCESS);
}
static void free_both(void) {
  CHECK(WITHIN_LOCK(MPIR_Attr_delete_all(MPIR_ATTR_COMM, 8, &copy.attributes)) == MPI_SUCCESS);
  CHECK(WITHIN_LOCK(MPIR_Attr_delete_all(MPIR_ATTR_COMM, 7, &comm.attributes)) == MPI_SUCCESS);
}

static void test_languages(void) {
  int two = 2, negative = -1000;
  MPI_Aint thousand = 1000;
  int cxx = create(copy_fn, delete_fn, &two);
  int fortran = create_in(0, FUNCTION(fortran_copy), FUNCTION(fortran_delete), &thousand);
  int mpi1 = create_in(1, FUNCTION(mpi1_copy), FUNCTION(mpi1_delete), &negative);
  void* for_c;
  MPII_Keyval_set_proxy(cxx, copy_proxy, delete_proxy);
  MPII_Keyval_set_proxy(MPI_KEYVAL_INVALID, copy_proxy, delete_proxy);
  thousand = negative = 0; /* as if their scope had ended */
  copies = deletes = 0;
  CHECK(MPIR_Comm_set_attr_impl(&comm, cxx, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(MPIR_Comm_set_attr_impl(&comm, fortran, (void*)(intptr_t)1, MPIR_ATTR_AINT) == MPI_SUCCESS);
  CHECK(MPIR_Comm_set_attr_impl(&comm, mpi1, (void*)(intptr_t)-2, MPIR_ATTR_INT) == MPI_SUCCESS);
  dup();
  copied(cxx, &for_c);
  CHECK(for_c == value + 2 && copies == 1);
  CHECK(copied(fortran, &for_c) == 1001 && *(MPI_Aint*)for_c == 1001);
  CHECK(copied(mpi1, &for_c) == -1002 && *(MPI_Fint*)for_c == -1002);
  free_both();
  CHECK(deletes == 6);
  MPIR_Comm_free_keyval_impl(&cxx);
  MPIR_Comm_free_keyval_impl(&fortran);
  MPIR_Comm_free_keyval_impl(&mpi1);
}

/* C++ functions get the address of what Fortran has set. If a copy function returns it, the copy is
 * the value there. */
static void test_addresses_in_cxx(void) {
  int keyval = create(same_copy_fn, delete_seeing_fn, NULL);
  void* for_c;
  MPII_Keyval_set_proxy(keyval, copy_proxy, delete_proxy);
  CHECK(MPIR_Comm_set_attr_impl(&comm, keyval, (void*)(intptr_t)-42, MPIR_ATTR_AINT) ==
        MPI_SUCCESS);
  dup();
  CHECK(copied(keyval, &for_c) == -42 && *(MPI_Aint*)for_c == -42);
  free_both();
  CHECK(int_seen == -42);
  CHECK(MPIR_Comm_set_attr_impl(&comm, keyval, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  dup();
  copied(keyval, &for_c);
  CHECK(for_c == value);
  free_both();
  MPIR_Comm_free_keyval_impl(&keyval);
}

#ifdef MPIR_ATTR_AS_FORTRAN
static int raw_copy(int handle, int keyval, void* extra_state, void* in, void* out, int* flag) {
  (void)keyval;
  CHECK(handle == 7 && *(int*)extra_state == 5);
  *(intptr_t*)out = (intptr_t)in + 1;
  *flag = 1;
  return 0;
}
static int raw_delete(int handle, int keyval, void* in, void* extra_state) {
  (void)handle, (void)keyval;
  CHECK(*(int*)extra_state == 5);
  deletes += (int)(intptr_t)in;
  return 0;
}
static int destroyed;
static void destroy(void* extra_state) { destroyed += *(int*)extra_state; }

/* Functions for bindings of other languages get values as they were set, and a copy is of its
 * original's type. */
static void test_keyval_x(void) {
  int state = 5, keyval = 0;
  void* for_c;
  CHECK(MPIR_Comm_create_keyval_x_impl(raw_copy, raw_delete, destroy, &keyval, &state) ==
        MPI_SUCCESS);
  CHECK(MPIR_Comm_set_attr_as_fortran_impl(&comm, keyval, (void*)(intptr_t)40) == MPI_SUCCESS);
  dup();
  CHECK(copied(keyval, &for_c) == 41 && *(MPI_Aint*)for_c == 41);
  CHECK(MPIR_Comm_set_attr_impl(&copy, keyval, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(copied(keyval, &for_c) == (MPI_Aint)value && for_c == value);
  CHECK(MPIR_Comm_set_attr_impl(&copy, keyval, NULL, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(MPIR_Comm_free_keyval_impl(&keyval) == MPI_SUCCESS && destroyed == 0);
  deletes = 0;
  free_both();
  CHECK(deletes == 40 && destroyed == 5);
  CHECK(states_freed == 2); /* of the two keyvals made in Fortran above */
}
#else
static void test_keyval_x(void) {}
#endif

int main(void) {
  CHECK(MPIR_Attr_init() == MPI_SUCCESS);
  MPIR_Attr_take_predefined();
  test_languages();
  test_addresses_in_cxx();
  test_keyval_x();
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}
