// SPDX-License-Identifier: Apache-2.0 OR MIT
// attrcache.h as it was released, without comments and macros. Written by abi_test.sh --update.

#include <stddef.h>
#include <stdint.h>
#define ATTRCACHE_API
enum {
  ATTRCACHE_OK = 0,
  ATTRCACHE_ABSENT = 1,
  ATTRCACHE_PRESENT = 2,
  ATTRCACHE_ERR_NULL = -1,
  ATTRCACHE_ERR_ARGUMENT = -2,
  ATTRCACHE_ERR_KEYVAL_INVALID = -3,
  ATTRCACHE_ERR_KEYVAL_UNKNOWN = -4,
  ATTRCACHE_ERR_KEYVAL_STALE = -5,
  ATTRCACHE_ERR_KEYVAL_KIND = -6,
  ATTRCACHE_ERR_KEYVAL_PREDEFINED = -7,
  ATTRCACHE_ERR_CALLBACK = -8,
  ATTRCACHE_ERR_REATTACHED = -9,
  ATTRCACHE_ERR_BUSY = -10,
  ATTRCACHE_ERR_FREED = -11,
  ATTRCACHE_ERR_EXISTS = -12,
  ATTRCACHE_ERR_THREAD = -13,
  ATTRCACHE_ERR_MOVED = -14,
  ATTRCACHE_ERR_MEMORY = -15,
  ATTRCACHE_ERR_KEYVALS_EXHAUSTED = -16,
  ATTRCACHE_ERR_KINDS_EXHAUSTED = -17,
  ATTRCACHE_ERR_UNSUPPORTED = -18
};
ATTRCACHE_API const char* attrcache_strerror(int result);
ATTRCACHE_API int attrcache_version(void);
ATTRCACHE_API const char* attrcache_platform(void);
typedef struct attrcache_domain attrcache_domain;
typedef struct attrcache_kind attrcache_kind;
typedef enum attrcache_handle_form {
  ATTRCACHE_HANDLE_POINTER = 0,
  ATTRCACHE_HANDLE_INT = 1
} attrcache_handle_form;
typedef struct attrcache_kind_options {
  uint32_t size;
  attrcache_handle_form handle;
  const char* name;
  int (*fortran_handle)(void* object);
} attrcache_kind_options;
enum { ATTRCACHE_COMMUNICATOR = 0, ATTRCACHE_DATATYPE = 1, ATTRCACHE_WINDOW = 2 };
typedef struct attrcache_thread {
  uint64_t opaque[4];
} attrcache_thread;
typedef struct attrcache_thread_hooks {
  attrcache_thread* (*self)(void* context);
  void* context;
} attrcache_thread_hooks;
typedef int attrcache_catch_exceptions(void (*call)(void* argument), void* argument);
typedef struct attrcache_allocator {
  void* (*allocate)(size_t bytes, size_t alignment, void* context);
  void (*release)(void* memory, void* context);
  void* context;
} attrcache_allocator;
typedef struct attrcache_keyval_numbers {
  uint32_t base;
  int invalid;
} attrcache_keyval_numbers;
typedef struct attrcache_domain_options {
  uint32_t size;
  unsigned flags;
  const attrcache_kind_options* communicator;
  const attrcache_kind_options* datatype;
  const attrcache_kind_options* window;
  const attrcache_thread_hooks* threads;
  attrcache_catch_exceptions* catch_exceptions;
  const attrcache_keyval_numbers* numbers;
  int fint_bytes;
  int fortran_false;
  const attrcache_allocator* allocator;
} attrcache_domain_options;
enum { ATTRCACHE_TELL = 1, ATTRCACHE_FULL_FENCES = 2 };
ATTRCACHE_API int attrcache_domain_create(const attrcache_domain_options* options,
                                          attrcache_domain** domain);
typedef struct attrcache_leaks {
  uint32_t size;
  uint64_t keyvals;
  uint64_t freed_keyvals;
  uint64_t attributes;
} attrcache_leaks;
typedef enum attrcache_destroy_mode {
  ATTRCACHE_DESTROY_IF_UNUSED = 0,
  ATTRCACHE_DESTROY_ANYWAY = 1
} attrcache_destroy_mode;
ATTRCACHE_API int attrcache_domain_destroy(attrcache_domain* domain, attrcache_destroy_mode mode,
                                           attrcache_leaks* leaks);
ATTRCACHE_API int attrcache_kind_of(attrcache_domain* domain, int number, attrcache_kind** kind);
ATTRCACHE_API int attrcache_kind_register(attrcache_domain* domain,
                                          const attrcache_kind_options* options,
                                          attrcache_kind** kind);
ATTRCACHE_API int attrcache_kind_numbers(const attrcache_kind* kind,
                                         attrcache_keyval_numbers* numbers);
typedef enum attrcache_language {
  ATTRCACHE_C = 0,
  ATTRCACHE_FORTRAN_FINT = 1,
  ATTRCACHE_FORTRAN_AINT = 2,
  ATTRCACHE_RAW = 3
} attrcache_language;
typedef enum attrcache_tag {
  ATTRCACHE_AS_POINTER = 0,
  ATTRCACHE_AS_INT = 1,
  ATTRCACHE_AS_FINT = 2,
  ATTRCACHE_AS_AINT = 3
} attrcache_tag;
typedef void attrcache_callback(void);
typedef int attrcache_copy_fn(void* object, int keyval, void* extra_state, void* value_in,
                              void* value_out, int* flag);
typedef int attrcache_delete_fn(void* object, int keyval, void* value, void* extra_state);
typedef int attrcache_copy_int_fn(int object, int keyval, void* extra_state, void* value_in,
                                  void* value_out, int* flag);
typedef int attrcache_delete_int_fn(int object, int keyval, void* value, void* extra_state);
typedef void attrcache_copy_fint_fn(int* object, int* keyval, int* extra_state, int* value_in,
                                    int* value_out, int* flag, int* ierror);
typedef void attrcache_delete_fint_fn(int* object, int* keyval, int* value, int* extra_state,
                                      int* ierror);
typedef void attrcache_copy_aint_fn(int* object, int* keyval, intptr_t* extra_state,
                                    intptr_t* value_in, intptr_t* value_out, int* flag,
                                    int* ierror);
typedef void attrcache_delete_aint_fn(int* object, int* keyval, intptr_t* value,
                                      intptr_t* extra_state, int* ierror);
typedef int attrcache_copy_raw_fn(void* object, int keyval, void* extra_state, void* context,
                                  attrcache_tag tag, intptr_t value, attrcache_tag* tag_out,
                                  intptr_t* value_out, int* flag);
typedef int attrcache_delete_raw_fn(void* object, int keyval, void* extra_state, void* context,
                                    attrcache_tag tag, intptr_t value);
enum { ATTRCACHE_DELETE_ONCE = 1 };
typedef struct attrcache_callbacks {
  uint32_t size;
  unsigned flags;
  attrcache_language language;
  attrcache_callback* copy_fn;
  attrcache_callback* delete_fn;
  void* extra_state;
  void (*destructor)(void* extra_state, void* context);
  void* context;
} attrcache_callbacks;
ATTRCACHE_API int attrcache_keyval_create(attrcache_kind* kind,
                                          const attrcache_callbacks* callbacks, int* keyval);
ATTRCACHE_API int attrcache_keyval_set_callbacks(attrcache_kind* kind, int keyval,
                                                 const attrcache_callbacks* callbacks);
ATTRCACHE_API int attrcache_keyval_free(attrcache_kind* kind, int* keyval);
typedef struct attrcache_table {
  _Alignas(16) uint64_t opaque[8];
} attrcache_table;
static inline int attrcache_table_is_aligned(const attrcache_table* table) {
  return (((uintptr_t)(table)) & 15) == 0;
}
static inline int attrcache_table_is_empty(const attrcache_table* table) {
  return (__atomic_load_n(&table->opaque[0], 0) | __atomic_load_n(&table->opaque[1], 0)) == 0;
}
ATTRCACHE_API int attrcache_set(attrcache_kind* kind, attrcache_table* table, void* object,
                                int keyval, void* value, int* callback_code);
ATTRCACHE_API int attrcache_set_as(attrcache_kind* kind, attrcache_table* table, void* object,
                                   int keyval, intptr_t value, attrcache_tag tag,
                                   int* callback_code);
ATTRCACHE_API int attrcache_set_if_absent(attrcache_kind* kind, attrcache_table* table,
                                          void* object, int keyval, intptr_t value,
                                          attrcache_tag tag, void** present);
ATTRCACHE_API int attrcache_get(const attrcache_kind* kind, const attrcache_table* table,
                                int keyval, void** value);
ATTRCACHE_API int attrcache_get_renumbered(const attrcache_kind* kind, const attrcache_table* table,
                                           int keyval, void** value);
static inline int attrcache_get_with_base(const attrcache_kind* kind, const attrcache_table* table,
                                          uint32_t base, int keyval, void** value) {
  return attrcache_get_renumbered(
      kind, table, ((int)(((uint32_t)(keyval)) ^ base ^ ((uint32_t)(0x40000000)))), value);
}
ATTRCACHE_API int attrcache_get_fint(const attrcache_kind* kind, const attrcache_table* table,
                                     int keyval, int* value);
ATTRCACHE_API int attrcache_get_aint(const attrcache_kind* kind, const attrcache_table* table,
                                     int keyval, intptr_t* value);
ATTRCACHE_API int attrcache_delete(attrcache_kind* kind, attrcache_table* table, void* object,
                                   int keyval, int* callback_code);
ATTRCACHE_API int attrcache_copy_all(attrcache_kind* kind, attrcache_table* old_table,
                                     void* old_object, attrcache_table* new_table, void* new_object,
                                     int* callback_code);
typedef enum attrcache_delete_mode {
  ATTRCACHE_STOP_AT_FAILURE = 0,
  ATTRCACHE_DRAIN = 1,
  ATTRCACHE_DRAIN_FINALLY = 2
} attrcache_delete_mode;
ATTRCACHE_API int attrcache_delete_all(attrcache_kind* kind, attrcache_table* table, void* object,
                                       attrcache_delete_mode mode, int* callback_code);
typedef void attrcache_deleted_fn(void* context, int keyval, int code);
ATTRCACHE_API int attrcache_delete_each(attrcache_kind* kind, attrcache_table* table, void* object,
                                        attrcache_delete_mode mode,
                                        attrcache_deleted_fn* deleted_fn, void* context);
ATTRCACHE_API int attrcache_table_abandon(attrcache_kind* kind, attrcache_table* table);
ATTRCACHE_API int attrcache_table_move(attrcache_kind* kind, attrcache_table* from,
                                       attrcache_table* to);
typedef struct attrcache_borrowed {
  void* value;
  uint64_t opaque[5];
} attrcache_borrowed;
ATTRCACHE_API int attrcache_borrow(attrcache_kind* kind, attrcache_table* table, int keyval,
                                   attrcache_borrowed* borrowed);
ATTRCACHE_API int attrcache_give_back(attrcache_borrowed* borrowed);
typedef enum attrcache_where { ATTRCACHE_PER_KIND = 0, ATTRCACHE_COMPUTED = 1 } attrcache_where;
typedef const void* attrcache_compute_fn(const attrcache_table* table, void* context);
typedef struct attrcache_predefined {
  uint32_t size;
  int number;
  attrcache_tag tag;
  attrcache_where where;
  intptr_t value;
  attrcache_compute_fn* compute;
  void* context;
} attrcache_predefined;
ATTRCACHE_API int attrcache_keyval_define(attrcache_kind* kind,
                                          const attrcache_predefined* predefined);
ATTRCACHE_API int attrcache_set_predefined(attrcache_kind* kind, int keyval, intptr_t value);
typedef struct attrcache_keyval_info {
  uint32_t size;
  int keyval;
  int freed;
  int predefined;
  uint64_t attributes;
} attrcache_keyval_info;
typedef struct attrcache_attribute_info {
  uint32_t size;
  int keyval;
  intptr_t value;
  uint64_t holders;
  attrcache_tag tag;
  int deleting;
} attrcache_attribute_info;
typedef struct attrcache_counters {
  uint32_t size;
  uint64_t keyvals_created;
  uint64_t keyvals_freed;
  uint64_t keyvals_gone;
  uint64_t attributes;
  uint64_t reclaimable;
} attrcache_counters;
ATTRCACHE_API int attrcache_keyval_list(attrcache_kind* kind, attrcache_keyval_info* infos,
                                        size_t capacity, size_t* count);
ATTRCACHE_API int attrcache_keyval_describe(attrcache_kind* kind, int keyval,
                                            attrcache_keyval_info* info,
                                            attrcache_callbacks* callbacks);
ATTRCACHE_API int attrcache_attribute_list(attrcache_kind* kind, const attrcache_table* table,
                                           attrcache_attribute_info* infos, size_t capacity,
                                           size_t* count);
ATTRCACHE_API int attrcache_domain_counters(attrcache_domain* domain, attrcache_counters* counters);
#define ATTRCACHE_ADDRESS(pointer) ((uintptr_t)(pointer))
#define ATTRCACHE_ALIGNAS(n) _Alignas(n)
#define ATTRCACHE_CALLBACK_THREW (-2147483647 - 1)
#define ATTRCACHE_CAST(type, value) ((type)(value))
#define ATTRCACHE_DUP_FN ((attrcache_callback*)1)
#define ATTRCACHE_KEYVAL_INVALID 0
#define ATTRCACHE_KEYVAL_MAX 0x5fffffff
#define ATTRCACHE_KEYVAL_MIN 0x40000000
#define ATTRCACHE_NO_CALLBACK ((attrcache_callback*)0)
#define ATTRCACHE_NULL_COPY_FN ATTRCACHE_NO_CALLBACK
#define ATTRCACHE_NULL_DELETE_FN ATTRCACHE_NO_CALLBACK
#define ATTRCACHE_TABLE_INIT \
  {                          \
    { 0 }                    \
  }
