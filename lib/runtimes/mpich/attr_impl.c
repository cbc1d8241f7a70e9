/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The bodies of MPI's functions on keyvals and attributes.
 *
 * attrcache checks the keyvals, so the bindings don't. They call these functions without MPICH's
 * global critical section: nothing here needs it, and callbacks may call MPI.
 */
#include "mpiimpl.h"

#pragma GCC visibility push(hidden)
#include "attrcache/attrcache_inline.h"
#pragma GCC visibility pop

static inline attrcache_tag tag_of(MPIR_Attr_type type) {
  return type == MPIR_ATTR_PTR    ? ATTRCACHE_AS_POINTER
         : type == MPIR_ATTR_AINT ? ATTRCACHE_AS_AINT
                                  : ATTRCACHE_AS_FINT;
}

/* A get by C that has found nothing at once, and any by Fortran, which reads values, not addresses. */
static int get_slowly(MPIR_Attr_kind kind, const MPIR_Attr_table* table, int keyval, void** value,
                      int* flag, MPIR_Attr_type type, const char* object) {
  int result;

  if (type == MPIR_ATTR_PTR) {
    result = attrcache_get_ranged(MPIR_Attr_kinds[kind], table, MPIR_ATTR_KEYVALS, keyval, value);
  } else {
    intptr_t bits = 0;
    result = attrcache_get_aint(MPIR_Attr_kinds[kind], table, keyval, &bits);
    if (result == ATTRCACHE_OK) *value = (void*)bits;
  }
  if (result == ATTRCACHE_OK) {
    *flag = 1;
    return MPI_SUCCESS;
  }
  *flag = 0;
  if (unlikely(result != ATTRCACHE_ABSENT)) return MPIR_Attr_error(result, object);
  if ((keyval == MPI_UNIVERSE_SIZE || keyval == MPIR_ATTR_IN_FORTRAN(MPI_UNIVERSE_SIZE)) &&
      MPIR_Process.attrs.universe == MPIR_UNIVERSE_SIZE_NOT_SET) {
    const int error = MPIR_Attr_get_universe_size(); /* only now, as the device may have to ask */
    if (error != MPI_SUCCESS) return error;
    return get_slowly(kind, table, keyval, value, flag, type, object);
  }
  return MPI_SUCCESS;
}

/* A get by C that knows at once what there is, or that there is nothing. If not, it goes on in a function of
 * its own, to which it jumps with its arguments as they are: so the ways that are gone most need no stack. */
__attribute__((always_inline)) static inline int get_at_once(MPIR_Attr_kind kind,
                                                             const MPIR_Attr_table* table,
                                                             int keyval, void* attribute_val,
                                                             int* flag, MPIR_Attr_type type) {
  const unsigned ranged = (unsigned)keyval ^ MPIR_ATTR_KEYVALS ^ (unsigned)ATTRCACHE_KEYVAL_MIN;
  int result;

  if (unlikely(type != MPIR_ATTR_PTR)) return 0;
  /* The bindings have seen to both: that MPI is initialized, and that there is a place for the value. */
  if (MPIR_Attr_kinds[kind] == NULL || attribute_val == NULL) __builtin_unreachable();
  result = attrcache_get_at_once(MPIR_Attr_kinds[kind], table, (int)ranged, (void**)attribute_val);
  if (likely(result == ATTRCACHE_OK)) {
    *flag = 1;
    return 1;
  }
  if (unlikely(result != ATTRCACHE_ABSENT)) return 0;
  *flag = 0;
  return 1;
}

static inline int set_attr(MPIR_Attr_kind kind, MPIR_Attr_table* table, int handle, int keyval,
                           void* attribute_val, MPIR_Attr_type type, const char* object) {
  int code = 0;
  const int result = attrcache_set(MPIR_Attr_kinds[kind], table, MPIR_Attr_object(handle), keyval,
                                   (intptr_t)attribute_val, tag_of(type), &code);
  if (likely(result == ATTRCACHE_OK)) return MPI_SUCCESS;
  return MPIR_Attr_callback_error(result, code, object, "**user", "**userdel %d");
}

static inline int delete_attr(MPIR_Attr_kind kind, MPIR_Attr_table* table, int handle, int keyval,
                              const char* object) {
  int code = 0;
  const int result =
      attrcache_delete(MPIR_Attr_kinds[kind], table, MPIR_Attr_object(handle), keyval, &code);
  if (likely(result == ATTRCACHE_OK)) return MPI_SUCCESS;
  return MPIR_Attr_callback_error(result, code, object, "**user", "**userdel %d");
}

/* MPI's own functions are null in MPICH, but for one, and numbers in the standard ABI: those that attrcache has. */
static inline int is_dup_fn(attrcache_callback* copy_fn) {
#ifdef BUILD_MPI_ABI
  return copy_fn == ATTRCACHE_DUP_FN;
#else
  return copy_fn == (attrcache_callback*)MPIR_Dup_fn;
#endif
}

static inline int create_keyval(MPIR_Attr_kind kind, attrcache_callback* copy_fn,
                                attrcache_callback* delete_fn, int* keyval, void* extra_state,
                                const char* object) {
  const attrcache_callbacks callbacks = {.copy_fn = is_dup_fn(copy_fn) ? ATTRCACHE_DUP_FN : copy_fn,
                                         .delete_fn = delete_fn,
                                         .extra_state = extra_state,
                                         .language = ATTRCACHE_C};
  const int result = attrcache_keyval_create(MPIR_Attr_kinds[kind], &callbacks, keyval);
  return likely(result == ATTRCACHE_OK) ? MPI_SUCCESS : MPIR_Attr_error(result, object);
}

static inline int free_keyval(MPIR_Attr_kind kind, int* keyval, const char* object) {
  const int result = attrcache_keyval_free(MPIR_Attr_kinds[kind], keyval);
  return likely(result == ATTRCACHE_OK) ? MPI_SUCCESS : MPIR_Attr_error(result, object);
}

/* ---- Communicators ------------------------------------------------------------------------- */

static inline MPIR_Attr_table* comm_table(MPIR_Comm* comm_ptr) {
#ifdef ENABLE_THREADCOMM
  if (unlikely(comm_ptr->threadcomm != NULL)) return MPIR_Attr_table_of_thread(comm_ptr);
#endif
  return &comm_ptr->attributes;
}

int MPIR_Comm_create_keyval_impl(MPI_Comm_copy_attr_function* copy_fn,
                                 MPI_Comm_delete_attr_function* delete_fn, int* comm_keyval,
                                 void* extra_state) {
  return create_keyval(MPIR_ATTR_COMM, (attrcache_callback*)copy_fn, (attrcache_callback*)delete_fn,
                       comm_keyval, extra_state, "comm_keyval");
}

int MPIR_Comm_free_keyval_impl(int* comm_keyval) {
  return free_keyval(MPIR_ATTR_COMM, comm_keyval, "*comm_keyval");
}

ATTRIBUTE((noinline))
static int comm_get_slowly(MPIR_Comm* comm_ptr, int keyval, void* attribute_val, int* flag,
                           MPIR_Attr_type attr_type) {
  /* What is the process's is where it was, as long as MPI runs. */
  const unsigned place = (unsigned)keyval - MPI_TAG_UB;
  if (likely(place < MPIR_ATTR_ADDRESSES && attr_type == MPIR_ATTR_PTR)) {
    *(void**)attribute_val = MPIR_Attr_addresses[place];
    *flag = 1;
    return MPI_SUCCESS;
  }
  return get_slowly(MPIR_ATTR_COMM, comm_table(comm_ptr), keyval, attribute_val, flag, attr_type,
                    "comm_keyval");
}

int MPIR_Comm_get_attr_impl(MPIR_Comm* comm_ptr, int comm_keyval, void* attribute_val, int* flag,
                            MPIR_Attr_type attr_type) {
#ifdef ENABLE_THREADCOMM
  /* By a jump as well: a call here would have this function save registers. */
  if (unlikely(comm_ptr->threadcomm != NULL))
    return comm_get_slowly(comm_ptr, comm_keyval, attribute_val, flag, attr_type);
#endif
  if (likely(get_at_once(MPIR_ATTR_COMM, &comm_ptr->attributes, comm_keyval, attribute_val, flag,
                         attr_type)))
    return MPI_SUCCESS;
  return comm_get_slowly(comm_ptr, comm_keyval, attribute_val, flag, attr_type);
}

int MPIR_Comm_set_attr_impl(MPIR_Comm* comm_ptr, int comm_keyval, void* attribute_val,
                            MPIR_Attr_type attr_type) {
  return set_attr(MPIR_ATTR_COMM, comm_table(comm_ptr), comm_ptr->handle, comm_keyval,
                  attribute_val, attr_type, "comm_keyval");
}

int MPIR_Comm_delete_attr_impl(MPIR_Comm* comm_ptr, int comm_keyval) {
  return delete_attr(MPIR_ATTR_COMM, comm_table(comm_ptr), comm_ptr->handle, comm_keyval,
                     "comm_keyval");
}

/* ---- Datatypes ----------------------------------------------------------------------------- */

int MPIR_Type_create_keyval_impl(MPI_Type_copy_attr_function* copy_fn,
                                 MPI_Type_delete_attr_function* delete_fn, int* type_keyval,
                                 void* extra_state) {
  return create_keyval(MPIR_ATTR_TYPE, (attrcache_callback*)copy_fn, (attrcache_callback*)delete_fn,
                       type_keyval, extra_state, "type_keyval");
}

int MPIR_Type_free_keyval_impl(int* type_keyval) {
  return free_keyval(MPIR_ATTR_TYPE, type_keyval, "*type_keyval");
}

ATTRIBUTE((noinline))
static int type_get_slowly(const MPIR_Datatype* datatype_ptr, int keyval, void* attribute_val,
                           int* flag, MPIR_Attr_type type) {
  return get_slowly(MPIR_ATTR_TYPE, &datatype_ptr->attributes, keyval, attribute_val, flag, type,
                    "type_keyval");
}

int MPIR_Type_get_attr_impl(MPIR_Datatype* datatype_ptr, int type_keyval, void* attribute_val,
                            int* flag, MPIR_Attr_type attr_type) {
  if (likely(get_at_once(MPIR_ATTR_TYPE, &datatype_ptr->attributes, type_keyval, attribute_val,
                         flag, attr_type)))
    return MPI_SUCCESS;
  return type_get_slowly(datatype_ptr, type_keyval, attribute_val, flag, attr_type);
}

int MPIR_Type_set_attr_impl(MPIR_Datatype* datatype_ptr, int type_keyval, void* attribute_val,
                            MPIR_Attr_type attr_type) {
  return set_attr(MPIR_ATTR_TYPE, &datatype_ptr->attributes, datatype_ptr->handle, type_keyval,
                  attribute_val, attr_type, "type_keyval");
}

int MPIR_Type_delete_attr_impl(MPIR_Datatype* datatype_ptr, int type_keyval) {
  return delete_attr(MPIR_ATTR_TYPE, &datatype_ptr->attributes, datatype_ptr->handle, type_keyval,
                     "type_keyval");
}

/* ---- Windows ------------------------------------------------------------------------------- */

int MPIR_Win_create_keyval_impl(MPI_Win_copy_attr_function* copy_fn,
                                MPI_Win_delete_attr_function* delete_fn, int* win_keyval,
                                void* extra_state) {
  return create_keyval(MPIR_ATTR_WIN, (attrcache_callback*)copy_fn, (attrcache_callback*)delete_fn,
                       win_keyval, extra_state, "win_keyval");
}

int MPIR_Win_free_keyval_impl(int* win_keyval) {
  return free_keyval(MPIR_ATTR_WIN, win_keyval, "*win_keyval");
}

ATTRIBUTE((noinline))
static int win_get_slowly(const MPIR_Win* win_ptr, int keyval, void* attribute_val, int* flag,
                          MPIR_Attr_type type) {
  return get_slowly(MPIR_ATTR_WIN, &win_ptr->attributes, keyval, attribute_val, flag, type,
                    "win_keyval");
}

int MPIR_Win_get_attr_impl(MPIR_Win* win_ptr, int win_keyval, void* attribute_val, int* flag,
                           MPIR_Attr_type attr_type) {
  if (likely(get_at_once(MPIR_ATTR_WIN, &win_ptr->attributes, win_keyval, attribute_val, flag,
                         attr_type)))
    return MPI_SUCCESS;
  return win_get_slowly(win_ptr, win_keyval, attribute_val, flag, attr_type);
}

int MPIR_Win_set_attr_impl(MPIR_Win* win_ptr, int win_keyval, void* attribute_val,
                           MPIR_Attr_type attr_type) {
  return set_attr(MPIR_ATTR_WIN, &win_ptr->attributes, win_ptr->handle, win_keyval, attribute_val,
                  attr_type, "win_keyval");
}

int MPIR_Win_delete_attr_impl(MPIR_Win* win_ptr, int win_keyval) {
  return delete_attr(MPIR_ATTR_WIN, &win_ptr->attributes, win_ptr->handle, win_keyval,
                     "win_keyval");
}
