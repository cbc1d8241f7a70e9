/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* For adapter_test.c. */
#include "ompi/attribute/attribute.h"

int MPI_COMM_DUP_FN(MPI_Comm comm, int keyval, void* extra_state, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra_state, (void)in, (void)out, (void)flag;
  abort(); /* attrcache copies without calling it */
}

typedef ompi_communicator_t Comm;
#define HANDLE c_f_to_c_index

static void begin(void) {
  if (ompi_attr_init() != OMPI_SUCCESS) abort();
}
static int create(MPI_Comm_delete_attr_function* delete_fn) {
  const ompi_attribute_fn_ptr_union_t copies = {.attr_communicator_copy_fn = MPI_COMM_DUP_FN};
  const ompi_attribute_fn_ptr_union_t deletes = {.attr_communicator_delete_fn = delete_fn};
  int keyval = 0;
  ompi_attr_create_keyval(COMM_ATTR, copies, deletes, &keyval, NULL, 0, NULL);
  return keyval;
}
static int create_for_fortran(attrcache_callback* copy_fn, attrcache_callback* delete_fn,
                              const MPI_Aint* extra_state) {
  const ompi_attribute_fn_ptr_union_t copies = {.attr_any_fn = copy_fn};
  const ompi_attribute_fn_ptr_union_t deletes = {.attr_any_fn = delete_fn};
  int keyval = 0;
  ompi_attr_create_keyval_aint(COMM_ATTR, copies, deletes, &keyval, *extra_state, OMPI_KEYVAL_F77,
                               NULL);
  return keyval;
}
static void set(Comm* comm, int keyval, void* value) {
  ompi_attr_set_c(COMM_ATTR, comm, &comm->c_keyhash, keyval, value, false);
}
static void set_in_fortran(Comm* comm, int keyval, MPI_Aint value) {
  ompi_attr_set_aint(COMM_ATTR, comm, &comm->c_keyhash, keyval, value, false);
}
static void* get(Comm* comm, int keyval) {
  void* value = NULL;
  int flag = 0;
  ompi_attr_get_c(COMM_ATTR, &comm->c_keyhash, keyval, &value, &flag);
  return flag ? value : NULL;
}
static MPI_Aint get_in_fortran(Comm* comm, int keyval) {
  MPI_Aint value = 0;
  int flag = 0;
  ompi_attr_get_aint(COMM_ATTR, &comm->c_keyhash, keyval, &value, &flag);
  return value;
}
static void dup(Comm* from, Comm* to) {
  ompi_attr_copy_all(COMM_ATTR, from, to, &from->c_keyhash, &to->c_keyhash);
}
static int end(Comm* comm) { return ompi_attr_delete_all(COMM_ATTR, comm, &comm->c_keyhash); }

/* A datatype gets its number when a callback in Fortran first needs it, from one thread. */
#define NUMBERS_DATATYPES
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
