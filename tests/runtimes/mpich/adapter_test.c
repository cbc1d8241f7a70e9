/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Our files for MPICH, tried without MPICH: with the declarations of ours that stand in for its
 * headers, and stand_in.h for the rest. What runs in MPICH itself is tested by tests/runtimes/run.
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

/* Leaves the flag as it is: .FALSE. */
static void silent_fortran_copy(int* handle, int* keyval, MPI_Aint* extra_state, MPI_Aint* in,
                                MPI_Aint* out, int* flag, int* ierror) {
  (void)handle, (void)keyval, (void)extra_state, (void)in, (void)out, (void)flag;
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

static long long int_seen; /* what the address that delete_seeing_fn gets holds */
static int delete_seeing_fn(int handle, int keyval, void* value, void* extra_state) {
  (void)handle, (void)keyval, (void)extra_state;
  int_seen = *(MPI_Aint*)value;
  return 0;
}

/* As the C++ binding's, which MPICH before 5.1 tells that it gets what C gets. */
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
static MPIR_Datatype type = {.handle = 9};
static char value[16];

/* What C reads: the value, or the address of one. */
static void* got(int keyval, int expected_flag) {
  void* result = NULL;
  int flag = -1;
  CHECK(MPIR_Comm_get_attr_impl(&comm, keyval, &result, &flag, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(flag == expected_flag);
  return result;
}

static int create(MPI_Comm_copy_attr_function* copy_attr,
                  MPI_Comm_delete_attr_function* delete_attr, void* extra_state) {
  int keyval = 0;
  CHECK(MPIR_Comm_create_keyval_impl(copy_attr, delete_attr, &keyval, extra_state) == MPI_SUCCESS);
  CHECK(((unsigned)keyval & 0xe0000000u) == MPIR_ATTR_KEYVALS);
  return keyval;
}

static int is_error(int error, int class, const char* message) {
  const int right = error == class && strcmp(last_message, message) == 0;
  if (!right)
    printf("error %d, \"%s\"; expected %d, \"%s\"\n", error, last_message, class, message);
  return right;
}

static void test_one_attribute(void) {
  void* result;
  int flag;
  int keyval = create(NULL, delete_fn, NULL);
  const int saved = keyval;
  deletes = 0;
  CHECK(got(keyval, 0) == NULL);
  CHECK(MPIR_Comm_set_attr_impl(&comm, keyval, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(got(keyval, 1) == value);
  refuse = 1;
  CHECK(is_error(MPIR_Comm_set_attr_impl(&comm, keyval, NULL, MPIR_ATTR_PTR), MPI_ERR_OTHER,
                 "**user"));
  CHECK(last_number == 77);
  CHECK(is_error(MPIR_Comm_delete_attr_impl(&comm, keyval), MPI_ERR_OTHER, "**user"));
  refuse = 0;
  CHECK(got(keyval, 1) == value && deletes == 2);
  CHECK(MPIR_Comm_delete_attr_impl(&comm, keyval) == MPI_SUCCESS);
  CHECK(MPIR_Comm_delete_attr_impl(&comm, keyval) == MPI_SUCCESS);
  CHECK(deletes == 3);
  /* As Fortran sets and reads. */
  CHECK(MPIR_Comm_set_attr_impl(&comm, keyval, (void*)(intptr_t)-5, MPIR_ATTR_AINT) == MPI_SUCCESS);
  CHECK(MPIR_Comm_get_attr_impl(&comm, keyval, &result, &flag, MPIR_ATTR_INT) == MPI_SUCCESS);
  CHECK(flag == 1 && (intptr_t)result == -5);
  CHECK(*(MPI_Aint*)got(keyval, 1) == -5);
  CHECK(MPIR_Comm_set_attr_impl(&comm, keyval, (void*)(intptr_t)-6, MPIR_ATTR_INT) == MPI_SUCCESS);
  CHECK(*(MPI_Fint*)got(keyval, 1) == -6);

  CHECK(MPIR_Comm_free_keyval_impl(&keyval) == MPI_SUCCESS);
  CHECK(keyval == MPI_KEYVAL_INVALID);
  CHECK(*(MPI_Fint*)got(saved, 1) == -6);
  CHECK(MPIR_Comm_delete_attr_impl(&comm, saved) == MPI_SUCCESS);
  CHECK(is_error(MPIR_Comm_get_attr_impl(&comm, saved, &result, &flag, MPIR_ATTR_PTR),
                 MPI_ERR_KEYVAL, "**keyval"));
}

static void test_errors(void) {
  void* result;
  int flag, type_keyval = 0;
  int predefined = MPI_TAG_UB;
  CHECK(is_error(MPIR_Comm_get_attr_impl(&comm, MPI_KEYVAL_INVALID, &result, &flag, MPIR_ATTR_PTR),
                 MPI_ERR_KEYVAL, "**keyvalinvalid"));
  CHECK(is_error(MPIR_Comm_get_attr_impl(&comm, MPI_WIN_BASE, &result, &flag, MPIR_ATTR_PTR),
                 MPI_ERR_KEYVAL, "**keyvalobj"));
  CHECK(is_error(MPIR_Comm_set_attr_impl(&comm, 0x40000000, value, MPIR_ATTR_PTR), MPI_ERR_KEYVAL,
                 "**keyval"));
  CHECK(is_error(MPIR_Comm_set_attr_impl(&comm, MPI_TAG_UB, value, MPIR_ATTR_PTR), MPI_ERR_KEYVAL,
                 "**permattr"));
  CHECK(is_error(MPIR_Comm_delete_attr_impl(&comm, MPI_TAG_UB + 1), MPI_ERR_KEYVAL, "**permattr"));
  CHECK(is_error(MPIR_Comm_free_keyval_impl(&predefined), MPI_ERR_KEYVAL, "**permattr"));
  CHECK(is_error(MPIR_Comm_free_keyval_impl(NULL), MPI_ERR_ARG, "**nullptr"));
  CHECK(MPIR_Type_create_keyval_impl(NULL, NULL, &type_keyval, NULL) == MPI_SUCCESS);
  CHECK(is_error(MPIR_Comm_set_attr_impl(&comm, type_keyval, value, MPIR_ATTR_PTR), MPI_ERR_KEYVAL,
                 "**keyvalobj"));
  CHECK(MPIR_Type_free_keyval_impl(&type_keyval) == MPI_SUCCESS);
}

static void test_predefined(void) {
  void* result;
  int flag;
  CHECK(*(int*)got(MPI_TAG_UB, 1) == 32767);
  CHECK(*(int*)got(MPI_IO, 1) == -2 && *(int*)got(MPI_LASTUSEDCODE, 1) == 70);
  MPIR_Process.attrs.lastusedcode = 71;
  CHECK(*(int*)got(MPI_LASTUSEDCODE, 1) == 71);
  *(int*)got(MPI_LASTUSEDCODE, 1) = 0;
  CHECK(MPIR_Process.attrs.lastusedcode == 71);
  CHECK(MPIR_Comm_get_attr_impl(&comm, MPI_TAG_UB + 1, &result, &flag, MPIR_ATTR_INT) ==
        MPI_SUCCESS);
  CHECK(flag == 1 && (intptr_t)result == 32767);
  got(MPI_APPNUM, 0);
  MPIR_Process.attrs.appnum = 3;
  CHECK(*(int*)got(MPI_APPNUM, 1) == 3);
  /* The device is asked once, with or without success. */
  universe_size = -1;
  got(MPI_UNIVERSE_SIZE, 0);
  got(MPI_UNIVERSE_SIZE, 0);
  CHECK(universe_asked == 1);
  MPIR_Process.attrs.universe = MPIR_UNIVERSE_SIZE_NOT_SET;
  universe_size = 12;
  CHECK(*(int*)got(MPI_UNIVERSE_SIZE, 1) == 12);
  CHECK(MPIR_Comm_get_attr_impl(&comm, MPI_UNIVERSE_SIZE + 1, &result, &flag, MPIR_ATTR_AINT) ==
        MPI_SUCCESS);
  CHECK(flag == 1 && (intptr_t)result == 12 && universe_asked == 2);
}

static void test_window(void) {
  MPIR_Win win = {.handle = 11,
                  .base = value,
                  .size = sizeof value,
                  .disp_unit = 4,
                  .create_flavor = 1,
                  .model = 2};
  void* result;
  int flag;
  const int keyvals[] = {MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL},
            values[] = {4, 1, 2};
  CHECK(MPIR_Win_get_attr_impl(&win, MPI_WIN_BASE, &result, &flag, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(flag == 1 && result == value);
  CHECK(MPIR_Win_get_attr_impl(&win, MPI_WIN_BASE + 1, &result, &flag, MPIR_ATTR_AINT) ==
        MPI_SUCCESS);
  CHECK(flag == 1 && result == value);
  CHECK(MPIR_Win_get_attr_impl(&win, MPI_WIN_SIZE, &result, &flag, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(flag == 1 && *(MPI_Aint*)result == sizeof value && result != &win.size);
  for (int i = 0; i < 3; i++) {
    CHECK(MPIR_Win_get_attr_impl(&win, keyvals[i], &result, &flag, MPIR_ATTR_PTR) == MPI_SUCCESS);
    CHECK(flag == 1 && *(int*)result == values[i]);
    CHECK(MPIR_Win_get_attr_impl(&win, keyvals[i] + 1, &result, &flag, MPIR_ATTR_INT) ==
          MPI_SUCCESS);
    CHECK(flag == 1 && (intptr_t)result == values[i]);
  }
  CHECK(MPIR_Attr_is_empty(&win.attributes));
}

static void test_dup(void) {
  int two = 2;
  int keyval = create(copy_fn, delete_fn, &two), dup = create(MPIR_Dup_fn, NULL, NULL);
  copies = deletes = 0;
  CHECK(MPIR_Comm_set_attr_impl(&comm, keyval, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(MPIR_Comm_set_attr_impl(&comm, dup, (void*)(intptr_t)5, MPIR_ATTR_AINT) == MPI_SUCCESS);
  CHECK(!MPIR_Attr_is_empty(&comm.attributes) && MPIR_Attr_is_empty(&copy.attributes));
  CHECK(WITHIN_LOCK(MPIR_Attr_copy_all(MPIR_ATTR_COMM, 7, &comm.attributes, 8, &copy.attributes)) ==
        MPI_SUCCESS);
  CHECK(copies == 1);
  void* result;
  int flag;
  CHECK(MPIR_Comm_get_attr_impl(&copy, keyval, &result, &flag, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(flag == 1 && result == value + 2);
  CHECK(MPIR_Comm_get_attr_impl(&copy, dup, &result, &flag, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(flag == 1 && *(MPI_Aint*)result == 5);
  refuse = 1;
  CHECK(is_error(WITHIN_LOCK(MPIR_Attr_delete_finally(MPIR_ATTR_COMM, 8, &copy.attributes)),
                 MPI_ERR_OTHER, "**user"));
  refuse = 0;
  CHECK(deletes == 1 && MPIR_Attr_is_empty(&copy.attributes));
  CHECK(WITHIN_LOCK(MPIR_Attr_delete_all(MPIR_ATTR_COMM, 7, &comm.attributes)) == MPI_SUCCESS);
  CHECK(deletes == 2 && MPIR_Attr_is_empty(&comm.attributes));
  CHECK(MPIR_Comm_free_keyval_impl(&keyval) == MPI_SUCCESS &&
        MPIR_Comm_free_keyval_impl(&dup) == MPI_SUCCESS);
}

/* How `keyval` is on the copy, read as an address-sized INTEGER, and as C does. */
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
  int silent = create_in(0, FUNCTION(silent_fortran_copy), NULL, &thousand);
  void* for_c;
  int flag = 1;
  MPII_Keyval_set_proxy(cxx, copy_proxy, delete_proxy);
  MPII_Keyval_set_proxy(MPI_KEYVAL_INVALID, copy_proxy, delete_proxy);
  thousand = negative = 0; /* gone with their caller */
  copies = deletes = 0;
  CHECK(MPIR_Comm_set_attr_impl(&comm, cxx, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(MPIR_Comm_set_attr_impl(&comm, fortran, (void*)(intptr_t)1, MPIR_ATTR_AINT) == MPI_SUCCESS);
  CHECK(MPIR_Comm_set_attr_impl(&comm, mpi1, (void*)(intptr_t)-2, MPIR_ATTR_INT) == MPI_SUCCESS);
  CHECK(MPIR_Comm_set_attr_impl(&comm, silent, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  dup();
  copied(cxx, &for_c);
  CHECK(for_c == value + 2 && copies == 1);
  CHECK(copied(fortran, &for_c) == 1001 && *(MPI_Aint*)for_c == 1001);
  CHECK(copied(mpi1, &for_c) == -1002 && *(MPI_Fint*)for_c == -1002);
  CHECK(MPIR_Comm_get_attr_impl(&copy, silent, &for_c, &flag, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(flag == 0);
  free_both();
  CHECK(deletes == 6);
  MPIR_Comm_free_keyval_impl(&cxx);
  MPIR_Comm_free_keyval_impl(&fortran);
  MPIR_Comm_free_keyval_impl(&mpi1);
  MPIR_Comm_free_keyval_impl(&silent);
}

/* Value and tag stay what they were, without a call. */
static void test_known_in_fortran(void) {
  MPI_Aint none = 0;
  int mpi1 = create_in(1, mpi_dup_fn_, mpi_null_delete_fn_, &none);
  int fortran = create_in(0, mpi_comm_dup_fn__, NULL, &none);
  int nothing = create_in(0, null_copy_fn, NULL, &none);
  void* for_c;
  int flag = 1;
  CHECK(MPIR_Comm_set_attr_impl(&comm, mpi1, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(MPIR_Comm_set_attr_impl(&comm, fortran, value + 1, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(MPIR_Comm_set_attr_impl(&comm, nothing, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  dup();
  CHECK(copied(mpi1, &for_c) == (MPI_Aint)value && for_c == value);
  CHECK(copied(fortran, &for_c) == (MPI_Aint)value + 1 && for_c == value + 1);
  CHECK(MPIR_Comm_get_attr_impl(&copy, nothing, &for_c, &flag, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(flag == 0);
  free_both();
  MPIR_Comm_free_keyval_impl(&mpi1);
  MPIR_Comm_free_keyval_impl(&fortran);
  MPIR_Comm_free_keyval_impl(&nothing);
}

/* C++ functions get the address of what Fortran has set. A copy function that gives it back means
 * the value. */
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

/* Functions for bindings of other languages: values as they were set, and what is made of one is of
 * its sort. */
static void test_keyval_x(void) {
  int state = 5, keyval = 0, saved;
  void* for_c;
  CHECK(MPIR_Comm_create_keyval_x_impl(raw_copy, raw_delete, destroy, &keyval, &state) ==
        MPI_SUCCESS);
  saved = keyval;
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
  CHECK(is_error(MPIR_Comm_delete_attr_impl(&comm, saved), MPI_ERR_KEYVAL, "**keyval"));
  CHECK(states_freed == 6); /* those of all keyvals that Fortran has made above */
}
#else
static void test_keyval_x(void) {}
#endif

#ifdef ENABLE_THREADCOMM
/* The list of this thread: one parallel region, or none. */
struct UT_array {
  MPIR_Threadcomm* only;
  MPIR_threadcomm_tls_t thread;
};
_Thread_local UT_array* MPIR_threadcomm_array;
MPIR_threadcomm_tls_t* MPIR_threadcomm_get_tls(MPIR_Threadcomm* threadcomm) {
  return MPIR_threadcomm_array->only == threadcomm ? &MPIR_threadcomm_array->thread : NULL;
}

static void test_threads(void) {
  MPIR_Attr_table attributes = ATTRCACHE_TABLE_INIT;
  MPIR_Threadcomm region = {1}, other = {2};
  UT_array list = {&region, {&attributes}};
  int keyval = create(NULL, NULL, NULL);
  CHECK(MPIR_Comm_set_attr_impl(&comm, keyval, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  /* Within the region: another table, in get, set and delete. */
  comm.threadcomm = &region;
  CHECK(got(keyval, 1) == value); /* not yet within */
  MPIR_threadcomm_array = &list;
  got(keyval, 0);
  CHECK(*(int*)got(MPI_TAG_UB, 1) == 32767);
  CHECK(MPIR_Comm_set_attr_impl(&comm, keyval, value + 1, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(got(keyval, 1) == value + 1 && !MPIR_Attr_is_empty(&attributes));
  list.only = &other;
  CHECK(got(keyval, 1) == value);
  list.only = &region;
  CHECK(MPIR_Comm_delete_attr_impl(&comm, keyval) == MPI_SUCCESS);
  got(keyval, 0);
  comm.threadcomm = NULL;
  CHECK(got(keyval, 1) == value);
  MPIR_threadcomm_array = NULL;
  CHECK(MPIR_Comm_delete_attr_impl(&comm, keyval) == MPI_SUCCESS);
  CHECK(WITHIN_LOCK(MPIR_Attr_delete_finally(MPIR_ATTR_COMM, 7, &attributes)) == MPI_SUCCESS);
  CHECK(MPIR_Comm_free_keyval_impl(&keyval) == MPI_SUCCESS);
}
#else
static void test_threads(void) {}
#endif

static MPIR_Datatype f90_type = {.handle = 10};
static void delete_from_f90_types(void) { MPIR_Attr_delete_from_type(&f90_type); }

static void test_finalize(void) {
  int keyval = 0, comm_keyval, ended = -1;
  deletes = 0;
  CHECK(MPIR_Type_create_keyval_impl(NULL, delete_fn, &keyval, NULL) == MPI_SUCCESS);
  CHECK(MPIR_Type_set_attr_impl(&MPIR_Datatype_builtin[2], keyval, value, MPIR_ATTR_PTR) ==
        MPI_SUCCESS);
  CHECK(MPIR_Type_set_attr_impl(&pair, keyval, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(MPIR_Type_set_attr_impl(&type, keyval, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(MPIR_Type_set_attr_impl(&f90_type, keyval, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  MPIR_Attr_delete_from_f90_types = delete_from_f90_types;
  /* MPI_COMM_SELF's first; where that fails, so does MPI_Finalize. */
  MPIR_Process.comm_self = &comm;
  MPIR_Process.comm_world = &copy;
  comm_keyval = create(NULL, delete_fn, NULL);
  CHECK(MPIR_Comm_set_attr_impl(&comm, comm_keyval, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  CHECK(MPIR_Comm_set_attr_impl(&copy, comm_keyval, value, MPIR_ATTR_PTR) == MPI_SUCCESS);
  refuse = 1;
  failure_at_end = 3;
  CHECK(is_error(MPIR_Attr_end_world(&ended), MPI_ERR_OTHER, "**user"));
  CHECK(deletes == 1 && ended == MPI_SUCCESS && MPIR_Attr_is_empty(&comm.attributes));
  refuse = 0;
  CHECK(MPIR_Attr_end_world(&ended) == MPI_SUCCESS && ended == 3);
  /* Types are sessions', too, and there may be some yet. */
  CHECK(deletes == 2 && MPIR_Attr_is_empty(&copy.attributes));
  CHECK(!MPIR_locked && !MPIR_Attr_is_empty(&MPIR_Datatype_builtin[2].attributes));
  MPIR_locked = 1;
  CHECK(MPIR_Attr_delete_from_predefined_objects() == MPI_SUCCESS);
  CHECK(MPIR_locked == 1 && deletes == 5);
  MPIR_locked = 0;
  CHECK(MPIR_Attr_is_empty(&MPIR_Datatype_builtin[2].attributes) &&
        MPIR_Attr_is_empty(&pair.attributes));
  /* Initialized again: keyvals and attributes are the process's. */
  CHECK(MPIR_Attr_init() == MPI_SUCCESS);
  CHECK(MPIR_Type_delete_attr_impl(&type, keyval) == MPI_SUCCESS && deletes == 6);
  CHECK(MPIR_Type_free_keyval_impl(&keyval) == MPI_SUCCESS);
}

int main(void) {
  CHECK(MPIR_Attr_init() == MPI_SUCCESS);
  MPIR_Attr_take_predefined();
  test_one_attribute();
  test_errors();
  test_predefined();
  test_window();
  test_dup();
  test_languages();
  test_known_in_fortran();
  test_addresses_in_cxx();
  test_keyval_x();
  test_threads();
  test_finalize();
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}
