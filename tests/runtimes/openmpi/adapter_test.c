/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * lib/runtimes/openmpi, the attributes of Open MPI, compiled and run without Open MPI: against
 * declarations of ours, and with objects that are no more than their tables. What it does within
 * Open MPI, tests/runtimes shows.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ompi/attribute/attribute.h"
#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/errhandler/errcode.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/runtime/mpiruntime.h"
#include "ompi/runtime/ompi_rte.h"
#include "ompi/runtime/params.h"
#include "ompi/win/win.h"

/* ---- The part of proposed.c, which is tried elsewhere ---- */

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
/* Of Fortran's own, as the linker finds them. */
void mpi_dup_fn_(void) NEVER_CALLED void mpi_comm_dup_fn__(void) NEVER_CALLED
    void mpi_comm_null_delete_fn(void) NEVER_CALLED
    void mpi_f08_dup(void) __asm__("__mpi_f08_callbacks_MOD_mpi_comm_dup_fn");
void mpi_f08_dup(void) NEVER_CALLED

    /* A datatype has no number before somebody asks for it. */
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
static void copy_in_fortran(MPI_Fint* object, MPI_Fint* keyval, void* extra_state, void* in,
                            void* out, ompi_fortran_logical_t* flag, MPI_Fint* error) {
  (void)keyval;
  last_handle = *object;
  *(MPI_Aint*)out = *(MPI_Aint*)in + *(MPI_Aint*)extra_state;
  *flag = 1;
  *error = MPI_SUCCESS;
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
static void copy_in_old_fortran(MPI_Fint* object, MPI_Fint* keyval, MPI_Fint* extra_state,
                                MPI_Fint* in, MPI_Fint* out, ompi_fortran_logical_t* flag,
                                MPI_Fint* error) {
  (void)keyval;
  last_handle = *object;
  *out = *in + *extra_state;
  *flag = 1;
  *error = MPI_SUCCESS;
}
static void delete_in_old_fortran(MPI_Fint* object, MPI_Fint* keyval, MPI_Fint* value,
                                  MPI_Fint* extra_state, MPI_Fint* error) {
  (void)keyval, (void)extra_state;
  ++deleted;
  last_handle = *object;
  last_value = *value;
  *error = MPI_SUCCESS;
}

static int make(ompi_attribute_type_t type, MPI_Comm_copy_attr_function* copy,
                MPI_Comm_delete_attr_function* del, void* extra_state) {
  int keyval = MPI_KEYVAL_INVALID;
  const ompi_attribute_fn_ptr_union_t copy_fn = {.attr_communicator_copy_fn = copy};
  const ompi_attribute_fn_ptr_union_t delete_fn = {.attr_communicator_delete_fn = del};
  CHECK_EQUAL(ompi_attr_create_keyval(type, copy_fn, delete_fn, &keyval, extra_state, 0, NULL),
              MPI_SUCCESS);
  return keyval;
}

/* Reads as C; -1: absent. */
static long value_of(ompi_attribute_type_t type, const attrcache_table* table, int keyval) {
  void* value = NULL;
  int flag = -1;
  CHECK_EQUAL(ompi_attr_get_c(type, table, keyval, &value, &flag), MPI_SUCCESS);
  return flag ? (long)value : -1;
}
static long int_of(ompi_attribute_type_t type, const attrcache_table* table, int keyval) {
  const long address = value_of(type, table, keyval);
  return address == -1 ? -1 : *(const int*)address;
}

/* ---- Tests ---- */

static void keyvals_and_values(void) {
  static ompi_communicator_t comm, copy;
  void* value;
  MPI_Aint address;
  MPI_Fint integer;
  int flag, again, last;
  int k = make(COMM_ATTR, MPI_COMM_DUP_FN, delete_in_c, (void*)5);
  CHECK_EQUAL(k >= OMPI_ATTR_KEYVAL_BASE && k < OMPI_ATTR_KEYVAL_BASE + 0x20000000, 1);
  CHECK_EQUAL(value_of(COMM_ATTR, &comm.c_keyhash, k), -1);
  CHECK_EQUAL(ompi_attr_set_c(COMM_ATTR, &comm, &comm.c_keyhash, k, (void*)21, false), MPI_SUCCESS);
  CHECK_EQUAL(value_of(COMM_ATTR, &comm.c_keyhash, k), 21);
  CHECK_EQUAL(ompi_attr_get_fint(COMM_ATTR, &comm.c_keyhash, k, &integer, &flag), MPI_SUCCESS);
  CHECK_EQUAL(flag * 1000 + integer, 1021);
  CHECK_EQUAL(ompi_attr_copy_all(COMM_ATTR, &comm, &copy, &comm.c_keyhash, &copy.c_keyhash),
              MPI_SUCCESS);
  CHECK_EQUAL(value_of(COMM_ATTR, &copy.c_keyhash, k), 21);
  /* as Fortran sets it, and a dup of that, read in each way */
  CHECK_EQUAL(ompi_attr_set_aint(COMM_ATTR, &comm, &comm.c_keyhash, k, -22, false), MPI_SUCCESS);
  CHECK_EQUAL(deleted, 1);
  CHECK_EQUAL(last_value * 100 + last_extra_state, 2105);
  CHECK_EQUAL(*(MPI_Aint*)value_of(COMM_ATTR, &comm.c_keyhash, k), -22);
  CHECK_EQUAL(ompi_attr_delete_all(COMM_ATTR, &copy, &copy.c_keyhash), MPI_SUCCESS);
  CHECK_EQUAL(ompi_attr_copy_all(COMM_ATTR, &comm, &copy, &comm.c_keyhash, &copy.c_keyhash),
              MPI_SUCCESS);
  CHECK_EQUAL(ompi_attr_delete(COMM_ATTR, &comm, &comm.c_keyhash, k, false), MPI_SUCCESS);
  CHECK_EQUAL(ompi_attr_get_aint(COMM_ATTR, &copy.c_keyhash, k, &address, &flag), MPI_SUCCESS);
  CHECK_EQUAL(flag * 1000 + address, 978);
  CHECK_EQUAL(ompi_attr_delete(COMM_ATTR, &comm, &comm.c_keyhash, k, false),
              MPI_ERR_OTHER); /* absent */
  /* a delete callback that refuses */
  refused = 99;
  CHECK_EQUAL(ompi_attr_delete(COMM_ATTR, &copy, &copy.c_keyhash, k, false), 99);
  CHECK_EQUAL(ompi_attr_delete_all(COMM_ATTR, &copy, &copy.c_keyhash), 99);
  CHECK_EQUAL(attrcache_table_is_empty(&copy.c_keyhash), 0);
  ompi_attr_delete_all_finally(COMM_ATTR, &copy, &copy.c_keyhash);
  CHECK_EQUAL(attrcache_table_is_empty(&copy.c_keyhash), 1);
  refused = 0;
  /* given up without a call */
  deleted = 0;
  CHECK_EQUAL(ompi_attr_set_fint(COMM_ATTR, &comm, &comm.c_keyhash, k, 23, false), MPI_SUCCESS);
  CHECK_EQUAL(int_of(COMM_ATTR, &comm.c_keyhash, k), 23);
  ompi_attr_abandon_all(COMM_ATTR, &comm.c_keyhash);
  CHECK_EQUAL(deleted, 0);
  /* errors */
  CHECK_EQUAL(ompi_attr_set_c(TYPE_ATTR, &comm, &comm.c_keyhash, k, NULL, false), MPI_ERR_KEYVAL);
  CHECK_EQUAL(
      ompi_attr_get_c(COMM_ATTR, &comm.c_keyhash, OMPI_ATTR_KEYVAL_BASE + 0xfff0, &value, &flag),
      MPI_ERR_KEYVAL);
  CHECK_EQUAL(flag, 0);
  CHECK_EQUAL(ompi_attr_free_keyval(TYPE_ATTR, &k, false), MPI_ERR_KEYVAL);
  CHECK_EQUAL(ompi_attr_set_c(COMM_ATTR, &comm, &comm.c_keyhash, k, NULL, false), MPI_SUCCESS);
  again = last = k;
  CHECK_EQUAL(ompi_attr_free_keyval(COMM_ATTR, &k, false), MPI_SUCCESS);
  CHECK_EQUAL(k, MPI_KEYVAL_INVALID);
  CHECK_EQUAL(ompi_attr_free_keyval(COMM_ATTR, &again, false), MPI_SUCCESS); /* does nothing */
  CHECK_EQUAL(again, MPI_KEYVAL_INVALID);
  CHECK_EQUAL(value_of(COMM_ATTR, &comm.c_keyhash, last), 0);
  CHECK_EQUAL(ompi_attr_delete_all(COMM_ATTR, &comm, &comm.c_keyhash), MPI_SUCCESS);
}

static void fortran_callbacks_get_the_handle(void) {
  static ompi_communicator_t old_comm = {.c_f_to_c_index = 31}, new_comm = {.c_f_to_c_index = 32};
  static ompi_datatype_t type = {.d_f_to_c_index = -1};
  static ompi_win_t win = {.w_f_to_c_index = 33};
  const ompi_attribute_fn_ptr_union_t copy = {.attr_aint_copy_fn = copy_in_fortran};
  const ompi_attribute_fn_ptr_union_t del = {.attr_aint_delete_fn = delete_in_fortran};
  const ompi_attribute_fn_ptr_union_t old_copy = {.attr_fint_copy_fn = copy_in_old_fortran};
  const ompi_attribute_fn_ptr_union_t old_delete = {.attr_fint_delete_fn = delete_in_old_fortran};
  int k, old_k, type_k, win_k;
  ompi_attr_create_keyval_aint(COMM_ATTR, copy, del, &k, 7, OMPI_KEYVAL_F77, NULL);
  ompi_attr_create_keyval_fint(COMM_ATTR, old_copy, old_delete, &old_k, 8, OMPI_KEYVAL_F77, NULL);
  ompi_attr_create_keyval_aint(TYPE_ATTR, copy, del, &type_k, 7, OMPI_KEYVAL_F77, NULL);
  ompi_attr_create_keyval_aint(WIN_ATTR, copy, del, &win_k, 7, OMPI_KEYVAL_F77, NULL);
  deleted = 0;
  ompi_attr_set_aint(COMM_ATTR, &old_comm, &old_comm.c_keyhash, k, 40, false);
  CHECK_EQUAL(
      ompi_attr_copy_all(COMM_ATTR, &old_comm, &new_comm, &old_comm.c_keyhash, &new_comm.c_keyhash),
      0);
  CHECK_EQUAL(last_handle, 31);
  CHECK_EQUAL(ompi_attr_delete_all(COMM_ATTR, &new_comm, &new_comm.c_keyhash), MPI_SUCCESS);
  CHECK_EQUAL(last_handle, 32);
  CHECK_EQUAL(last_value * 100 + last_extra_state, 4707);
  CHECK_EQUAL(ompi_attr_delete_all(COMM_ATTR, &old_comm, &old_comm.c_keyhash), MPI_SUCCESS);
  CHECK_EQUAL(last_handle, 31);
  ompi_attr_set_fint(COMM_ATTR, &old_comm, &old_comm.c_keyhash, old_k, 50, false);
  CHECK_EQUAL(
      ompi_attr_copy_all(COMM_ATTR, &old_comm, &new_comm, &old_comm.c_keyhash, &new_comm.c_keyhash),
      0);
  CHECK_EQUAL(ompi_attr_delete_all(COMM_ATTR, &new_comm, &new_comm.c_keyhash), MPI_SUCCESS);
  CHECK_EQUAL(last_handle * 100 + last_value, 3258);
  CHECK_EQUAL(ompi_attr_delete_all(COMM_ATTR, &old_comm, &old_comm.c_keyhash), MPI_SUCCESS);
  ompi_attr_set_c(TYPE_ATTR, &type, &type.d_keyhash, type_k, (void*)60, false);
  CHECK_EQUAL(ompi_attr_delete(TYPE_ATTR, &type, &type.d_keyhash, type_k, false), MPI_SUCCESS);
  CHECK_EQUAL(last_handle * 100 + last_value, 10060);
  ompi_attr_set_c(TYPE_ATTR, &type, &type.d_keyhash, type_k, (void*)61, false);
  CHECK_EQUAL(ompi_attr_delete(TYPE_ATTR, &type, &type.d_keyhash, type_k, false), MPI_SUCCESS);
  CHECK_EQUAL(last_handle * 100 + last_value, 10061); /* it has its number now */
  type.d_f_to_c_index = -1;
  numbered_meanwhile = &type;
  ompi_attr_set_c(TYPE_ATTR, &type, &type.d_keyhash, type_k, (void*)62, false);
  CHECK_EQUAL(ompi_attr_delete(TYPE_ATTR, &type, &type.d_keyhash, type_k, false), MPI_SUCCESS);
  CHECK_EQUAL(last_handle * 100 + last_value, 5562);
  CHECK_EQUAL(taken_back, 101);
  ompi_attr_set_c(WIN_ATTR, &win, &win.w_keyhash, win_k, (void*)70, false);
  CHECK_EQUAL(ompi_attr_delete_all(WIN_ATTR, &win, &win.w_keyhash), MPI_SUCCESS);
  CHECK_EQUAL(last_handle * 100 + last_value, 3370);
  CHECK_EQUAL(deleted, 8);
}

/* The value and how it was set stay what they were: a pointer is one on the copy. */
static void fortrans_own_functions_are_known(void) {
  static ompi_communicator_t comm, copy;
  static int object;
  const ompi_attribute_fn_ptr_union_t del = {.attr_any_fn = mpi_comm_null_delete_fn};
  attrcache_callback* const dups[] = {mpi_dup_fn_, mpi_comm_dup_fn__, mpi_f08_dup};
  int k[3];

  for (int i = 0; i < 3; ++i) {
    const ompi_attribute_fn_ptr_union_t dup = {.attr_any_fn = dups[i]};
    if (i == 0) {
      ompi_attr_create_keyval_fint(COMM_ATTR, dup, del, &k[i], 0, OMPI_KEYVAL_F77, NULL);
    } else {
      ompi_attr_create_keyval_aint(COMM_ATTR, dup, del, &k[i], 0, OMPI_KEYVAL_F77, NULL);
    }
    ompi_attr_set_c(COMM_ATTR, &comm, &comm.c_keyhash, k[i], &object, false);
  }
  CHECK_EQUAL(ompi_attr_copy_all(COMM_ATTR, &comm, &copy, &comm.c_keyhash, &copy.c_keyhash), 0);
  for (int i = 0; i < 3; ++i) {
    CHECK_EQUAL(value_of(COMM_ATTR, &copy.c_keyhash, k[i]), &object);
  }
  CHECK_EQUAL(ompi_attr_delete_all(COMM_ATTR, &copy, &copy.c_keyhash), MPI_SUCCESS);
  CHECK_EQUAL(ompi_attr_delete_all(COMM_ATTR, &comm, &comm.c_keyhash), MPI_SUCCESS);
}

static void predefined(void) {
  static ompi_communicator_t of_the_world, of_a_session;
  static ompi_win_t win = {.w_base = (void*)0x1000,
                           .w_size = 1L << 40,
                           .w_disp_unit = 8,
                           .w_create_flavor = 2,
                           .w_model = 9};
  const attrcache_table* const world = &ompi_mpi_comm_world.comm.c_keyhash;
  int key = MPI_TAG_UB;
  MPI_Aint address = 0;
  int flag = 0;
  ompi_mpi_comm_world.comm.instance = of_the_world.instance = &of_the_world;
  of_a_session.instance = &of_a_session;
  ompi_attr_take_predefined();
  CHECK_EQUAL(int_of(COMM_ATTR, &of_a_session.c_keyhash, MPI_TAG_UB), 4711);
  *(int*)value_of(COMM_ATTR, &of_a_session.c_keyhash, MPI_TAG_UB) = 1;
  CHECK_EQUAL(mca_pml.pml_max_tag, 4711);
  ompi_attr_take_predefined();
  CHECK_EQUAL(int_of(COMM_ATTR, &of_a_session.c_keyhash, MPI_TAG_UB), 4711);
  CHECK_EQUAL(int_of(COMM_ATTR, world, MPI_HOST), -1);
  CHECK_EQUAL(ompi_attr_set_predefined_keyvals_for_wm(), OMPI_SUCCESS);
  CHECK_EQUAL(int_of(COMM_ATTR, world, MPI_HOST), MPI_PROC_NULL);
  CHECK_EQUAL(*(int*)value_of(COMM_ATTR, &of_the_world.c_keyhash, MPI_IO), MPI_ANY_SOURCE);
  CHECK_EQUAL(int_of(COMM_ATTR, &of_the_world.c_keyhash, MPI_WTIME_IS_GLOBAL), 0);
  CHECK_EQUAL(int_of(COMM_ATTR, &of_the_world.c_keyhash, MPI_APPNUM), 3);
  CHECK_EQUAL(int_of(COMM_ATTR, &of_the_world.c_keyhash, MPI_UNIVERSE_SIZE), 12);
  CHECK_EQUAL(value_of(COMM_ATTR, &of_a_session.c_keyhash, MPI_UNIVERSE_SIZE), -1);
  CHECK_EQUAL(value_of(COMM_ATTR, &of_the_world.c_keyhash, MPI_LASTUSEDCODE), -1);
  CHECK_EQUAL(int_of(COMM_ATTR, world, MPI_LASTUSEDCODE), 77);
  CHECK_EQUAL(int_of(COMM_ATTR, world, MPI_FT), 1);
  *(int*)value_of(COMM_ATTR, world, MPI_LASTUSEDCODE) = 1;
  CHECK_EQUAL(int_of(COMM_ATTR, world, MPI_LASTUSEDCODE), 77);
  ++ompi_mpi_errcode_lastused;
  CHECK_EQUAL(int_of(COMM_ATTR, world, MPI_LASTUSEDCODE), 78);
  ompi_attr_delete_predefined_keyvals_for_wm();
  CHECK_EQUAL(value_of(COMM_ATTR, world, MPI_LASTUSEDCODE), -1);
  CHECK_EQUAL(attrcache_table_is_empty(world), 1);

  CHECK_EQUAL(value_of(WIN_ATTR, &win.w_keyhash, MPI_WIN_BASE), 0x1000);
  CHECK_EQUAL(*(MPI_Aint*)value_of(WIN_ATTR, &win.w_keyhash, MPI_WIN_SIZE), 1L << 40);
  CHECK_EQUAL(int_of(WIN_ATTR, &win.w_keyhash, MPI_WIN_DISP_UNIT), 8);
  CHECK_EQUAL(int_of(WIN_ATTR, &win.w_keyhash, MPI_WIN_CREATE_FLAVOR), 2);
  CHECK_EQUAL(int_of(WIN_ATTR, &win.w_keyhash, MPI_WIN_MODEL), 9);
  CHECK_EQUAL(ompi_attr_get_aint(WIN_ATTR, &win.w_keyhash, MPI_WIN_BASE, &address, &flag),
              MPI_SUCCESS);
  CHECK_EQUAL(flag * 0x10000 + address, 0x11000);

  CHECK_EQUAL(
      ompi_attr_set_c(COMM_ATTR, &of_the_world, &of_the_world.c_keyhash, MPI_TAG_UB, NULL, false),
      MPI_ERR_KEYVAL);
  CHECK_EQUAL(
      ompi_attr_delete(COMM_ATTR, &of_the_world, &of_the_world.c_keyhash, MPI_TAG_UB, false),
      MPI_ERR_KEYVAL);
  CHECK_EQUAL(ompi_attr_free_keyval(COMM_ATTR, &key, false), MPI_ERR_KEYVAL);
  CHECK_EQUAL(key, MPI_TAG_UB);
}

static void predefined_datatypes_at_the_end(void) {
  static ompi_datatype_t predefined_type = {.predefined = 1}, other = {.predefined = 0};
  static ompi_datatype_t f90[3];
  static void *items[] = {&predefined_type, NULL, &other}, *integers[] = {&f90[0]},
              *reals[] = {&f90[1], &f90[2]};
  const int k = make(TYPE_ATTR, MPI_COMM_NULL_COPY_FN, delete_in_c, NULL);
  ompi_datatype_f_to_c_table = (opal_pointer_array_t){3, items};
  deleted = 0;
  ompi_attr_set_c(TYPE_ATTR, &predefined_type, &predefined_type.d_keyhash, k, NULL, false);
  ompi_attr_set_c(TYPE_ATTR, &other, &other.d_keyhash, k, NULL, false);
  ompi_mpi_f90_integer_hashtable = (opal_hash_table_t){1, integers};
  ompi_mpi_f90_real_hashtable = (opal_hash_table_t){2, reals};
  for (int i = 0; i < 3; ++i) {
    ompi_attr_set_c(TYPE_ATTR, &f90[i], &f90[i].d_keyhash, k, NULL, false);
  }
  ompi_attr_delete_predefined_datatypes_attributes();
  CHECK_EQUAL(deleted, 4);
  CHECK_EQUAL(attrcache_table_is_empty(&predefined_type.d_keyhash), 1);
  CHECK_EQUAL(ompi_attr_delete_all(TYPE_ATTR, &other, &other.d_keyhash), MPI_SUCCESS);
}

/* A callback that uses the datatype, as MPI_Sendrecv would: it must not be the last to have a
 * reference. */
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
  keyvals_and_values();
  fortran_callbacks_get_the_handle();
  fortrans_own_functions_are_known();
  predefined();
  predefined_datatypes_at_the_end();
  the_end_of_a_datatype();
  printf("%d checks passed\n", checks);
  return 0;
}
