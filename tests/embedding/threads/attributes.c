/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * MPI's attribute functions over attrcache's C API. This is the file that a runtime's author
 * writes.
 */

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "runtime.h"

/* Translates a result of attrcache into an MPI error. If a callback failed, its own code is the
 * error. */
static int error(int result, int callback_code) {
  switch (result) {
    case ATTRCACHE_OK:
      return MPI_SUCCESS;
    case ATTRCACHE_ERR_KEYVAL_INVALID:
    case ATTRCACHE_ERR_KEYVAL_UNKNOWN:
    case ATTRCACHE_ERR_KEYVAL_STALE:
    case ATTRCACHE_ERR_KEYVAL_KIND:
    case ATTRCACHE_ERR_KEYVAL_PREDEFINED:
      return MPI_ERR_KEYVAL;
    case ATTRCACHE_ERR_NULL:
    case ATTRCACHE_ERR_ARGUMENT:
      return MPI_ERR_ARG;
    case ATTRCACHE_ERR_MEMORY:
      return MPI_ERR_NO_MEM;
    case ATTRCACHE_ERR_CALLBACK:
      return callback_code;
    default:
      return MPI_ERR_OTHER;
  }
}

/* ---- Once per rank ---- */

/* Where a value is in the window that a table is in: at this offset. */
static const void* in_window(const attrcache_table* table, void* offset) {
  const char* const window = (const char*)table - offsetof(struct tiny_win, attributes);
  return window + (uintptr_t)offset;
}

static int define_in_window(struct tiny_rank* rank, int number, attrcache_tag tag, size_t offset) {
  const attrcache_predefined predefined = {.size = sizeof predefined,
                                           .number = number,
                                           .tag = tag,
                                           .where = ATTRCACHE_COMPUTED,
                                           .compute = in_window,
                                           .context = (void*)(uintptr_t)offset};
  return attrcache_keyval_define(rank->wins, &predefined);
}

static int define_predefined(struct tiny_rank* rank) {
  /* A predefined attribute has the same value on all communicators. A window has its own values: C
   * reads the base itself, but the addresses of the size and the unit. */
  const attrcache_predefined tag_ub = {.size = sizeof tag_ub,
                                       .number = MPI_TAG_UB,
                                       .tag = ATTRCACHE_AS_INT,
                                       .where = ATTRCACHE_PER_KIND,
                                       .value = 32767};
  int result = attrcache_keyval_define(rank->comms, &tag_ub);
  if (result == ATTRCACHE_OK)
    result =
        define_in_window(rank, MPI_WIN_BASE, ATTRCACHE_AS_POINTER, offsetof(struct tiny_win, base));
  if (result == ATTRCACHE_OK)
    result =
        define_in_window(rank, MPI_WIN_SIZE, ATTRCACHE_AS_AINT, offsetof(struct tiny_win, size));
  if (result == ATTRCACHE_OK)
    result = define_in_window(rank, MPI_WIN_DISP_UNIT, ATTRCACHE_AS_INT,
                              offsetof(struct tiny_win, unit));
  return result;
}

/* The default keyvals are those of attrcache's interposers. An MPI must have others, so that an
 * interposer above it can tell its own keyvals from the MPI's. */
#define FIRST_KEYVAL 0x20000000u

int tiny_attributes_begin(struct tiny_rank* rank) {
  const attrcache_keyval_numbers numbers = {.base = FIRST_KEYVAL, .invalid = MPI_KEYVAL_INVALID};
  const attrcache_domain_options options = {.size = sizeof options, .numbers = &numbers};
  int result = attrcache_domain_create(&options, &rank->domain);
  if (result != ATTRCACHE_OK) return error(result, 0);
  attrcache_kind_of(rank->domain, ATTRCACHE_COMMUNICATOR, &rank->comms);
  attrcache_kind_of(rank->domain, ATTRCACHE_WINDOW, &rank->wins);
  result = define_predefined(rank);
  if (result != ATTRCACHE_OK)
    attrcache_domain_destroy(rank->domain, ATTRCACHE_DESTROY_ANYWAY, NULL);
  return error(result, 0);
}

/* Deletes the attributes of an object that MPI_Finalize frees. */
static void end_object(attrcache_kind* kind, attrcache_table* table, void* object, int* first) {
  int code = 0;
  const int result = attrcache_delete_all(kind, table, object, ATTRCACHE_DRAIN_FINALLY, &code);
  if (*first == MPI_SUCCESS) *first = error(result, code);
}

/* MPI-2.2 8.7.1 wants the attributes of MPI_COMM_SELF deleted first. A failure must not stop the
 * rest. */
int tiny_attributes_end(struct tiny_rank* rank) {
  attrcache_leaks leaks = {.size = sizeof leaks};
  int first = MPI_SUCCESS, result;
  end_object(rank->comms, &rank->self.attributes, &rank->self, &first);
  end_object(rank->comms, &rank->world.attributes, &rank->world, &first);

  result = attrcache_domain_destroy(rank->domain, ATTRCACHE_DESTROY_IF_UNUSED, &leaks);
  if (result == ATTRCACHE_ERR_BUSY) {
    fprintf(stderr,
            "rank %d: %" PRIu64 " attributes are still attached to objects that were not freed\n",
            rank->world.rank, leaks.attributes);
    attrcache_domain_destroy(rank->domain, ATTRCACHE_DESTROY_ANYWAY, NULL);
  }
  return first;
}

/* ---- For the functions that copy and free objects ---- */

int tiny_copy_attributes(attrcache_kind* kind, attrcache_table* old_table, void* old,
                         attrcache_table* new_table, void* fresh) {
  int code = 0;
  const int result = attrcache_copy_all(kind, old_table, old, new_table, fresh, &code);
  return error(result, code);
}

int tiny_delete_attributes(attrcache_kind* kind, attrcache_table* table, void* object) {
  int code = 0;
  const int result = attrcache_delete_all(kind, table, object, ATTRCACHE_STOP_AT_FAILURE, &code);
  return error(result, code);
}

/* ---- MPI's functions, the same for each kind ---- */

static int create(attrcache_kind* kind, attrcache_callback* copy, attrcache_callback* remove,
                  int* keyval, void* extra_state) {
  /* The sentinels in mpi.h have the values of attrcache's, and its callbacks take the object as a
   * pointer. So callbacks need no translation. */
  const attrcache_callbacks callbacks = {
      .size = sizeof callbacks, .copy_fn = copy, .delete_fn = remove, .extra_state = extra_state};
  return error(attrcache_keyval_create(kind, &callbacks, keyval), 0);
}

static int set(attrcache_kind* kind, attrcache_table* table, void* object, int keyval,
               void* value) {
  int code = 0;
  const int result = attrcache_set(kind, table, object, keyval, value, &code);
  return error(result, code);
}

static int get(attrcache_kind* kind, attrcache_table* table, int keyval, void* value, int* flag) {
  int result;
  if (flag == NULL) return MPI_ERR_ARG;
  result = attrcache_get(kind, table, keyval, (void**)value);
  *flag = result == ATTRCACHE_OK;
  return result >= ATTRCACHE_OK ? MPI_SUCCESS : error(result, 0);
}

static int erase(attrcache_kind* kind, attrcache_table* table, void* object, int keyval) {
  int code = 0;
  const int result = attrcache_delete(kind, table, object, keyval, &code);
  return error(result, code);
}

/* The five functions of one kind of object. Name is the kind in MPI's names, Handle its handle
 * type, kinds its member of tiny_rank, and null_error the error for a null handle. */
#define FACE(Name, Handle, kinds, null_error)                                                     \
  int MPI_##Name##_create_keyval(MPI_##Name##_copy_attr_function* copy,                           \
                                 MPI_##Name##_delete_attr_function* remove, int* keyval,          \
                                 void* extra_state) {                                             \
    return create(tiny_me->kinds, (attrcache_callback*)copy, (attrcache_callback*)remove, keyval, \
                  extra_state);                                                                   \
  }                                                                                               \
  int MPI_##Name##_free_keyval(int* keyval) {                                                     \
    return error(attrcache_keyval_free(tiny_me->kinds, keyval), 0);                               \
  }                                                                                               \
  int MPI_##Name##_set_attr(Handle object, int keyval, void* value) {                             \
    if (object == NULL) return null_error;                                                        \
    return set(tiny_me->kinds, &object->attributes, object, keyval, value);                       \
  }                                                                                               \
  int MPI_##Name##_get_attr(Handle object, int keyval, void* value, int* flag) {                  \
    if (object == NULL) return null_error;                                                        \
    return get(tiny_me->kinds, &object->attributes, keyval, value, flag);                         \
  }                                                                                               \
  int MPI_##Name##_delete_attr(Handle object, int keyval) {                                       \
    if (object == NULL) return null_error;                                                        \
    return erase(tiny_me->kinds, &object->attributes, object, keyval);                            \
  }

FACE(Comm, MPI_Comm, comms, MPI_ERR_COMM)
FACE(Win, MPI_Win, wins, MPI_ERR_WIN)
