/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Open MPI's attributes by attrcache: each function is a call of that library and a translation of
 * its result. It takes no lock, calls the users' callbacks itself, in their language, and converts
 * values between languages as MPI says (MPI-4.1, section 19.3.7).
 */

/* clang-format off: it comes first */
#include "ompi_config.h"
/* clang-format on */

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "ompi/attribute/attribute.h"
#include "ompi/attribute/attribute_get.h"
#include "ompi/attribute/proposed.h"
#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/runtime/mpiruntime.h"
#include "ompi/win/win.h"
#include "opal/class/opal_hash_table.h"

/* After attrcache.h. */
#include "ompi/attribute/error_class.h"
#include "ompi/attribute/known_in_fortran.h"

/* One for the process, from the first ompi_attr_init() on. */
static attrcache_domain* domain;
attrcache_kind* ompi_attr_kinds[WIN_ATTR + 1];

static int error_of(int result, int code) {
  return OPAL_LIKELY(ATTRCACHE_OK == result) ? MPI_SUCCESS : attrcache_error_class(result, code);
}

/* ---- Beginning ---- */

/* What Fortran callbacks get for an object. A datatype gets its number when it is first needed. */
static int communicator_in_fortran(void* object) {
  return ((ompi_communicator_t*)object)->c_f_to_c_index;
}
static int datatype_in_fortran(void* object) {
  ompi_datatype_t* const datatype = (ompi_datatype_t*)object;
  int none = __atomic_load_n(&datatype->d_f_to_c_index, __ATOMIC_RELAXED), index;

  if (none >= 0) {
    return none;
  }
  index = opal_pointer_array_add(&ompi_datatype_f_to_c_table, datatype);
  /* Of two threads, each in a callback, one numbers it. The other one takes its entry back:
   * otherwise it would still point to the datatype when that has gone. */
  if (index >= 0 && !__atomic_compare_exchange_n(&datatype->d_f_to_c_index, &none, index, false,
                                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    opal_pointer_array_set_item(&ompi_datatype_f_to_c_table, index, NULL);
    return none;
  }
  return index;
}
static int window_in_fortran(void* object) { return ((ompi_win_t*)object)->w_f_to_c_index; }

int ompi_attr_init(void) {
  static const attrcache_keyval_numbers numbers = {OMPI_ATTR_KEYVAL_BASE, MPI_KEYVAL_INVALID};
  static const attrcache_kind_options communicator = {sizeof communicator, ATTRCACHE_HANDLE_POINTER,
                                                      "communicator", communicator_in_fortran};
  static const attrcache_kind_options datatype = {sizeof datatype, ATTRCACHE_HANDLE_POINTER,
                                                  "datatype", datatype_in_fortran};
  static const attrcache_kind_options window = {sizeof window, ATTRCACHE_HANDLE_POINTER, "window",
                                                window_in_fortran};
  const attrcache_domain_options options = {
      .size = sizeof options,
      .flags = ATTRCACHE_TELL,
      .communicator = &communicator,
      .datatype = &datatype,
      .window = &window,
      .numbers = &numbers,
      .fint_bytes = (int)sizeof(MPI_Fint),
  };

  if (NULL != domain) {
    return OMPI_SUCCESS;
  }
  switch (attrcache_domain_create(&options, &domain)) {
    case ATTRCACHE_OK:
      break;
    case ATTRCACHE_ERR_MEMORY:
      return OMPI_ERR_OUT_OF_RESOURCE;
    default: /* this processor can't do what the library was built for */
      return OMPI_ERR_NOT_SUPPORTED;
  }
  /* A domain has these from the start. */
  (void)attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &ompi_attr_kinds[COMM_ATTR]);
  (void)attrcache_kind_of(domain, ATTRCACHE_DATATYPE, &ompi_attr_kinds[TYPE_ATTR]);
  (void)attrcache_kind_of(domain, ATTRCACHE_WINDOW, &ompi_attr_kinds[WIN_ATTR]);
  if (ATTRCACHE_OK != attrcache_proposed_begin(domain)) {
    return OMPI_ERR_OUT_OF_RESOURCE;
  }
  return ompi_attr_define_predefined(ompi_attr_kinds[COMM_ATTR], ompi_attr_kinds[WIN_ATTR]);
}

/* ---- Keyvals ---- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* MPI-1's are among them */

/* The functions of mpi.h that stand for "copy nothing", "copy as it is" and "nothing to delete"
 * become attrcache's, which cost no call. */
static attrcache_callback* known_copy(ompi_attribute_fn_ptr_union_t fn) {
  if (MPI_COMM_NULL_COPY_FN == fn.attr_communicator_copy_fn ||
      MPI_TYPE_NULL_COPY_FN == fn.attr_datatype_copy_fn ||
      MPI_WIN_NULL_COPY_FN == fn.attr_win_copy_fn ||
      OMPI_C_MPI_NULL_COPY_FN == fn.attr_communicator_copy_fn) {
    return ATTRCACHE_NULL_COPY_FN;
  }
  if (MPI_COMM_DUP_FN == fn.attr_communicator_copy_fn ||
      MPI_TYPE_DUP_FN == fn.attr_datatype_copy_fn || MPI_WIN_DUP_FN == fn.attr_win_copy_fn ||
      OMPI_C_MPI_DUP_FN == fn.attr_communicator_copy_fn) {
    return ATTRCACHE_DUP_FN;
  }
  return fn.attr_any_fn;
}
static attrcache_callback* known_delete(ompi_attribute_fn_ptr_union_t fn) {
  if (MPI_COMM_NULL_DELETE_FN == fn.attr_communicator_delete_fn ||
      MPI_TYPE_NULL_DELETE_FN == fn.attr_datatype_delete_fn ||
      MPI_WIN_NULL_DELETE_FN == fn.attr_win_delete_fn ||
      OMPI_C_MPI_NULL_DELETE_FN == fn.attr_communicator_delete_fn) {
    return ATTRCACHE_NULL_DELETE_FN;
  }
  return fn.attr_any_fn;
}
#pragma GCC diagnostic pop

static void free_bindings_extra_state(void* extra_state, void* bindings_extra_state) {
  (void)extra_state;
  free(bindings_extra_state);
}

__attribute__((always_inline)) static inline int create_keyval(
    ompi_attribute_type_t type, attrcache_callback* copy_fn, attrcache_callback* delete_fn,
    int* key, void* extra_state, attrcache_language language, void* bindings_extra_state) {
  attrcache_callbacks callbacks = {
      .size = sizeof callbacks,
      .language = language,
      .copy_fn = copy_fn,
      .delete_fn = delete_fn,
      .extra_state = extra_state,
  };

  if (NULL != bindings_extra_state) {
    callbacks.context = bindings_extra_state;
    callbacks.destructor = free_bindings_extra_state;
  }
  return error_of(attrcache_keyval_create(ompi_attr_kinds[type], &callbacks, key), 0);
}

static int create_fortran_keyval(ompi_attribute_type_t type, ompi_attribute_fn_ptr_union_t copy_fn,
                                 ompi_attribute_fn_ptr_union_t delete_fn, int* key,
                                 void* extra_state, attrcache_language language,
                                 void* bindings_extra_state) {
  return create_keyval(type, attrcache_known_in_fortran(copy_fn.attr_any_fn),
                       attrcache_known_in_fortran(delete_fn.attr_any_fn), key, extra_state,
                       language, bindings_extra_state);
}

int ompi_attr_create_keyval(ompi_attribute_type_t type, ompi_attribute_fn_ptr_union_t copy_attr_fn,
                            ompi_attribute_fn_ptr_union_t delete_attr_fn, int* key,
                            void* extra_state, int flags, void* bindings_extra_state) {
  if (0 != (flags & OMPI_KEYVAL_F77)) {
    return create_fortran_keyval(type, copy_attr_fn, delete_attr_fn, key, extra_state,
                                 ATTRCACHE_FORTRAN_AINT, bindings_extra_state);
  }
  return create_keyval(type, known_copy(copy_attr_fn), known_delete(delete_attr_fn), key,
                       extra_state, ATTRCACHE_C, bindings_extra_state);
}

int ompi_attr_create_keyval_fint(ompi_attribute_type_t type,
                                 ompi_attribute_fn_ptr_union_t copy_attr_fn,
                                 ompi_attribute_fn_ptr_union_t delete_attr_fn, int* key,
                                 MPI_Fint extra_state, int flags, void* bindings_extra_state) {
  (void)flags; /* only Fortran calls this */
  return create_fortran_keyval(type, copy_attr_fn, delete_attr_fn, key,
                               (void*)(intptr_t)extra_state, ATTRCACHE_FORTRAN_FINT,
                               bindings_extra_state);
}

int ompi_attr_create_keyval_aint(ompi_attribute_type_t type,
                                 ompi_attribute_fn_ptr_union_t copy_attr_fn,
                                 ompi_attribute_fn_ptr_union_t delete_attr_fn, int* key,
                                 MPI_Aint extra_state, int flags, void* bindings_extra_state) {
  (void)flags;
  return create_fortran_keyval(type, copy_attr_fn, delete_attr_fn, key, (void*)extra_state,
                               ATTRCACHE_FORTRAN_AINT, bindings_extra_state);
}

int ompi_attr_free_keyval(ompi_attribute_type_t type, int* key, bool predefined) {
  (void)predefined;
  return error_of(attrcache_keyval_free(ompi_attr_kinds[type], key), 0);
}

/* ---- Attributes ---- */

static int set(ompi_attribute_type_t type, void* object, attrcache_table* table, int key,
               intptr_t value, attrcache_tag tag) {
  int code = 0;
  const int result = attrcache_set_as(ompi_attr_kinds[type], table, object, key, value, tag, &code);

  return error_of(result, code);
}

int ompi_attr_set_c(ompi_attribute_type_t type, void* object, attrcache_table* table, int key,
                    void* attribute, bool predefined) {
  (void)predefined;
  return set(type, object, table, key, (intptr_t)attribute, ATTRCACHE_AS_POINTER);
}

int ompi_attr_set_fint(ompi_attribute_type_t type, void* object, attrcache_table* table, int key,
                       MPI_Fint attribute, bool predefined) {
  (void)predefined;
  return set(type, object, table, key, attribute, ATTRCACHE_AS_FINT);
}

int ompi_attr_set_aint(ompi_attribute_type_t type, void* object, attrcache_table* table, int key,
                       MPI_Aint attribute, bool predefined) {
  (void)predefined;
  return set(type, object, table, key, attribute, ATTRCACHE_AS_AINT);
}

/* The rest of a get if ompi_attr_get_c_at_once() asks for it. */
static int get_missed(ompi_attribute_type_t type, const attrcache_table* table, int key,
                      void** attribute, int* flag) {
  int result;

  /* The predefined one that is often asked for; attrcache has it, too, but in more steps. */
  if (MPI_TAG_UB == key && COMM_ATTR == type) {
    *attribute = &ompi_attr_tag_ub;
    *flag = 1;
    return MPI_SUCCESS;
  }
  result = attrcache_get(ompi_attr_kinds[type], table, key, attribute);
  *flag = ATTRCACHE_OK == result;
  return OPAL_LIKELY(result >= ATTRCACHE_OK) ? MPI_SUCCESS : attrcache_error_class(result, 0);
}

int ompi_attr_get_c(ompi_attribute_type_t type, const attrcache_table* table, int key,
                    void** attribute, int* flag) {
  return ATTRCACHE_INLINE_ASK != ompi_attr_get_c_at_once(type, table, key, attribute, flag)
             ? MPI_SUCCESS
             : get_missed(type, table, key, attribute, flag);
}

/* The class of a getter's error, which differs for MPI_KEYVAL_INVALID. */
#define GET_ERROR(key) (MPI_KEYVAL_INVALID == (key) ? MPI_ERR_KEYVAL : MPI_ERR_OTHER)

int ompi_attr_comm_get_missed(MPI_Comm comm, int key, void* attribute, int* flag) {
  const int ret = get_missed(COMM_ATTR, &comm->c_keyhash, key, (void**)attribute, flag);

  OMPI_ERRHANDLER_RETURN(ret, comm, GET_ERROR(key), "MPI_Comm_get_attr");
}

int ompi_attr_type_get_missed(MPI_Datatype type, int key, void* attribute, int* flag) {
  const int ret = get_missed(TYPE_ATTR, &type->d_keyhash, key, (void**)attribute, flag);

  OMPI_ERRHANDLER_NOHANDLE_RETURN(ret, GET_ERROR(key), "MPI_Type_get_attr");
}

int ompi_attr_win_get_missed(MPI_Win win, int key, void* attribute, int* flag) {
  const int ret = get_missed(WIN_ATTR, &win->w_keyhash, key, (void**)attribute, flag);

  OMPI_ERRHANDLER_RETURN(ret, win, GET_ERROR(key), "MPI_Win_get_attr");
}

int ompi_attr_get_fint(ompi_attribute_type_t type, const attrcache_table* table, int key,
                       MPI_Fint* attribute, int* flag) {
#if OMPI_SIZEOF_FORTRAN_INTEGER == SIZEOF_INT
  const int result = attrcache_get_fint(ompi_attr_kinds[type], table, key, attribute);
#else
  intptr_t value = 0;
  const int result = attrcache_get_aint(ompi_attr_kinds[type], table, key, &value);

  if (ATTRCACHE_OK == result) {
    *attribute = (MPI_Fint)value;
  }
#endif
  *flag = ATTRCACHE_OK == result;
  return error_of(result, 0);
}

int ompi_attr_get_aint(ompi_attribute_type_t type, const attrcache_table* table, int key,
                       MPI_Aint* attribute, int* flag) {
  const int result = attrcache_get_aint(ompi_attr_kinds[type], table, key, attribute);

  *flag = ATTRCACHE_OK == result;
  return error_of(result, 0);
}

int ompi_attr_delete(ompi_attribute_type_t type, void* object, attrcache_table* table, int key,
                     bool predefined) {
  int code = 0;
  const int result = attrcache_delete(ompi_attr_kinds[type], table, object, key, &code);

  (void)predefined;
  return ATTRCACHE_ABSENT == result ? MPI_ERR_OTHER : error_of(result, code);
}

/* ---- Objects ---- */

int ompi_attr_copy_all(ompi_attribute_type_t type, void* old_object, void* new_object,
                       attrcache_table* old_table, attrcache_table* new_table) {
  int code = 0;
  int result = ATTRCACHE_OK;

  if (!attrcache_table_is_empty(old_table)) {
    result = attrcache_copy_all(ompi_attr_kinds[type], old_table, old_object, new_table, new_object,
                                &code);
  }
  return error_of(result, code);
}

static int delete_all(ompi_attribute_type_t type, void* object, attrcache_table* table,
                      attrcache_delete_mode mode) {
  int code = 0;
  int result = ATTRCACHE_OK;

  if (!attrcache_table_is_empty(table)) {
    /* BUSY: another thread is still within a deletion on the object, or copies one of its values. */
    do {
      result = attrcache_delete_all(ompi_attr_kinds[type], table, object, mode, &code);
    } while (ATTRCACHE_ERR_BUSY == result && 0 == sched_yield());
    /* What callbacks go on attaching is given up; natively it would stay for ever. */
    if (ATTRCACHE_ERR_REATTACHED == result)
      result = attrcache_table_abandon(ompi_attr_kinds[type], table);
  }
  return error_of(result, code);
}

int ompi_attr_delete_all(ompi_attribute_type_t type, void* object, attrcache_table* table) {
  return delete_all(type, object, table, ATTRCACHE_STOP_AT_FAILURE);
}

/* DRAIN waits for values being copied; then FINALLY deletes what callbacks go on attaching. */
void ompi_attr_delete_all_finally(ompi_attribute_type_t type, void* object,
                                  attrcache_table* table) {
  (void)delete_all(type, object, table, ATTRCACHE_DRAIN);
  (void)delete_all(type, object, table, ATTRCACHE_DRAIN_FINALLY);
}

void ompi_attr_abandon_all(ompi_attribute_type_t type, attrcache_table* table) {
  if (!attrcache_table_is_empty(table)) {
    (void)attrcache_table_abandon(ompi_attr_kinds[type], table);
  }
}

void ompi_attr_end_datatype(ompi_datatype_t* datatype) {
  if (0 == ompi_instance_count) {
    ompi_attr_abandon_all(TYPE_ATTR, &datatype->d_keyhash);
    return;
  }
  /* There is no reference any more; else this wouldn't be the end. The callbacks may use the
   * datatype, though, and the last one that does so would destroy it once more. */
  OBJ_SET_MAGIC_ID(datatype, OPAL_OBJ_MAGIC_ID);
  (void)opal_obj_update((opal_object_t*)datatype, 1);
  ompi_attr_delete_all_finally(TYPE_ATTR, datatype, &datatype->d_keyhash);
  (void)opal_obj_update((opal_object_t*)datatype, -1);
}

/* Those that MPI_Type_create_f90_integer and its kin have made. They are copied from Open MPI's
 * tables before callbacks are called, as these may make more. Returns their number, or 0 if there
 * is no memory for the copy. */
static size_t get_f90_datatypes(ompi_datatype_t*** datatypes) {
  opal_hash_table_t* const tables[] = {&ompi_mpi_f90_integer_hashtable,
                                       &ompi_mpi_f90_real_hashtable,
                                       &ompi_mpi_f90_complex_hashtable};
  size_t room = 0, count = 0;

  for (int i = 0; i < 3; ++i) {
    room += opal_hash_table_get_size(tables[i]);
  }
  *datatypes = room > 0 ? malloc(room * sizeof **datatypes) : NULL;
  if (NULL == *datatypes) {
    return 0;
  }
  for (int i = 0; i < 3; ++i) {
    uint32_t key; /* the low bits of some; not used */
    void *datatype, *node;
    int ret = opal_hash_table_get_first_key_uint32(tables[i], &key, &datatype, &node);

    while (OPAL_SUCCESS == ret && count < room) {
      (*datatypes)[count++] = (ompi_datatype_t*)datatype;
      ret = opal_hash_table_get_next_key_uint32(tables[i], &key, &datatype, node, &node);
    }
  }
  return count;
}

void ompi_attr_delete_predefined_datatypes_attributes(void) {
  /* All that are predefined are in this table, but those of MPI_Type_create_f90_*, which are there
   * only if Fortran has used them. */
  const int size = opal_pointer_array_get_size(&ompi_datatype_f_to_c_table);
  ompi_datatype_t** f90;
  const size_t f90_count = get_f90_datatypes(&f90);

  for (int i = 0; i < size; ++i) {
    ompi_datatype_t* datatype =
        (ompi_datatype_t*)opal_pointer_array_get_item(&ompi_datatype_f_to_c_table, i);

    if (NULL != datatype && ompi_datatype_is_predefined(datatype)) {
      ompi_attr_delete_all_finally(TYPE_ATTR, datatype, &datatype->d_keyhash);
    }
  }
  for (size_t i = 0; i < f90_count; ++i) {
    ompi_attr_delete_all_finally(TYPE_ATTR, f90[i], &f90[i]->d_keyhash);
  }
  free(f90);
}
