/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What attrcache/mpix.h declares, for programs of an MPI that has attrcache inside. All that it
 * needs of the MPI are functions that programs have, too.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#pragma GCC visibility push(hidden)
#include "attrcache/attrcache.h"
#pragma GCC visibility pop

#include "as_set.h"
#include "error_class.h"
#include "proposed.h"

/* What programs know as MPI_`name`. MPICH, where it makes the library of the standard ABI, has
 * these as ABI_, and its own under MPI's names. */
#ifdef MPIR_ATTR_ABI
#define PROGRAMS(name) ABI_##name
#else
#define PROGRAMS(name) MPI_##name
#endif

/* In Open MPI from 6.0 on, this is in a library below those with MPI's functions, of which there is
 * one for each of two ABIs. It is linked without them, and finds those that the program has. */
#ifdef OMPI_STANDARD_ABI
#pragma weak PMPI_Initialized
#pragma weak PMPI_Comm_call_errhandler
#pragma weak PMPI_Win_call_errhandler
#pragma weak PMPI_Comm_get_attr
#pragma weak PMPI_Type_get_attr
#pragma weak PMPI_Win_get_attr
#pragma weak PMPI_Session_call_errhandler
#pragma weak PMPI_Session_get_errhandler
#pragma weak PMPI_Errhandler_free
#pragma weak PMPI_File_call_errhandler
#pragma weak PMPI_File_get_amode
#pragma weak PMPI_Abi_get_version
#endif

/* Open MPI's library of the standard ABI subtracts this from the keyvals that programs give to
 * MPI's functions, and its MPI_KEYVAL_INVALID is another one. Error classes are the same. */
enum { OPENMPIS_ABI_KEYVALS = 16385, OPENMPIS_ABI_INVALID = 0 };
static int program_is_of_openmpis_abi(void) {
#ifdef OMPI_STANDARD_ABI
  int version = -1, subversion;

  return PMPI_Abi_get_version != NULL &&
         PMPI_Abi_get_version(&version, &subversion) == MPI_SUCCESS && version >= 0;
#else
  return 0;
#endif
}

#define EXPORTED __attribute__((visibility("default")))

/* Behind attrcache's kinds of communicators, datatypes and windows. */
enum { SESSION = ATTRCACHE_WINDOW + 1, FILES, KINDS };

static attrcache_kind* kinds[KINDS];

/* The value of ATTRCACHE_PROPOSED_TABLE. It is in a variable of the thread that asks. */
static const void* table_itself(const attrcache_table* table, void* unused) {
  static __thread const attrcache_table* asked;

  (void)unused;
  asked = table;
  return &asked;
}

static int define_table(attrcache_domain* of, int number) {
  const attrcache_predefined predefined = {.size = sizeof predefined,
                                           .number = ATTRCACHE_PROPOSED_TABLE,
                                           .tag = ATTRCACHE_AS_POINTER,
                                           .where = ATTRCACHE_COMPUTED,
                                           .compute = table_itself};
  const int result = attrcache_kind_of(of, number, &kinds[number]);

  return result == ATTRCACHE_OK ? attrcache_keyval_define(kinds[number], &predefined) : result;
}

int attrcache_proposed_begin(attrcache_domain* of) {
  const attrcache_handle_form form = /* files have pointers in MPICH as well */
      sizeof(PROGRAMS(Session)) < sizeof(void*) ? ATTRCACHE_HANDLE_INT : ATTRCACHE_HANDLE_POINTER;
  const attrcache_kind_options session = {sizeof session, form, "session", NULL};
  const attrcache_kind_options file = {sizeof file, ATTRCACHE_HANDLE_POINTER, "file", NULL};
  int result = attrcache_kind_register(of, &session, &kinds[SESSION]);

  if (result == ATTRCACHE_OK) result = attrcache_kind_register(of, &file, &kinds[FILES]);
  for (int number = ATTRCACHE_COMMUNICATOR; result == ATTRCACHE_OK && number <= ATTRCACHE_WINDOW;
       ++number) {
    result = define_table(of, number);
  }
  return result;
}

/* ---- The tables ---- */

/* One for each object that ever had an attribute; reused for another object when that has ended.
 * They are never released, so that walking along them needs no lock. */
typedef struct Attributes {
  attrcache_table table;
  uintptr_t handle; /* of nothing if `used` is 0 */
  int used;
  struct Attributes* next;
} Attributes;

static Attributes* lists[KINDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for changes of the lists */
/* How many threads are in attrcache_proposed_end_all, which deletes from sessions that others may
 * end: no place becomes that of another object meanwhile. Guarded by the lock. */
static int ending;

/* An object that lives keeps its place, so a thread that uses it finds it. The acquires pair with
 * the releases in make(): a thread that sees the handle sees the table as the place's earlier
 * object left it, even if the `used` that it saw was that object's. */
static Attributes* find(int kind, uintptr_t handle) {
  Attributes* a = __atomic_load_n(&lists[kind], __ATOMIC_ACQUIRE);

  while (a != NULL && !(__atomic_load_n(&a->used, __ATOMIC_ACQUIRE) &&
                        __atomic_load_n(&a->handle, __ATOMIC_ACQUIRE) == handle)) {
    a = a->next;
  }
  return a;
}

/* Null: out of memory. */
static Attributes* make(int kind, uintptr_t handle) {
  Attributes* a;

  pthread_mutex_lock(&lock);
  a = find(kind, handle);
  for (Attributes* old = ending ? NULL : lists[kind]; a == NULL && old != NULL; old = old->next) {
    if (!old->used) a = old;
  }
  if (a == NULL && (a = aligned_alloc(64, (sizeof *a + 63) / 64 * 64)) != NULL) {
    *a = (Attributes){.table = ATTRCACHE_TABLE_INIT, .next = lists[kind]};
    __atomic_store_n(&lists[kind], a, __ATOMIC_RELEASE);
  }
  if (a != NULL) {
    __atomic_store_n(&a->handle, handle, __ATOMIC_RELEASE);
    __atomic_store_n(&a->used, 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
  return a;
}

/* ---- Errors ---- */

static int raise_on(int kind, const void* handle, int error) {
  if (error == MPI_SUCCESS) return error;
  if (kind == SESSION) {
    PMPI_Session_call_errhandler(*(const PROGRAMS(Session)*)handle, error);
  } else {
    PMPI_File_call_errhandler(*(const PROGRAMS(File)*)handle, error);
  }
  return error;
}

/* For an error of a keyval, which concerns no object. */
static int raise_alone(int error) {
  int has_world = 0;

  if (error != MPI_SUCCESS && PMPI_Initialized(&has_world) == MPI_SUCCESS && has_world) {
    PMPI_Comm_call_errhandler(PROGRAMS(COMM_SELF), error);
  }
  return error;
}

/* ---- Operations ---- */

/* A handle as a key, and as attrcache's object. */
static uintptr_t key_of(int kind, const void* handle) {
  return kind == SESSION ? (uintptr_t) * (const PROGRAMS(Session)*)handle
                         : (uintptr_t) * (const PROGRAMS(File)*)handle;
}

/* Lets MPI look at a handle that isn't known here, and raise the error if it is bad. */
static int look_at(int kind, const void* handle) {
  PROGRAMS(Errhandler) handler;
  int mode, error;

#ifdef MPIR_ATTR_ABI /* there MPICH itself dereferences this one, and crashes */
  if (kind == FILES && key_of(kind, handle) == (uintptr_t)MPI_FILE_NULL)
    return raise_on(kind, handle, MPI_ERR_FILE);
#endif
  if (kind == FILES) return PMPI_File_get_amode(*(const PROGRAMS(File)*)handle, &mode);
  error = PMPI_Session_get_errhandler(*(const PROGRAMS(Session)*)handle, &handler);
  if (error == MPI_SUCCESS) PMPI_Errhandler_free(&handler);
  return error;
}

typedef enum { TO_SET, TO_SET_IF_ABSENT, TO_GET, TO_DELETE } Operation;

/* `found` is where TO_GET and TO_SET_IF_ABSENT put what is attached. */
static int operate(Operation what, int kind, const void* handle, int keyval, void* value,
                   void* found, int* flag) {
  static attrcache_table nothing;
  const uintptr_t key = key_of(kind, handle);
  Attributes* a = find(kind, key);
  attrcache_table* table;
  int code = 0, result, error;

  if (a == NULL && (error = look_at(kind, handle)) != MPI_SUCCESS) return error;
  if (a == NULL && (what == TO_SET || what == TO_SET_IF_ABSENT) && (a = make(kind, key)) == NULL) {
    return raise_on(kind, handle, MPI_ERR_NO_MEM);
  }
  table = a != NULL ? &a->table : &nothing;
  if (what == TO_SET) {
    result = attrcache_set(kinds[kind], table, (void*)key, keyval, value, &code);
  } else if (what == TO_SET_IF_ABSENT) {
    result = flag == NULL
                 ? ATTRCACHE_ERR_NULL
                 : attrcache_set_if_absent(kinds[kind], table, (void*)key, keyval, (intptr_t)value,
                                           ATTRCACHE_AS_POINTER, (void**)found);
    if (result >= ATTRCACHE_OK) *flag = result == ATTRCACHE_OK;
  } else if (what == TO_DELETE) {
    result = attrcache_delete(kinds[kind], table, (void*)key, keyval, &code);
  } else {
    result = flag == NULL ? ATTRCACHE_ERR_NULL
                          : attrcache_get(kinds[kind], table, keyval, (void**)found);
    if (flag != NULL) *flag = result == ATTRCACHE_OK;
  }
  return raise_on(kind, handle, attrcache_error_class(result, code));
}

/* Of any kind. Callbacks get values as they were set. */
static int create_keyval(int kind, attrcache_callback* copy_fn, attrcache_callback* delete_fn,
                         void (*destructor)(void*), unsigned flags, int* keyval,
                         void* extra_state) {
  const attrcache_callbacks callbacks = {.size = sizeof callbacks,
                                         .flags = flags,
                                         .copy_fn = copy_fn,
                                         .delete_fn = delete_fn,
                                         .extra_state = extra_state};
  const int handles_are_ints = kind != FILES && sizeof(PROGRAMS(Comm)) < sizeof(void*);
  const int result = create_as_set(kinds[kind], callbacks, destructor, handles_are_ints, keyval);

  if (result == ATTRCACHE_OK && kind <= ATTRCACHE_WINDOW && program_is_of_openmpis_abi())
    *keyval += OPENMPIS_ABI_KEYVALS;
  return raise_alone(attrcache_error_class(result, 0));
}

/* Stores the program's invalid value, which may differ from the domain's, before a destructor runs,
 * because that may free the variable. */
static int free_keyval(int kind, int* keyval) {
  int freed, result;

  if (keyval == NULL) return raise_alone(attrcache_error_class(ATTRCACHE_ERR_NULL, 0));
  freed = *keyval;
  *keyval = program_is_of_openmpis_abi() ? OPENMPIS_ABI_INVALID : PROGRAMS(KEYVAL_INVALID);
  result = attrcache_keyval_free(kinds[kind], &freed);
  if (result < ATTRCACHE_OK) *keyval = freed; /* it failed, and has left its argument alone */
  return raise_alone(attrcache_error_class(result, 0));
}

/* A delete function may end the object itself; then this finds another one in its place, or
 * none. */
static int end(int kind, const void* handle) {
  const uintptr_t key = key_of(kind, handle);
  Attributes* const a = find(kind, key);
  int code = 0, result;

  if (a == NULL) return MPI_SUCCESS;
  result = attrcache_delete_all(kinds[kind], &a->table, (void*)key, ATTRCACHE_DRAIN_FINALLY, &code);
  pthread_mutex_lock(&lock);
  if (a->handle == key) __atomic_store_n(&a->used, 0, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  return raise_on(kind, handle, attrcache_error_class(result, code));
}

int attrcache_proposed_end_session(const void* handle) { return end(SESSION, handle); }
int attrcache_proposed_end_file(const void* handle) { return end(FILES, handle); }

/* A session may go on, and be in use by other threads: so its attributes are deleted one after the
 * other, the youngest first, and its table stays. */
static int delete_each(Attributes* a) {
  const uintptr_t key = a->handle;
  const PROGRAMS(Session) session = (PROGRAMS(Session))key;
  attrcache_attribute_info* infos;
  size_t room, count;
  int first = MPI_SUCCESS, code, result;

  attrcache_attribute_list(kinds[SESSION], &a->table, NULL, 0, &room);
  if (room == 0) return MPI_SUCCESS;
  if ((infos = malloc(room * sizeof *infos)) == NULL)
    return raise_on(SESSION, &session, MPI_ERR_NO_MEM);
  infos[0].size = sizeof *infos;
  attrcache_attribute_list(kinds[SESSION], &a->table, infos, room, &count);
  /* A callback or another thread may end the session meanwhile. */
  for (size_t i = count < room ? count : room; i-- > 0 && find(SESSION, key) == a;) {
    code = 0;
    result = attrcache_delete(kinds[SESSION], &a->table, (void*)key, infos[i].keyval, &code);
    if (first == MPI_SUCCESS) first = attrcache_error_class(result, code);
  }
  free(infos);
  return find(SESSION, key) == a ? raise_on(SESSION, &session, first) : first;
}

static void add_to_ending(int one) {
  pthread_mutex_lock(&lock);
  ending += one;
  pthread_mutex_unlock(&lock);
}

int attrcache_proposed_end_all(void) {
  int first = MPI_SUCCESS, error;

  add_to_ending(1);
  for (int kind = FILES; kind >= SESSION; --kind) {
    for (Attributes* a = __atomic_load_n(&lists[kind], __ATOMIC_ACQUIRE); a != NULL; a = a->next) {
      PROGRAMS(File) file;

      if (!__atomic_load_n(&a->used, __ATOMIC_ACQUIRE)) continue; /* as find() */
      file = (PROGRAMS(File))__atomic_load_n(&a->handle, __ATOMIC_ACQUIRE);
      error = kind == SESSION ? delete_each(a) : end(FILES, &file);
      if (first == MPI_SUCCESS) first = error;
    }
  }
  add_to_ending(-1);
  return first;
}

/* ---- The functions of programs ---- */

#define FUNCTIONS(Kind, KIND)                                                                      \
  typedef int Kind##_delete_fn(PROGRAMS(Kind), int, void*, void*);                                 \
  EXPORTED int MPIX_##Kind##_create_keyval(Kind##_delete_fn* delete_fn, int* keyval,               \
                                           void* extra_state) {                                    \
    return create_keyval(KIND, NULL, (attrcache_callback*)delete_fn, NULL, 0, keyval,              \
                         extra_state);                                                             \
  }                                                                                                \
  EXPORTED int MPIX_##Kind##_create_keyval_x(                                                      \
      Kind##_delete_fn* delete_fn, void (*destructor)(void*), int* keyval, void* extra_state) {    \
    return create_keyval(KIND, NULL, (attrcache_callback*)delete_fn, destructor, 0, keyval,        \
                         extra_state);                                                             \
  }                                                                                                \
  EXPORTED int MPIX_##Kind##_create_keyval_once(                                                   \
      Kind##_delete_fn* delete_fn, void (*destructor)(void*), int* keyval, void* extra_state) {    \
    return create_keyval(KIND, NULL, (attrcache_callback*)delete_fn, destructor,                   \
                         ATTRCACHE_DELETE_ONCE, keyval, extra_state);                              \
  }                                                                                                \
  EXPORTED int MPIX_##Kind##_free_keyval(int* keyval) { return free_keyval(KIND, keyval); }        \
  EXPORTED int MPIX_##Kind##_set_attr(PROGRAMS(Kind) object, int keyval, void* value) {            \
    return operate(TO_SET, KIND, &object, keyval, value, NULL, NULL);                              \
  }                                                                                                \
  EXPORTED int MPIX_##Kind##_set_attr_if_absent(PROGRAMS(Kind) object, int keyval, void* value,    \
                                                void* present, int* flag) {                        \
    return operate(TO_SET_IF_ABSENT, KIND, &object, keyval, value, present, flag);                 \
  }                                                                                                \
  EXPORTED int MPIX_##Kind##_get_attr(PROGRAMS(Kind) object, int keyval, void* value, int* flag) { \
    return operate(TO_GET, KIND, &object, keyval, NULL, value, flag);                              \
  }                                                                                                \
  EXPORTED int MPIX_##Kind##_delete_attr(PROGRAMS(Kind) object, int keyval) {                      \
    return operate(TO_DELETE, KIND, &object, keyval, NULL, NULL, NULL);                            \
  }

FUNCTIONS(Session, SESSION)
FUNCTIONS(File, FILES)

/* ---- Keyvals of communicators, datatypes and windows ---- */

/* MPI's own functions become attrcache's, which cost no call. */
#define KNOWN(fn, mpi, ours) ((fn) == (mpi) ? (ours) : (attrcache_callback*)(fn))

static int set_if_absent(int kind, attrcache_table* table, int keyval, int shift, void* value,
                         void* present) {
  if (shift != 0 && keyval == OPENMPIS_ABI_INVALID) return ATTRCACHE_ERR_KEYVAL_INVALID;
  keyval = (int)((unsigned)keyval - (unsigned)shift);
  return attrcache_set_if_absent(kinds[kind], table, NULL, keyval, (intptr_t)value,
                                 ATTRCACHE_AS_POINTER, (void**)present);
}

static int raise_on_Comm(PROGRAMS(Comm) comm, int error) {
  if (error != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, error);
  return error;
}
static int raise_on_Win(PROGRAMS(Win) win, int error) {
  if (error != MPI_SUCCESS) PMPI_Win_call_errhandler(win, error);
  return error;
}
static int raise_on_Type(PROGRAMS(Datatype) type, int error) {
  (void)type; /* datatypes have no error handler */
  return raise_alone(error);
}

#define CREATE(name, Kind, KIND, number, once)                                                 \
  EXPORTED int name(MPI_##Kind##_copy_attr_function* copy_fn,                                  \
                    MPI_##Kind##_delete_attr_function* delete_fn, void (*destructor)(void*),   \
                    int* keyval, void* extra_state) {                                          \
    return create_keyval(number,                                                               \
                         copy_fn == MPI_##KIND##_NULL_COPY_FN                                  \
                             ? ATTRCACHE_NULL_COPY_FN                                          \
                             : KNOWN(copy_fn, MPI_##KIND##_DUP_FN, ATTRCACHE_DUP_FN),          \
                         KNOWN(delete_fn, MPI_##KIND##_NULL_DELETE_FN, ATTRCACHE_NO_CALLBACK), \
                         destructor, once, keyval, extra_state);                               \
  }

/* MPI looks at the handle, and raises the error if it is bad. */
#define SET_IF_ABSENT(Kind, number, Object)                                                       \
  EXPORTED int MPIX_##Kind##_set_attr_if_absent(PROGRAMS(Object) object, int keyval, void* value, \
                                                void* present, int* flag) {                       \
    const int shift = program_is_of_openmpis_abi() ? OPENMPIS_ABI_KEYVALS : 0;                    \
    void* table = NULL;                                                                           \
    int found = 0, result;                                                                        \
    const int error =                                                                             \
        PMPI_##Kind##_get_attr(object, ATTRCACHE_PROPOSED_TABLE + shift, &table, &found);         \
                                                                                                  \
    if (error != MPI_SUCCESS) return error;                                                       \
    result = flag == NULL ? ATTRCACHE_ERR_NULL                                                    \
                          : set_if_absent(number, table, keyval, shift, value, present);          \
    if (result >= ATTRCACHE_OK) *flag = result == ATTRCACHE_OK;                                   \
    return raise_on_##Kind(object, attrcache_error_class(result, 0));                             \
  }
SET_IF_ABSENT(Comm, ATTRCACHE_COMMUNICATOR, Comm)
SET_IF_ABSENT(Type, ATTRCACHE_DATATYPE, Datatype)
SET_IF_ABSENT(Win, ATTRCACHE_WINDOW, Win)

#if defined(MPIR_ATTR_AS_FORTRAN) && !defined(MPIR_ATTR_ABI) /* MPICH has it since 5.1 */
#define CREATE_X(Kind, KIND, number)
#else
#define CREATE_X(Kind, KIND, number) CREATE(MPIX_##Kind##_create_keyval_x, Kind, KIND, number, 0)
#endif
#define KEYVALS(Kind, KIND, number) \
  CREATE_X(Kind, KIND, number)      \
  CREATE(MPIX_##Kind##_create_keyval_once, Kind, KIND, number, ATTRCACHE_DELETE_ONCE)

KEYVALS(Comm, COMM, ATTRCACHE_COMMUNICATOR)
KEYVALS(Type, TYPE, ATTRCACHE_DATATYPE)
KEYVALS(Win, WIN, ATTRCACHE_WINDOW)
