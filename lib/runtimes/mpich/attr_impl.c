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
#ifdef MPIR_ATTR_AS_FORTRAN
#include "as_set.h"
#endif

static inline attrcache_tag tag_of(MPIR_Attr_type type) {
  return type == MPIR_ATTR_PTR    ? ATTRCACHE_AS_POINTER
         : type == MPIR_ATTR_AINT ? ATTRCACHE_AS_AINT
                                  : ATTRCACHE_AS_FINT;
}

/* The slow path of gets by C, and all gets by Fortran, which reads values, not addresses. */
static int get_slowly(MPIR_Attr_kind kind, const MPIR_Attr_table* table, int keyval, void** value,
                      int* flag, MPIR_Attr_type type, const char* object) {
  int result;

  if (type == MPIR_ATTR_PTR) {
    result = attrcache_get(MPIR_Attr_kinds[kind], table, keyval, value);
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

/* The fast path of gets by C. If it doesn't apply, the caller jumps to a function with the same
 * arguments, so that the common paths need no stack. */
__attribute__((always_inline)) static inline int get_at_once(MPIR_Attr_kind kind,
                                                             const MPIR_Attr_table* table,
                                                             int keyval, void* attribute_val,
                                                             int* flag, MPIR_Attr_type type) {
  int result;

  if (unlikely(type != MPIR_ATTR_PTR)) return 0;
  /* The bindings have checked both: that MPI is initialized, and that there is a place for the
   * value. */
  if (MPIR_Attr_kinds[kind] == NULL || attribute_val == NULL) __builtin_unreachable();
  result = attrcache_get_at_once(MPIR_Attr_kinds[kind], table, MPIR_ATTR_KEYVALS, keyval,
                                 (void**)attribute_val);
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
  const int result = attrcache_set_as(MPIR_Attr_kinds[kind], table, MPIR_Attr_object(handle),
                                      keyval, (intptr_t)attribute_val, tag_of(type), &code);
  if (likely(result == ATTRCACHE_OK)) return MPI_SUCCESS;
  return MPIR_Attr_callback_error(result, code, object, 0);
}

static inline int delete_attr(MPIR_Attr_kind kind, MPIR_Attr_table* table, int handle, int keyval,
                              const char* object) {
  int code = 0;
  const int result =
      attrcache_delete(MPIR_Attr_kinds[kind], table, MPIR_Attr_object(handle), keyval, &code);
  if (likely(result == ATTRCACHE_OK)) return MPI_SUCCESS;
  return MPIR_Attr_callback_error(result, code, object, 0);
}

/* MPI's own functions are null in MPICH, except for one, and in the standard ABI numbers, the same
 * as attrcache's. */
static inline attrcache_callback* known_copy(attrcache_callback* copy_fn) {
#ifndef MPIR_ATTR_ABI
  if (copy_fn == (attrcache_callback*)MPIR_Dup_fn) return ATTRCACHE_DUP_FN;
#endif
  return copy_fn;
}

static inline int create_keyval(MPIR_Attr_kind kind, attrcache_callback* copy_fn,
                                attrcache_callback* delete_fn, int* keyval, void* extra_state,
                                const char* object) {
  const attrcache_callbacks callbacks = {.size = sizeof callbacks,
                                         .copy_fn = known_copy(copy_fn),
                                         .delete_fn = delete_fn,
                                         .extra_state = extra_state};
  const int result = attrcache_keyval_create(MPIR_Attr_kinds[kind], &callbacks, keyval);
  return likely(result == ATTRCACHE_OK) ? MPI_SUCCESS : MPIR_Attr_error(result, object);
}

static inline int free_keyval(MPIR_Attr_kind kind, int* keyval, const char* object) {
  const int result = attrcache_keyval_free(MPIR_Attr_kinds[kind], keyval);
  return likely(result == ATTRCACHE_OK) ? MPI_SUCCESS : MPIR_Attr_error(result, object);
}

/* ---- What differs by the kind of objects ---------------------------------------------------- */

/* In a threadcomm a thread has attributes of its own. */
static inline int comm_is_shared_out(const MPIR_Comm* comm_ptr) {
#ifdef ENABLE_THREADCOMM
  return comm_ptr->threadcomm != NULL;
#else
  MPL_UNREFERENCED_ARG(comm_ptr);
  return 0;
#endif
}
#define type_is_shared_out(object) 0
#define win_is_shared_out(object) 0

static inline MPIR_Attr_table* comm_table(MPIR_Comm* comm_ptr) {
#ifdef ENABLE_THREADCOMM
  if (unlikely(comm_is_shared_out(comm_ptr))) return MPIR_Attr_table_of_thread(comm_ptr);
#endif
  return &comm_ptr->attributes;
}
#define type_table(object) (&(object)->attributes)
#define win_table(object) (&(object)->attributes)

ATTRIBUTE((noinline))
static int comm_get_slowly(MPIR_Comm* comm_ptr, int keyval, void* attribute_val, int* flag,
                           MPIR_Attr_type attr_type) {
  /* The addresses of values that all communicators share don't change as long as MPI runs. */
  const unsigned place = (unsigned)keyval - MPI_TAG_UB;
  if (likely(place < MPIR_ATTR_ADDRESSES && attr_type == MPIR_ATTR_PTR)) {
    *(void**)attribute_val = MPIR_Attr_addresses[place];
    *flag = 1;
    return MPI_SUCCESS;
  }
  return get_slowly(MPIR_ATTR_COMM, comm_table(comm_ptr), keyval, attribute_val, flag, attr_type,
                    "comm_keyval");
}

ATTRIBUTE((noinline))
static int type_get_slowly(const MPIR_Datatype* type, int keyval, void* attribute_val, int* flag,
                           MPIR_Attr_type attr_type) {
  return get_slowly(MPIR_ATTR_TYPE, &type->attributes, keyval, attribute_val, flag, attr_type,
                    "type_keyval");
}

ATTRIBUTE((noinline))
static int win_get_slowly(const MPIR_Win* win, int keyval, void* attribute_val, int* flag,
                          MPIR_Attr_type attr_type) {
  return get_slowly(MPIR_ATTR_WIN, &win->attributes, keyval, attribute_val, flag, attr_type,
                    "win_keyval");
}

/* ---- MPI's functions ------------------------------------------------------------------------ */

/* The language of a set or get: a parameter, or functions for Fortran. */
#ifdef MPIR_ATTR_AS_FORTRAN
#define TYPE_PARAMETER
#define TYPE MPIR_ATTR_PTR
#else
#define TYPE_PARAMETER , MPIR_Attr_type attr_type
#define TYPE attr_type
#endif

#define FUNCTIONS(Kind, KIND, Object, kind)                                                       \
  int MPIR_##Kind##_create_keyval_impl(MPI_##Kind##_copy_attr_function* copy_fn,                  \
                                       MPI_##Kind##_delete_attr_function* delete_fn, int* keyval, \
                                       void* extra_state) {                                       \
    return create_keyval(KIND, (attrcache_callback*)copy_fn, (attrcache_callback*)delete_fn,      \
                         keyval, extra_state, #kind "_keyval");                                   \
  }                                                                                               \
  int MPIR_##Kind##_free_keyval_impl(int* keyval) {                                               \
    return free_keyval(KIND, keyval, "*" #kind "_keyval");                                        \
  }                                                                                               \
  int MPIR_##Kind##_get_attr_impl(Object* object, int keyval, void* value,                        \
                                  int* flag TYPE_PARAMETER) {                                     \
    /* A jump, too: a call here would make this function save registers. */                       \
    if (unlikely(kind##_is_shared_out(object)))                                                   \
      return kind##_get_slowly(object, keyval, value, flag, TYPE);                                \
    if (likely(get_at_once(KIND, &object->attributes, keyval, value, flag, TYPE)))                \
      return MPI_SUCCESS;                                                                         \
    return kind##_get_slowly(object, keyval, value, flag, TYPE);                                  \
  }                                                                                               \
  int MPIR_##Kind##_set_attr_impl(Object* object, int keyval, void* value TYPE_PARAMETER) {       \
    return set_attr(KIND, kind##_table(object), object->handle, keyval, value, TYPE,              \
                    #kind "_keyval");                                                             \
  }                                                                                               \
  int MPIR_##Kind##_delete_attr_impl(Object* object, int keyval) {                                \
    return delete_attr(KIND, kind##_table(object), object->handle, keyval, #kind "_keyval");      \
  }

FUNCTIONS(Comm, MPIR_ATTR_COMM, MPIR_Comm, comm)
FUNCTIONS(Type, MPIR_ATTR_TYPE, MPIR_Datatype, type)
FUNCTIONS(Win, MPIR_ATTR_WIN, MPIR_Win, win)

/* For bindings of other languages, to make keyvals, set and get. */
#ifdef MPIR_ATTR_AS_FORTRAN
#define FUNCTIONS_X(Kind, KIND, Object, kind)                                                      \
  int MPIR_##Kind##_create_keyval_x_impl(                                                          \
      MPI_##Kind##_copy_attr_function* copy_fn, MPI_##Kind##_delete_attr_function* delete_fn,      \
      MPIX_Destructor_function* destructor_fn, int* keyval, void* extra_state) {                   \
    const attrcache_callbacks callbacks = {.size = sizeof callbacks,                               \
                                           .copy_fn = known_copy((attrcache_callback*)copy_fn),    \
                                           .delete_fn = (attrcache_callback*)delete_fn,            \
                                           .extra_state = extra_state};                            \
    return MPIR_Attr_error(create_as_set(MPIR_Attr_kinds[KIND], callbacks, destructor_fn,          \
                                         MPIR_ATTR_HANDLES_ARE_INTS, keyval),                      \
                           #kind "_keyval");                                                       \
  }                                                                                                \
  int MPIR_##Kind##_get_attr_as_fortran_impl(Object* object, int keyval, void* value, int* flag) { \
    return kind##_get_slowly(object, keyval, value, flag, MPIR_ATTR_AINT);                         \
  }                                                                                                \
  int MPIR_##Kind##_set_attr_as_fortran_impl(Object* object, int keyval, void* value) {            \
    return set_attr(KIND, kind##_table(object), object->handle, keyval, value, MPIR_ATTR_AINT,     \
                    #kind "_keyval");                                                              \
  }

FUNCTIONS_X(Comm, MPIR_ATTR_COMM, MPIR_Comm, comm)
FUNCTIONS_X(Type, MPIR_ATTR_TYPE, MPIR_Datatype, type)
FUNCTIONS_X(Win, MPIR_ATTR_WIN, MPIR_Win, win)
#endif
