/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Attributes in MPICH, by attrcache: what belongs to no single MPI function. Initialization,
 * predefined attributes, dup and free of objects, callbacks in other languages, errors.
 */
#include <sched.h>

#include "mpiimpl.h"
#include "proposed.h"
#ifdef MPIR_ATTR_ABI
#include "mpi_abi_util.h"
#endif

/* From 5.1 on, all of that is the Fortran binding's own (keyvals_in_fortran.h). */
#if defined(HAVE_FORTRAN_BINDING) && !defined(MPIR_ATTR_AS_FORTRAN)
#define MPIR_ATTR_FORTRAN 1
/* From 5.0 on, a program may set it. */
#if MPICH_NUMVERSION >= 50000000
#define MPIR_ATTR_FALSE MPIR_fortran_false
#else
#define MPIR_ATTR_FALSE F77_FALSE_VALUE
#endif
#include "mpir_attr_fortran.h"
#endif

attrcache_kind* MPIR_Attr_kinds[3];
void* MPIR_Attr_addresses[MPIR_ATTR_ADDRESSES];

/* What our callbacks get, and the handle, as an int, which Fortran always takes. */
#ifdef MPIR_ATTR_ABI
typedef void* Handle;
void* MPIR_Attr_object(int handle) { return ABI_Handle_from_mpi(handle); }
static int handle_of(void* object, MPIR_Attr_kind kind) {
  return kind == MPIR_ATTR_COMM   ? ABI_Comm_to_mpi(object)
         : kind == MPIR_ATTR_TYPE ? ABI_Datatype_to_mpi(object)
                                  : ABI_Win_to_mpi(object);
}
#else
typedef int Handle;
static int handle_of(void* object, MPIR_Attr_kind kind) {
  MPL_UNREFERENCED_ARG(kind);
  return (int)(intptr_t)object;
}
#endif

/* ---- Predefined attributes ----------------------------------------------------------------- */

/* Fortran has keyvals of its own for them, each the next int after C's. */
static int define_in_both(MPIR_Attr_kind kind, attrcache_predefined predefined) {
  int result;

  predefined.size = sizeof predefined;
  result = attrcache_keyval_define(MPIR_Attr_kinds[kind], &predefined);
  if (result != ATTRCACHE_OK) return result;
  predefined.number = MPIR_ATTR_IN_FORTRAN(predefined.number);
  return attrcache_keyval_define(MPIR_Attr_kinds[kind], &predefined);
}

/* Users get addresses of copies, so that nothing they write there changes what MPICH works with.
 * All writes of a copy store the same value, so their order doesn't matter. */
static const void* copy_of(int* copy, int value) {
  __atomic_store_n(copy, value, __ATOMIC_RELAXED);
  return copy;
}

static const void* last_used_code(const attrcache_table* table, void* context) {
  MPL_UNREFERENCED_ARG(table);
  MPL_UNREFERENCED_ARG(context);
  static int copy;
  return copy_of(&copy, MPIR_Process.attrs.lastusedcode);
}

static const void* appnum(const attrcache_table* table, void* context) {
  MPL_UNREFERENCED_ARG(table);
  MPL_UNREFERENCED_ARG(context);
  static int copy;
  return MPIR_Process.attrs.appnum < 0 ? NULL : copy_of(&copy, MPIR_Process.attrs.appnum);
}

static const void* universe_size(const attrcache_table* table, void* context) {
  MPL_UNREFERENCED_ARG(table);
  MPL_UNREFERENCED_ARG(context);
  static int copy;
  const int size = __atomic_load_n(&MPIR_Process.attrs.universe, __ATOMIC_RELAXED);
  return size < 0 ? NULL : copy_of(&copy, size);
}

/* MPICH asks the device once, at the first get. */
int MPIR_Attr_get_universe_size(void) {
  int size = 0;
  int mpi_errno;

  MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
  mpi_errno = MPID_Get_universe_size(&size);
  if (mpi_errno != MPI_SUCCESS || size < 0) size = MPIR_UNIVERSE_SIZE_NOT_AVAILABLE;
  __atomic_store_n(&MPIR_Process.attrs.universe, size, __ATOMIC_RELAXED);
  MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
  return mpi_errno;
}

static MPIR_Win* win_of(const attrcache_table* table) {
  return (MPIR_Win*)((char*)table - offsetof(MPIR_Win, attributes));
}

static const void* win_base(const attrcache_table* table, void* context) {
  MPL_UNREFERENCED_ARG(context);
  return &win_of(table)->base;
}

static const void* win_size(const attrcache_table* table, void* context) {
  MPL_UNREFERENCED_ARG(context);
  MPIR_Win* const win = win_of(table);
  __atomic_store_n(&win->copySize, win->size, __ATOMIC_RELAXED);
  return &win->copySize;
}

static const void* win_disp_unit(const attrcache_table* table, void* context) {
  MPL_UNREFERENCED_ARG(context);
  return copy_of(&win_of(table)->copyDispUnit, win_of(table)->disp_unit);
}

static const void* win_create_flavor(const attrcache_table* table, void* context) {
  MPL_UNREFERENCED_ARG(context);
  return copy_of(&win_of(table)->copyCreateFlavor, win_of(table)->create_flavor);
}

static const void* win_model(const attrcache_table* table, void* context) {
  MPL_UNREFERENCED_ARG(context);
  return copy_of(&win_of(table)->copyModel, win_of(table)->model);
}

static int define_predefined(void) {
  const attrcache_predefined comm[] = {
      {.number = MPI_LASTUSEDCODE, .compute = last_used_code},
      {.number = MPI_APPNUM, .compute = appnum},
      {.number = MPI_UNIVERSE_SIZE, .compute = universe_size},
  };
  const attrcache_predefined win[] = {
      {.number = MPI_WIN_BASE, .tag = ATTRCACHE_AS_POINTER, .compute = win_base},
      {.number = MPI_WIN_SIZE, .tag = ATTRCACHE_AS_AINT, .compute = win_size},
      {.number = MPI_WIN_DISP_UNIT, .tag = ATTRCACHE_AS_INT, .compute = win_disp_unit},
      {.number = MPI_WIN_CREATE_FLAVOR, .tag = ATTRCACHE_AS_INT, .compute = win_create_flavor},
      {.number = MPI_WIN_MODEL, .tag = ATTRCACHE_AS_INT, .compute = win_model},
  };
  int result = ATTRCACHE_OK;

  for (int i = 0; i < MPIR_ATTR_ADDRESSES && !result; i++) {
    const attrcache_predefined predefined = {.size = sizeof predefined,
                                             .number = MPI_TAG_UB + i,
                                             .tag = ATTRCACHE_AS_INT,
                                             .where = ATTRCACHE_PER_KIND};
    result = attrcache_keyval_define(MPIR_Attr_kinds[MPIR_ATTR_COMM], &predefined);
  }
  for (size_t i = 0; i < sizeof comm / sizeof *comm && !result; i++) {
    attrcache_predefined predefined = comm[i];
    predefined.tag = ATTRCACHE_AS_INT;
    predefined.where = ATTRCACHE_COMPUTED;
    result = define_in_both(MPIR_ATTR_COMM, predefined);
  }
  for (size_t i = 0; i < sizeof win / sizeof *win && !result; i++) {
    attrcache_predefined predefined = win[i];
    predefined.where = ATTRCACHE_COMPUTED;
    result = define_in_both(MPIR_ATTR_WIN, predefined);
  }
  return result;
}

void MPIR_Attr_take_predefined(void) {
  const int values[] = {MPIR_Process.attrs.tag_ub, MPIR_Process.attrs.host, MPIR_Process.attrs.io,
                        MPIR_Process.attrs.wtime_is_global};
  attrcache_kind* const kind = MPIR_Attr_kinds[MPIR_ATTR_COMM];
  const MPIR_Attr_table none = ATTRCACHE_TABLE_INIT;

  for (int i = 0; i < MPIR_ATTR_ADDRESSES; i++) {
    attrcache_set_predefined(kind, MPI_TAG_UB + i, values[i / 2]);
    attrcache_get(kind, &none, MPI_TAG_UB + i, &MPIR_Attr_addresses[i]);
  }
}

/* ---- Initialization and finalization ------------------------------------------------------- */

void MPIR_Attr_delete_from_type(MPIR_Datatype* type) {
  if (!MPIR_Attr_is_empty(&type->attributes)) {
    MPIR_Attr_delete_finally(MPIR_ATTR_TYPE, type->handle, &type->attributes);
  }
}

void (*MPIR_Attr_delete_from_f90_types)(void);

/* Pair types, such as MPI_FLOAT_INT. MPICH makes them like users' datatypes: in version 5 they are
 * the first ones. */
#ifdef MPIR_ATTR_PAIRTYPES
static int number_of_pair_types(void) { return MPIR_num_pairtypes; }
static MPI_Datatype pair_type(int i) { return MPI_FLOAT_INT + i; }
#else
static int number_of_pair_types(void) {
  return MPIR_DATATYPE_N_PREDEFINED - MPIR_DATATYPE_N_BUILTIN;
}
static MPI_Datatype pair_type(int i) {
  return MPIR_Datatype_index_to_predefined[MPIR_DATATYPE_N_BUILTIN + i];
}
#endif

static void delete_from_predefined_types(void) {
  for (int i = 0; i < MPIR_DATATYPE_N_BUILTIN; i++) {
    MPIR_Attr_delete_from_type(&MPIR_Datatype_builtin[i]);
  }
  for (int i = 0; i < number_of_pair_types(); i++) {
    MPIR_Datatype* type = NULL;
    if (pair_type(i) == MPI_DATATYPE_NULL) continue;
    MPIR_Datatype_get_ptr(pair_type(i), type);
    MPIR_Attr_delete_from_type(type);
  }
  if (MPIR_Attr_delete_from_f90_types != NULL) {
    MPIR_Attr_delete_from_f90_types();
    MPIR_Attr_delete_from_f90_types =
        NULL; /* they are freed soon, and are in no other initialization */
  }
}

int MPIR_Attr_end_session(int handle) {
#ifdef MPIR_ATTR_ABI
  void* const of_users = MPIR_Attr_object(handle);
  return attrcache_proposed_end_session(&of_users);
#else
  return attrcache_proposed_end_session(&handle);
#endif
}

int MPIR_Attr_end_file(const void* handle) { return attrcache_proposed_end_file(handle); }

static int delete_from_predefined_comms(void) {
  MPIR_Comm* const comms[] = {MPIR_Process.comm_self, MPIR_Process.comm_world};

  for (int i = 0; i < 2; i++) {
    if (comms[i] != NULL && !MPIR_Attr_is_empty(&comms[i]->attributes)) {
      const int mpi_errno =
          MPIR_Attr_delete_finally(MPIR_ATTR_COMM, comms[i]->handle, &comms[i]->attributes);
      if (mpi_errno != MPI_SUCCESS) return mpi_errno;
    }
  }
  return MPI_SUCCESS;
}

int MPIR_Attr_end_world(int* ended) {
  int mpi_errno;

  MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
  mpi_errno = delete_from_predefined_comms();
  MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
  *ended = mpi_errno == MPI_SUCCESS ? attrcache_proposed_end_all() : MPI_SUCCESS;
  return mpi_errno;
}

int MPIR_Attr_delete_from_predefined_objects(void) {
  const int mpi_errno = delete_from_predefined_comms();

  if (mpi_errno != MPI_SUCCESS) return mpi_errno;
  MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
  attrcache_proposed_end_all();
  MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
  delete_from_predefined_types();
  return MPI_SUCCESS;
}

int MPIR_Attr_init(void) {
  static attrcache_domain* domain;
#ifdef MPIR_ATTR_ABI
  static const attrcache_handle_form handle = ATTRCACHE_HANDLE_POINTER;
#else
  static const attrcache_handle_form handle = ATTRCACHE_HANDLE_INT;
#endif
  const attrcache_kind_options comm = {sizeof comm, handle, "communicator", NULL};
  const attrcache_kind_options type = {sizeof type, handle, "datatype", NULL};
  const attrcache_kind_options win = {sizeof win, handle, "window", NULL};
  static const attrcache_keyval_numbers numbers = {.base = MPIR_ATTR_KEYVALS,
                                                   .invalid = MPI_KEYVAL_INVALID};
  const attrcache_domain_options options = {
      .size = sizeof options,
      .communicator = &comm,
      .datatype = &type,
      .window = &win,
      .numbers = &numbers,
      .fint_bytes = (int)sizeof(MPI_Fint),
  };

  if (domain == NULL) {
    int result = attrcache_domain_create(&options, &domain);
    for (int kind = 0; kind < 3 && result == ATTRCACHE_OK; kind++) {
      result = attrcache_kind_of(domain, kind, &MPIR_Attr_kinds[kind]);
    }
    if (result == ATTRCACHE_OK) result = define_predefined();
    if (result == ATTRCACHE_OK) result = attrcache_proposed_begin(domain);
    if (result != ATTRCACHE_OK) {
      attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_ANYWAY,
                               NULL); /* the next one tries again */
      domain = NULL;
      return MPIR_Attr_error(result, "MPI_Init");
    }
  }
  return MPI_SUCCESS;
}

/* ---- Dup and free of objects --------------------------------------------------------------- */

#ifdef ENABLE_THREADCOMM
MPIR_Attr_table* MPIR_Attr_table_of_thread(MPIR_Comm* comm) {
  MPIR_threadcomm_tls_t* const thread =
      MPIR_threadcomm_array != NULL ? MPIR_threadcomm_get_tls(comm->threadcomm) : NULL;

  return thread != NULL ? thread->attributes : &comm->attributes;
}
#endif

int MPIR_Attr_copy_all(MPIR_Attr_kind kind, int handle, MPIR_Attr_table* from, int new_handle,
                       MPIR_Attr_table* to) {
  int code = 0;
  int result;

  MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
  result = attrcache_copy_all(MPIR_Attr_kinds[kind], from, MPIR_Attr_object(handle), to,
                              MPIR_Attr_object(new_handle), &code);
  MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
  if (result == ATTRCACHE_OK) return MPI_SUCCESS;
  return MPIR_Attr_callback_error(result, code, "object", 1);
}

static int delete_all(MPIR_Attr_kind kind, int handle, MPIR_Attr_table* table,
                      attrcache_delete_mode mode) {
  int code = 0, first = 0; /* of delete functions that have failed */
  int result;

  MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
  /* BUSY: another thread is still within a deletion on the object, or copies one of its values. */
  do {
    result =
        attrcache_delete_all(MPIR_Attr_kinds[kind], table, MPIR_Attr_object(handle), mode, &code);
    if (first == 0) first = code;
  } while (result == ATTRCACHE_ERR_BUSY && sched_yield() == 0);
  /* What callbacks go on attaching is given up; natively it would stay for ever. */
  if (result == ATTRCACHE_ERR_REATTACHED)
    result = attrcache_table_abandon(MPIR_Attr_kinds[kind], table);
  MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
  if (result == ATTRCACHE_OK && first != 0) result = ATTRCACHE_ERR_CALLBACK;
  if (result == ATTRCACHE_OK) return MPI_SUCCESS;
  return MPIR_Attr_callback_error(result, first, "object", 0);
}

int MPIR_Attr_delete_all(MPIR_Attr_kind kind, int handle, MPIR_Attr_table* table) {
  return delete_all(kind, handle, table, ATTRCACHE_DRAIN);
}

/* DRAIN waits for values being copied; then FINALLY deletes what callbacks go on attaching. */
int MPIR_Attr_delete_finally(MPIR_Attr_kind kind, int handle, MPIR_Attr_table* table) {
  const int mpi_errno = delete_all(kind, handle, table, ATTRCACHE_DRAIN);

  return MPIR_Attr_is_empty(table) ? mpi_errno
                                   : delete_all(kind, handle, table, ATTRCACHE_DRAIN_FINALLY);
}

/* ---- Callbacks in other languages ---------------------------------------------------------- */

/* Finds the kind and the callbacks of a keyval that was just made, as if for C. */
static int find_keyval(int keyval, MPIR_Attr_kind* kind, attrcache_callbacks* callbacks) {
  callbacks->size = sizeof *callbacks;
  for (int i = 0; i < 3; i++) {
    if (attrcache_keyval_describe(MPIR_Attr_kinds[i], keyval, NULL, callbacks) == ATTRCACHE_OK) {
      *kind = (MPIR_Attr_kind)i;
      return 1;
    }
  }
  return 0;
}

/* The context of a keyval whose functions are called through ours. */
typedef struct {
  MPIR_Attr_kind kind;
  attrcache_callback *copy_fn, *delete_fn;
  void* extra_state;
  MPII_Attr_copy_proxy* copy_proxy; /* C++: what the binding has for that */
  MPII_Attr_delete_proxy* delete_proxy;
#ifdef MPIR_ATTR_FORTRAN
  Fortran_functions fortran;
#endif
} Binding;

static void free_binding(void* extra_state, void* context) {
  MPL_UNREFERENCED_ARG(extra_state);
  MPL_free(context);
}

/* Makes a new keyval call copy_fn and delete_fn, which get the binding as extra_state and then call
 * its own functions. Functions that are null, or that attrcache knows, stay. */
static void bind_keyval(int keyval, attrcache_callbacks* callbacks, Binding what,
                        attrcache_language language, attrcache_callback* copy_fn,
                        attrcache_callback* delete_fn) {
  Binding* const binding = MPL_malloc(sizeof *binding, MPL_MEM_OBJECT);

  MPIR_Assert(binding != NULL);
  *binding = what;
  binding->copy_fn = callbacks->copy_fn;
  binding->delete_fn = callbacks->delete_fn;
  binding->extra_state = callbacks->extra_state;
  if (callbacks->copy_fn != ATTRCACHE_NULL_COPY_FN && callbacks->copy_fn != ATTRCACHE_DUP_FN) {
    callbacks->copy_fn = copy_fn;
  }
  if (callbacks->delete_fn != ATTRCACHE_NULL_DELETE_FN) callbacks->delete_fn = delete_fn;
  callbacks->language = language;
  callbacks->extra_state = callbacks->context = binding;
  callbacks->destructor = free_binding;
  if (attrcache_keyval_set_callbacks(MPIR_Attr_kinds[what.kind], keyval, callbacks) != ATTRCACHE_OK)
    MPL_free(binding);
}

/* Before 5.1, MPICH tells proxies the type of their values: here as C sees them. */
#ifdef MPIR_ATTR_AS_FORTRAN
#define PROXY_TYPE
#else
#define PROXY_TYPE MPIR_ATTR_PTR,
#endif

static int copy_by_proxy(Handle object, int keyval, void* context, void* value, void* copy,
                         int* flag) {
  const Binding* const binding = context;

  return binding->copy_proxy((MPI_Comm_copy_attr_function*)binding->copy_fn,
                             handle_of((void*)(intptr_t)object, binding->kind), keyval,
                             binding->extra_state, PROXY_TYPE value, copy, flag);
}

static int delete_by_proxy(Handle object, int keyval, void* value, void* context) {
  const Binding* const binding = context;

  return binding->delete_proxy((MPI_Comm_delete_attr_function*)binding->delete_fn,
                               handle_of((void*)(intptr_t)object, binding->kind), keyval,
                               PROXY_TYPE value, binding->extra_state);
}

/* For the C++ binding: it makes a keyval as C does, and then says that the functions are C++. */
void MPII_Keyval_set_proxy(int keyval, MPII_Attr_copy_proxy copy_proxy,
                           MPII_Attr_delete_proxy delete_proxy) {
  Binding what = {.copy_proxy = copy_proxy, .delete_proxy = delete_proxy};
  attrcache_callbacks callbacks;

  if (find_keyval(keyval, &what.kind, &callbacks)) {
    bind_keyval(keyval, &callbacks, what, ATTRCACHE_C, (attrcache_callback*)copy_by_proxy,
                (attrcache_callback*)delete_by_proxy);
  }
}

#ifdef MPIR_ATTR_FORTRAN
static int copy_in_fortran(void* object, int keyval, void* extra_state, void* context,
                           attrcache_tag tag, intptr_t value, attrcache_tag* tag_out,
                           intptr_t* value_out, int* flag) {
  Binding* const binding = context;
  MPI_Aint copy = 0;
  const int error = copy_by_fortran(&binding->fortran, handle_of(object, binding->kind), keyval,
                                    value, &copy, flag);

  MPL_UNREFERENCED_ARG(extra_state);
  *value_out = copy;
  /* An unchanged value keeps its type: a pointer set by C, say. */
  *tag_out = copy == value ? tag : binding->fortran.of_mpi1 ? ATTRCACHE_AS_FINT : ATTRCACHE_AS_AINT;
  return error;
}

static int delete_in_fortran(void* object, int keyval, void* extra_state, void* context,
                             attrcache_tag tag, intptr_t value) {
  Binding* const binding = context;

  MPL_UNREFERENCED_ARG(extra_state);
  MPL_UNREFERENCED_ARG(tag);
  return delete_by_fortran(&binding->fortran, handle_of(object, binding->kind), keyval, value);
}

/* The Fortran bindings make a keyval as C does, with the address of extra_state, and then say here
 * that the functions are Fortran, and which of them are MPI's own. */
void MPII_Keyval_set_fortran(int keyval, int of_mpi1, MPII_Attr_fn* (*known)(MPII_Attr_fn*)) {
  Binding what = {.kind = MPIR_ATTR_COMM};
  attrcache_callbacks callbacks;

  if (!find_keyval(keyval, &what.kind, &callbacks)) return;
  callbacks.copy_fn = known(callbacks.copy_fn);
  callbacks.delete_fn = known(callbacks.delete_fn);
  what.fortran =
      functions_of_fortran(callbacks.copy_fn, callbacks.delete_fn, of_mpi1, callbacks.extra_state);
  bind_keyval(keyval, &callbacks, what, ATTRCACHE_RAW, (attrcache_callback*)copy_in_fortran,
              (attrcache_callback*)delete_in_fortran);
}
#endif

/* ---- Errors -------------------------------------------------------------------------------- */

/* MPICH's maintainer scripts look for messages as they stand here. */

/* What a function of attrcache returned, in MPICH's terms; `object` is the parameter's name. */
int MPIR_Attr_error(int result, const char* object) {
  int mpi_errno = MPI_SUCCESS;

  switch (result) {
    case ATTRCACHE_OK:
    case ATTRCACHE_ABSENT:
      break;
    case ATTRCACHE_ERR_KEYVAL_INVALID:
      MPIR_ERR_SET(mpi_errno, MPI_ERR_KEYVAL, "**keyvalinvalid");
      break;
    case ATTRCACHE_ERR_KEYVAL_UNKNOWN:
    case ATTRCACHE_ERR_KEYVAL_STALE:
      MPIR_ERR_SET(mpi_errno, MPI_ERR_KEYVAL, "**keyval");
      break;
    case ATTRCACHE_ERR_KEYVAL_KIND:
      MPIR_ERR_SET1(mpi_errno, MPI_ERR_KEYVAL, "**keyvalobj", "**keyvalobj %s", object);
      break;
    case ATTRCACHE_ERR_KEYVAL_PREDEFINED:
      MPIR_ERR_SET(mpi_errno, MPI_ERR_KEYVAL, "**permattr");
      break;
    case ATTRCACHE_ERR_NULL:
      MPIR_ERR_SET1(mpi_errno, MPI_ERR_ARG, "**nullptr", "**nullptr %s", object);
      break;
    case ATTRCACHE_ERR_MEMORY:
    case ATTRCACHE_ERR_KEYVALS_EXHAUSTED:
      MPIR_ERR_SET(mpi_errno, MPI_ERR_OTHER, "**nomem");
      break;
    default:
      MPIR_ERR_SET1(mpi_errno, MPI_ERR_INTERN, "**intern", "**intern %s",
                    attrcache_strerror(result));
  }
  return mpi_errno;
}

int MPIR_Attr_callback_error(int result, int code, const char* object, int of_copy) {
  int mpi_errno = MPI_SUCCESS;

  if (result != ATTRCACHE_ERR_CALLBACK) return MPIR_Attr_error(result, object);
#if defined(MPICH_ERROR_MSG_LEVEL) && MPICH_ERROR_MSG_LEVEL < MPICH_ERROR_MSG__ALL
  mpi_errno = code;
#else
  if (of_copy) {
    MPIR_ERR_SET1(mpi_errno, MPI_ERR_OTHER, "**user", "**usercopy %d", code);
  } else {
    MPIR_ERR_SET1(mpi_errno, MPI_ERR_OTHER, "**user", "**userdel %d", code);
  }
#endif
  return mpi_errno;
}
