/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Our files for Open MPI without Open MPI: values of each language, a datatype's number and its end.
 * lib/runtimes/openmpi/declarations.h stands in for its headers; objects are little more than their
 * tables. tests/runtimes/run tests everything within Open MPI itself.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ompi/attribute/attribute.h"

/* ---- The part of proposed.c, which is tested elsewhere ---- */

int attrcache_proposed_begin(attrcache_domain* domain) {
  return domain != NULL ? ATTRCACHE_OK : ATTRCACHE_ERR_NULL;
}

/* ---- What Open MPI has ---- */

ompi_predefined_communicator_t ompi_mpi_comm_world;
opal_pointer_array_t ompi_datatype_f_to_c_table;
int ompi_mpi_errcode_lastused = 77;
mca_pml_base_module_t mca_pml = {4711};
opal_process_info_t opal_process_info = {3, 12};
bool ompi_ftmpi_enabled = true;
int ompi_instance_count = 1;
opal_hash_table_t ompi_mpi_f90_integer_hashtable, ompi_mpi_f90_real_hashtable,
    ompi_mpi_f90_complex_hashtable;

#define NEVER_CALLED                               \
  {                                                \
    printf("FAILED: %s() was called\n", __func__); \
    exit(1);                                       \
  }
#define COPY(name, handle)                                                                 \
  int name(handle object, int keyval, void* extra_state, void* in, void* out, int* flag) { \
    (void)object, (void)keyval, (void)extra_state, (void)in, (void)out, (void)flag;        \
    NEVER_CALLED                                                                           \
  }
#define DELETE(name, handle)                                      \
  int name(handle object, int keyval, void* value, void* extra) { \
    (void)object, (void)keyval, (void)value, (void)extra;         \
    NEVER_CALLED                                                  \
  }
COPY(MPI_COMM_NULL_COPY_FN, MPI_Comm)
COPY(MPI_COMM_DUP_FN, MPI_Comm)
COPY(OMPI_C_MPI_NULL_COPY_FN, MPI_Comm)
COPY(OMPI_C_MPI_DUP_FN, MPI_Comm)
DELETE(MPI_COMM_NULL_DELETE_FN, MPI_Comm)
DELETE(OMPI_C_MPI_NULL_DELETE_FN, MPI_Comm)
COPY(MPI_TYPE_NULL_COPY_FN, MPI_Datatype)
COPY(MPI_TYPE_DUP_FN, MPI_Datatype)
DELETE(MPI_TYPE_NULL_DELETE_FN, MPI_Datatype)
COPY(MPI_WIN_NULL_COPY_FN, MPI_Win)
COPY(MPI_WIN_DUP_FN, MPI_Win)
DELETE(MPI_WIN_NULL_DELETE_FN, MPI_Win)

static int numbers_given;
static int taken_back = -1;
static ompi_datatype_t* numbered_meanwhile; /* by another thread */
int opal_pointer_array_add(opal_pointer_array_t* array, void* item) {
  (void)array;
  if (item == numbered_meanwhile) numbered_meanwhile->d_f_to_c_index = 55;
  return 100 + numbers_given++;
}
int opal_pointer_array_set_item(opal_pointer_array_t* array, int index, void* item) {
  (void)array;
  if (item == NULL) taken_back = index;
  return 0;
}

/* ---- Checks ---- */

static int checks;
static void check(long got, long expected, const char* what, int line) {
  ++checks;
  if (got == expected) return;
  printf("FAILED: line %d: %s is %ld, not %ld\n", line, what, got, expected);
  exit(1);
}
#define CHECK_EQUAL(got, expected) check((long)(got), (long)(expected), #got, __LINE__)

/* ---- Callbacks ---- */

static int deleted, refused, last_handle;
static long last_value, last_extra_state;

static int delete_in_c(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  (void)comm, (void)keyval;
  if (refused != 0) return refused;
  ++deleted;
  last_value = (long)value;
  last_extra_state = (long)extra_state;
  return MPI_SUCCESS;
}
static void delete_in_fortran(MPI_Fint* object, MPI_Fint* keyval, void* value, void* extra_state,
                              MPI_Fint* error) {
  (void)keyval;
  ++deleted;
  last_handle = *object;
  last_value = *(MPI_Aint*)value;
  last_extra_state = *(MPI_Aint*)extra_state;
  *error = MPI_SUCCESS;
}
/* ---- Tests ---- */

/* Reads as C; -1: absent. */
static long value_of(const attrcache_table* table, int keyval) {
  void* value = NULL;
  int flag = -1;
  CHECK_EQUAL(ompi_attr_get_c(COMM_ATTR, table, keyval, &value, &flag), MPI_SUCCESS);
  return flag ? (long)value : -1;
}

static void values_of_each_language(void) {
  static ompi_communicator_t comm, copy;
  const ompi_attribute_fn_ptr_union_t dup = {.attr_communicator_copy_fn = MPI_COMM_DUP_FN};
  const ompi_attribute_fn_ptr_union_t del = {.attr_communicator_delete_fn = delete_in_c};
  MPI_Aint address;
  MPI_Fint integer;
  int flag, k;
  CHECK_EQUAL(ompi_attr_create_keyval(COMM_ATTR, dup, del, &k, (void*)5, 0, NULL), MPI_SUCCESS);
  CHECK_EQUAL(ompi_attr_set_c(COMM_ATTR, &comm, &comm.c_keyhash, k, (void*)21, false), MPI_SUCCESS);
  CHECK_EQUAL(value_of(&comm.c_keyhash, k), 21);
  CHECK_EQUAL(ompi_attr_get_fint(COMM_ATTR, &comm.c_keyhash, k, &integer, &flag), MPI_SUCCESS);
  CHECK_EQUAL(flag * 1000 + integer, 1021);
  /* as Fortran sets it, and a dup of that, read in each way */
  CHECK_EQUAL(ompi_attr_set_aint(COMM_ATTR, &comm, &comm.c_keyhash, k, -22, false), MPI_SUCCESS);
  CHECK_EQUAL(deleted, 1);
  CHECK_EQUAL(last_value * 100 + last_extra_state, 2105);
  CHECK_EQUAL(*(MPI_Aint*)value_of(&comm.c_keyhash, k), -22);
  CHECK_EQUAL(ompi_attr_copy_all(COMM_ATTR, &comm, &copy, &comm.c_keyhash, &copy.c_keyhash),
              MPI_SUCCESS);
  CHECK_EQUAL(ompi_attr_delete(COMM_ATTR, &comm, &comm.c_keyhash, k, false), MPI_SUCCESS);
  CHECK_EQUAL(ompi_attr_get_aint(COMM_ATTR, &copy.c_keyhash, k, &address, &flag), MPI_SUCCESS);
  CHECK_EQUAL(flag * 1000 + address, 978);
  /* a delete callback that refuses */
  refused = 99;
  CHECK_EQUAL(ompi_attr_delete_all(COMM_ATTR, &copy, &copy.c_keyhash), 99);
  CHECK_EQUAL(attrcache_table_is_empty(&copy.c_keyhash), 0);
  ompi_attr_delete_all_finally(COMM_ATTR, &copy, &copy.c_keyhash);
  CHECK_EQUAL(attrcache_table_is_empty(&copy.c_keyhash), 1);
  refused = 0;
  /* abandoned without a call */
  deleted = 0;
  CHECK_EQUAL(ompi_attr_set_fint(COMM_ATTR, &comm, &comm.c_keyhash, k, 23, false), MPI_SUCCESS);
  ompi_attr_abandon_all(COMM_ATTR, &comm.c_keyhash);
  CHECK_EQUAL(deleted, 0);
}

/* A datatype gets its number when a callback in Fortran first needs it, from one thread. */
static void numbers_of_datatypes(void) {
  static ompi_datatype_t type = {.d_f_to_c_index = -1};
  const ompi_attribute_fn_ptr_union_t copy = {.attr_any_fn = NULL};
  const ompi_attribute_fn_ptr_union_t del = {.attr_aint_delete_fn = delete_in_fortran};
  int k;
  ompi_attr_create_keyval_aint(TYPE_ATTR, copy, del, &k, 7, OMPI_KEYVAL_F77, NULL);
  deleted = 0;
  for (int i = 0; i < 3; ++i) {
    if (i == 2) {
      type.d_f_to_c_index = -1;
      numbered_meanwhile = &type;
    }
    ompi_attr_set_c(TYPE_ATTR, &type, &type.d_keyhash, k, (void*)60, false);
    CHECK_EQUAL(ompi_attr_delete(TYPE_ATTR, &type, &type.d_keyhash, k, false), MPI_SUCCESS);
    CHECK_EQUAL(last_handle, i < 2 ? 100 : 55);
    CHECK_EQUAL(last_value * 100 + last_extra_state, 6007);
  }
  CHECK_EQUAL(taken_back, 101);
  CHECK_EQUAL(deleted, 3);
}

/* A callback that uses the datatype, as MPI_Sendrecv would, must not release its last reference. */
static int released_to;
static int delete_using(MPI_Datatype type, int keyval, void* value, void* extra_state) {
  (void)keyval, (void)value, (void)extra_state;
  ++deleted;
  (void)opal_obj_update((opal_object_t*)type, 1);
  released_to = opal_obj_update((opal_object_t*)type, -1);
  return MPI_SUCCESS;
}

static void the_end_of_a_datatype(void) {
  static ompi_datatype_t type;
  const ompi_attribute_fn_ptr_union_t copy = {.attr_datatype_copy_fn = MPI_TYPE_NULL_COPY_FN};
  const ompi_attribute_fn_ptr_union_t del = {.attr_datatype_delete_fn = delete_using};
  int k;
  ompi_attr_create_keyval(TYPE_ATTR, copy, del, &k, NULL, 0, NULL);
  deleted = 0;
  ompi_attr_set_c(TYPE_ATTR, &type, &type.d_keyhash, k, NULL, false);
  ompi_attr_end_datatype(&type);
  CHECK_EQUAL(deleted, 1);
  CHECK_EQUAL(released_to, 1);
  CHECK_EQUAL(type.super.obj_reference_count, 0);
  CHECK_EQUAL(attrcache_table_is_empty(&type.d_keyhash), 1);
  /* MPI is down: no callback is called any more */
  ompi_attr_set_c(TYPE_ATTR, &type, &type.d_keyhash, k, NULL, false);
  ompi_instance_count = 0;
  ompi_attr_end_datatype(&type);
  ompi_instance_count = 1;
  CHECK_EQUAL(deleted, 1);
  CHECK_EQUAL(attrcache_table_is_empty(&type.d_keyhash), 1);
}

int main(void) {
  CHECK_EQUAL(ompi_attr_init(), OMPI_SUCCESS);
  CHECK_EQUAL(ompi_attr_init(), OMPI_SUCCESS); /* as every session calls it */
  values_of_each_language();
  numbers_of_datatypes();
  the_end_of_a_datatype();
  printf("%d checks passed\n", checks);
  return 0;
}
