/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Makes an MPI break a rule, to see that tools/check-mpi notices: linked in front of the MPI. What is
 * broken depends on the check, whose name the program has: $BROKEN lists CHECK=NUMBER
 * (mutants_test.sh). It stands between the program's callbacks of communicators and MPI by a
 * keyval's extra_state.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  kDeleteTwice = 1,  /* the delete callback runs twice */
  kFoundAlways,      /* a get finds what is not there */
  kTruncates,        /* 32 bits of a value remain */
  kOverwriteSilent,  /* a set doesn't call the delete callback of the old value */
  kFlagIgnored,      /* what a copy callback doesn't want copied is copied */
  kValueIgnored,     /* the duplicate gets the old value, not the copied one */
  kKeyvalStays,      /* free_keyval leaves the variable as it is */
  kHangs,            /* a get never ends */
  kCrashes,          /* a delete crashes */
  kFailureLost,      /* a delete succeeds though its callback failed */
  kFreeSilent,       /* the free of a communicator calls no delete callback */
  kFinalizeSilent,   /* nor does MPI_Finalize */
  kNoExtraState,     /* callbacks get a null pointer for their extra_state */
  kSmallTags,        /* MPI_TAG_UB is too small */
  kEndsEarly,        /* a set ends the program, with exit code 0 */
  kNotAtOnce,        /* a replacing set deletes first, and sets later */
  kDoublesInThreads, /* with threads, the delete callback runs twice */
  kKeysRepeat,       /* the same keyval is handed out again */
  kNullIsAbsent,     /* a null pointer is taken for nothing */
  kWrongHandle,      /* the delete callback gets MPI_COMM_WORLD */
  kInvalidAtOnce,    /* a keyval that is freed while in use is no good any more */
  kGraphIsDup,       /* the communicator of a graph has the attributes of the one it was made of */
  kWildTags,         /* MPI_TAG_UB is too small on other communicators than MPI_COMM_WORLD */
};

static int broken;

__attribute__((constructor)) static void find_out(void) {
  const char *mine = program_invocation_short_name, *entry = getenv("BROKEN");
  for (; entry != NULL && *entry; entry = strchr(entry, ' ') ? strchr(entry, ' ') + 1 : NULL) {
    const size_t name = strcspn(entry, "=");
    if (strlen(mine) == name && strncmp(entry, mine, name) == 0) broken = atoi(entry + name + 1);
  }
}

typedef struct {
  MPI_Comm_copy_attr_function* copy;
  MPI_Comm_delete_attr_function* del;
  void* extra_state;
} Keyval;

static __thread int silent;

/* An MPI that loses races by itself may fail the same check otherwise. So where the subject is
 * threads, sets and deletes are made one at a time: any failure then comes from this file. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static void begin_alone(void) {
  if (broken == kDoublesInThreads) pthread_mutex_lock(&one_at_a_time);
}
static void end_alone(void) {
  if (broken == kDoublesInThreads) pthread_mutex_unlock(&one_at_a_time);
}

static void* state_of(const Keyval* k) { return broken == kNoExtraState ? NULL : k->extra_state; }

static int copies(MPI_Comm old, int keyval, void* extra_state, void* in, void* out, int* flag) {
  const Keyval* k = (const Keyval*)extra_state;
  int code = MPI_SUCCESS;
  *flag = 0;
  if (k->copy == MPI_COMM_DUP_FN) {
    *(void**)out = in;
    *flag = 1;
  } else if (k->copy != MPI_COMM_NULL_COPY_FN) {
    code = k->copy(old, keyval, state_of(k), in, out, flag);
  }
  if (broken == kFlagIgnored && !*flag) {
    *(void**)out = in;
    *flag = 1;
  }
  if (broken == kValueIgnored) *(void**)out = in;
  return code;
}

static int deletes(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  const Keyval* k = (const Keyval*)extra_state;
  int level = MPI_THREAD_SINGLE, code;
  if (k->del == MPI_COMM_NULL_DELETE_FN || silent) return MPI_SUCCESS;
  if (broken == kWrongHandle) comm = MPI_COMM_WORLD;
  code = k->del(comm, keyval, value, state_of(k));
  PMPI_Query_thread(&level);
  if (broken == kDeleteTwice || (broken == kDoublesInThreads && level == MPI_THREAD_MULTIPLE)) {
    k->del(comm, keyval, value, state_of(k));
  }
  return broken == kFailureLost ? MPI_SUCCESS : code;
}

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* del,
                           int* keyval, void* extra_state) {
  static int last = MPI_KEYVAL_INVALID;
  Keyval* k = (Keyval*)malloc(sizeof *k);
  k->copy = copy;
  k->del = del;
  k->extra_state = extra_state;
  if (broken == kKeysRepeat && last != MPI_KEYVAL_INVALID) {
    *keyval = last;
    return MPI_SUCCESS;
  }
  {
    const int code = PMPI_Comm_create_keyval(copies, deletes, keyval, k);
    last = *keyval;
    return code;
  }
}

static int freed = MPI_KEYVAL_INVALID;

int MPI_Comm_free_keyval(int* keyval) {
  int mine = *keyval;
  if (broken == kInvalidAtOnce) freed = *keyval;
  return PMPI_Comm_free_keyval(broken == kKeyvalStays ? &mine : keyval);
}

/* For kNotAtOnce: how many gets have ended. A set goes on when enough have ended since it deleted
 * that, however many threads there are, one of them must have begun since; or when no thread
 * gets. */
static int gets;
static void let_others_get(void) {
  const int enough = __atomic_load_n(&gets, __ATOMIC_SEQ_CST) + 16;
  long i;
  for (i = 0; i < 10000000 && __atomic_load_n(&gets, __ATOMIC_SEQ_CST) < enough; ++i) sched_yield();
}

int MPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
  const int code = PMPI_Comm_get_attr(comm, keyval, value, flag);
  static int small = 100;
  while (broken == kHangs) pause();
  if (broken == kNotAtOnce) __atomic_fetch_add(&gets, 1, __ATOMIC_SEQ_CST);
  if (broken == kFoundAlways) *flag = 1;
  if (broken == kTruncates) *(void**)value = (void*)(*(long*)value & 0xffffffff);
  if (broken == kSmallTags && keyval == MPI_TAG_UB) *(void**)value = &small;
  if (broken == kWildTags && keyval == MPI_TAG_UB && comm != MPI_COMM_WORLD) {
    *(void**)value = &small;
    *flag = 1;
  }
  if (broken == kNullIsAbsent && *(void**)value == NULL) *flag = 0;
  if (broken == kInvalidAtOnce && keyval == freed) *flag = 0;
  return code;
}

int MPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                     MPI_Comm* made) {
  if (broken == kGraphIsDup) return PMPI_Comm_dup(comm, made);
  return PMPI_Graph_create(comm, nodes, index, edges, reorder, made);
}

int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  int code;
  if (broken == kEndsEarly) _exit(0);
  if (broken == kNotAtOnce) {
    static int sets;
    PMPI_Comm_delete_attr(comm, keyval);
    if (++sets == 1000) let_others_get();
  }
  if (broken == kOverwriteSilent) silent = 1;
  begin_alone();
  code = PMPI_Comm_set_attr(comm, keyval, value);
  end_alone();
  silent = 0;
  return code;
}

int MPI_Comm_delete_attr(MPI_Comm comm, int keyval) {
  int code;
  if (broken == kCrashes) raise(SIGSEGV);
  begin_alone();
  code = PMPI_Comm_delete_attr(comm, keyval);
  end_alone();
  return code;
}

int MPI_Comm_free(MPI_Comm* comm) {
  int code;
  if (broken == kFreeSilent) silent = 1;
  code = PMPI_Comm_free(comm);
  silent = 0;
  return code;
}

int MPI_Finalize(void) {
  if (broken == kFinalizeSilent) silent = 1;
  return PMPI_Finalize();
}
