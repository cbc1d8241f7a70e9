/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Our files for MPICH without MPICH: callbacks of each language, which must run outside of MPICH's
 * lock. lib/runtimes/mpich/declarations stands in for its headers, stand_in.h for the rest.
 * tests/runtimes/run tests everything within MPICH itself.
 */
#include "stand_in.h"

/* ---- Users' callbacks ---- */

static int copies, deletes, refuse;

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
  return refuse ? 77 : 0;
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

static void test_dup_and_free(void) {
  int two = 2;
  int keyval = create(copy_fn, delete_fn, &two), dup_fn = create(MPIR_Dup_fn, NULL, NULL);
  void* for_c;
  copies = deletes = 0;
  CHECK(MPIR_Comm_set_attr_impl(&comm, keyval, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(MPIR_Comm_set_attr_impl(&comm, dup_fn, (void*)(intptr_t)5, MPIR_ATTR_AINT) == MPI_SUCCESS);
  dup();
  copied(keyval, &for_c);
  CHECK(copies == 1 && for_c == value + 2);
  CHECK(copied(dup_fn, &for_c) == 5 && *(MPI_Aint*)for_c == 5);
  refuse = 1;
  CHECK(WITHIN_LOCK(MPIR_Attr_delete_finally(MPIR_ATTR_COMM, 8, &copy.attributes)) ==
        MPI_ERR_OTHER);
  CHECK(strcmp(last_message, "**user") == 0 && last_number == 77);
  refuse = 0;
  CHECK(deletes == 1 && MPIR_Attr_is_empty(&copy.attributes));
  free_both();
  CHECK(deletes == 2 && MPIR_Attr_is_empty(&comm.attributes));
  MPIR_Comm_free_keyval_impl(&keyval);
  MPIR_Comm_free_keyval_impl(&dup_fn);
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
  test_dup_and_free();
  test_languages();
  test_addresses_in_cxx();
  test_keyval_x();
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}
