/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Our files for Open MPI and for MPICH without these MPIs: values of C and of Fortran, set, read,
 * copied and deleted in both. Declarations of ours stand in for the MPIs' headers (lib/runtimes).
 * tests/runtimes/run tests everything within the MPIs themselves.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include ADAPTER /* gives a communicator and its functions names that are the same in both */

/* proposed.c is tested elsewhere. */
int attrcache_proposed_begin(attrcache_domain* domain) {
  return domain != NULL ? ATTRCACHE_OK : ATTRCACHE_ERR_NULL;
}
int attrcache_proposed_end_session(const void* handle) { return *(const int*)handle; }
int attrcache_proposed_end_file(const void* handle) { return *(const int*)handle; }
int attrcache_proposed_end_all(void) { return MPI_SUCCESS; }

static int checks;
static void check(long got, long expected, const char* what, int line) {
  ++checks;
  if (got == expected) return;
  printf("FAILED: line %d: %s is %ld, not %ld\n", line, what, got, expected);
  exit(1);
}
#define CHECK_EQUAL(got, expected) check((long)(got), (long)(expected), #got, __LINE__)

static int deleted, refused;
static void* last_value;
static int delete_in_c(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  (void)comm, (void)keyval, (void)extra_state;
  if (refused != 0) return refused;
  ++deleted;
  last_value = value;
  return MPI_SUCCESS;
}

static void copy_in_fortran(MPI_Fint* comm, MPI_Fint* keyval, MPI_Aint* extra_state, MPI_Aint* in,
                            MPI_Aint* out, MPI_Fint* flag, MPI_Fint* error) {
  (void)keyval;
  *out = *in + *extra_state + *comm;
  *flag = 1;
  *error = MPI_SUCCESS;
}
static void delete_in_fortran(MPI_Fint* comm, MPI_Fint* keyval, MPI_Aint* value,
                              MPI_Aint* extra_state, MPI_Fint* error) {
  (void)keyval, (void)value;
  CHECK_EQUAL(*comm == 7 || *comm == 8, 1);
  CHECK_EQUAL(*extra_state, 1000);
  ++deleted;
  *error = MPI_SUCCESS;
}

static Comm comm = {.HANDLE = 7}, copy = {.HANDLE = 8};

/* Under a keyval of C's whose values are copied as they are. */
static void values_of_each_language(void) {
  static char value;
  const int keyval = create(delete_in_c);
  CHECK_EQUAL(get(&comm, keyval), 0);
  set(&comm, keyval, &value);
  CHECK_EQUAL(get(&comm, keyval), &value);
  CHECK_EQUAL(get_in_fortran(&comm, keyval), (MPI_Aint)&value);
  set_in_fortran(&comm, keyval, -22);
  CHECK_EQUAL(deleted, 1);
  CHECK_EQUAL(last_value, &value);
  CHECK_EQUAL(*(MPI_Aint*)get(&comm, keyval), -22);
  /* The copy is a value of its own, not the address of the original's. */
  dup(&comm, &copy);
  CHECK_EQUAL(end(&comm), MPI_SUCCESS);
  CHECK_EQUAL(get_in_fortran(&copy, keyval), -22);
  CHECK_EQUAL(*(MPI_Aint*)get(&copy, keyval), -22);
  refused = 99;
  CHECK_EQUAL(end(&copy) != MPI_SUCCESS, 1);
  refused = 0;
  CHECK_EQUAL(end(&copy), MPI_SUCCESS);
  CHECK_EQUAL(get(&copy, keyval), 0);
}

static void callbacks_in_fortran(void) {
  MPI_Aint extra_state = 1000;
  const int keyval = create_for_fortran((attrcache_callback*)copy_in_fortran,
                                        (attrcache_callback*)delete_in_fortran, &extra_state);
  extra_state = 0; /* as if its scope had ended */
  deleted = 0;
  set_in_fortran(&comm, keyval, 1);
  dup(&comm, &copy);
  CHECK_EQUAL(get_in_fortran(&copy, keyval), 1008);
  CHECK_EQUAL(*(MPI_Aint*)get(&copy, keyval), 1008);
  CHECK_EQUAL(end(&copy), MPI_SUCCESS);
  CHECK_EQUAL(end(&comm), MPI_SUCCESS);
  CHECK_EQUAL(deleted, 2);
}

#ifdef NUMBERS_DATATYPES
static int last_handle;
static void delete_type_in_fortran(MPI_Fint* type, MPI_Fint* keyval, MPI_Aint* value,
                                   MPI_Aint* extra_state, MPI_Fint* error) {
  (void)keyval;
  ++deleted;
  last_handle = *type;
  CHECK_EQUAL(*value * 100 + *extra_state, 6007);
  *error = MPI_SUCCESS;
}

static void numbers_of_datatypes(void) {
  static ompi_datatype_t type = {.d_f_to_c_index = -1};
  const ompi_attribute_fn_ptr_union_t copies = {.attr_any_fn = NULL};
  const ompi_attribute_fn_ptr_union_t deletes = {.attr_any_fn =
                                                     (attrcache_callback*)delete_type_in_fortran};
  int keyval;
  ompi_attr_create_keyval_aint(TYPE_ATTR, copies, deletes, &keyval, 7, OMPI_KEYVAL_F77, NULL);
  deleted = 0;
  for (int i = 0; i < 3; ++i) {
    if (i == 2) {
      type.d_f_to_c_index = -1;
      numbered_meanwhile = &type;
    }
    ompi_attr_set_c(TYPE_ATTR, &type, &type.d_keyhash, keyval, (void*)60, false);
    CHECK_EQUAL(ompi_attr_delete(TYPE_ATTR, &type, &type.d_keyhash, keyval, false), MPI_SUCCESS);
    CHECK_EQUAL(last_handle, i < 2 ? 100 : 55);
  }
  CHECK_EQUAL(taken_back, 101);
  CHECK_EQUAL(deleted, 3);
}
#endif

int main(void) {
  begin();
  begin(); /* as when MPI is initialized again */
  values_of_each_language();
  callbacks_in_fortran();
#ifdef NUMBERS_DATATYPES
  numbers_of_datatypes();
#endif
  printf("%d checks passed\n", checks);
  return 0;
}
