/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Keyvals whose functions get values as they were set, not as C sees them, and whose copies have
 * the type of the original: those of MPIX_Comm_create_keyval_x and its kin. For C and C++; one
 * source file of an embedding or interposer includes it, after attrcache.h.
 */
#ifndef ATTRCACHE_RUNTIMES_AS_SET_H_
#define ATTRCACHE_RUNTIMES_AS_SET_H_

#include <stdint.h>
#include <stdlib.h>

/* A program's functions, and how they get objects: by handles that are ints, or pointers. */
typedef struct {
  attrcache_callback *copy_fn, *delete_fn;
  void (*destructor)(void* extra_state);
  int handles_are_ints;
} As_set;

static int copy_as_set(void* object, int keyval, void* extra_state, void* context,
                       attrcache_tag tag, intptr_t value, attrcache_tag* tag_out,
                       intptr_t* value_out, int* flag) {
  const As_set* const as_set = (const As_set*)context;

  *tag_out = tag;
  return as_set->handles_are_ints
             ? ((attrcache_copy_int_fn*)as_set->copy_fn)((int)(intptr_t)object, keyval, extra_state,
                                                         (void*)value, value_out, flag)
             : ((attrcache_copy_fn*)as_set->copy_fn)(object, keyval, extra_state, (void*)value,
                                                     value_out, flag);
}

static int delete_as_set(void* object, int keyval, void* extra_state, void* context,
                         attrcache_tag tag, intptr_t value) {
  const As_set* const as_set = (const As_set*)context;

  (void)tag;
  return as_set->handles_are_ints
             ? ((attrcache_delete_int_fn*)as_set->delete_fn)((int)(intptr_t)object, keyval,
                                                             (void*)value, extra_state)
             : ((attrcache_delete_fn*)as_set->delete_fn)(object, keyval, (void*)value, extra_state);
}

static void end_as_set(void* extra_state, void* context) {
  void (*const destructor)(void*) = ((const As_set*)context)->destructor;

  free(context);
  if (destructor != NULL) destructor(extra_state);
}

/* Has `destructor`, and the functions of `callbacks`, called in that way. Its context must be
 * unused; free() it if no keyval is made. Returns a result of attrcache's. */
static int call_as_set(attrcache_callbacks* callbacks, void (*destructor)(void*),
                       int handles_are_ints) {
  As_set* const as_set = (As_set*)malloc(sizeof *as_set);

  if (as_set == NULL) return ATTRCACHE_ERR_MEMORY;
  as_set->copy_fn = callbacks->copy_fn;
  as_set->delete_fn = callbacks->delete_fn;
  as_set->destructor = destructor;
  as_set->handles_are_ints = handles_are_ints;
  if (callbacks->copy_fn != ATTRCACHE_NULL_COPY_FN && callbacks->copy_fn != ATTRCACHE_DUP_FN) {
    callbacks->copy_fn = (attrcache_callback*)copy_as_set;
  }
  if (callbacks->delete_fn != ATTRCACHE_NULL_DELETE_FN) {
    callbacks->delete_fn = (attrcache_callback*)delete_as_set;
  }
  callbacks->language = ATTRCACHE_RAW;
  callbacks->context = as_set;
  callbacks->destructor = end_as_set;
  return ATTRCACHE_OK;
}

/* Makes a keyval of `destructor` and the functions, extra_state and flags of `callbacks`. Returns a
 * result of attrcache's. */
static inline int create_as_set(attrcache_kind* kind, attrcache_callbacks callbacks,
                                void (*destructor)(void*), int handles_are_ints, int* keyval) {
  int result = call_as_set(&callbacks, destructor, handles_are_ints);

  if (result != ATTRCACHE_OK) return result;
  result = attrcache_keyval_create(kind, &callbacks, keyval);
  if (result != ATTRCACHE_OK) free(callbacks.context);
  return result;
}

#endif /* ATTRCACHE_RUNTIMES_AS_SET_H_ */
