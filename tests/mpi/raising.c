/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * raising [threads]: errors of callbacks, raised on an object while others use it: by threads at
 * the same time, each with a code of its own, or within an error handler; and on objects that also
 * have attributes of MPI's own keyvals. Nothing may be detached, lost or deleted twice.
 */
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kRounds = 200, kCode = 100 };

static int handler_calls;
static int stubborn = 1;
static int depth;
static int nested_key;

static void on_error(MPI_Comm* comm, int* code, ...) {
  __atomic_fetch_add(&handler_calls, 1, __ATOMIC_RELAXED);
  if (depth == 0) return;
  --depth;
  MPI_Comm_delete_attr(*comm, nested_key);
  (void)code;
}

/* Fails with extra_state as the code. */
static int del(MPI_Comm c, int k, void* value, void* e) {
  (void)c, (void)k, (void)value;
  return stubborn ? (int)(long)e : MPI_SUCCESS;
}
static int del_type(MPI_Datatype t, int k, void* value, void* e) {
  (void)t, (void)k, (void)e;
  note("del %ld;", (long)value);
  return stubborn ? kCode : MPI_SUCCESS;
}

static MPI_Comm comm;
static int keys[kThreads];
static long wrong;
static long other_codes;
static int rounds = kRounds;

/* The code that a call returns after a callback failed with `code` and an error handler ran. */
static int returned(int code) {
  if (peer_loses_codes()) return MPI_SUCCESS;
  return ON_OPENMPI ? MPI_ERR_OTHER : code;
}

static void* raise_errors(void* argument) {
  const long me = (long)argument;
  const int expected = returned(kCode + (int)me);
  for (int i = 0; i < rounds; ++i) {
    void* value = NULL;
    int flag = 0;
    const int deleted = MPI_Comm_delete_attr(comm, keys[me]);
    const int overwritten = MPI_Comm_set_attr(comm, keys[me], &flag);
    MPI_Comm_get_attr(comm, keys[me], &value, &flag);
    if (!flag || value != (void*)(me + 1)) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    if (deleted != expected || overwritten != expected) {
      __atomic_fetch_add(&other_codes, 1, __ATOMIC_RELAXED);
    }
  }
  return NULL;
}

static void create_keys(void) {
  long i;
  for (i = 0; i < kThreads; ++i) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, del, &keys[i], (void*)(kCode + i));
    MPI_Comm_set_attr(comm, keys[i], (void*)(i + 1));
  }
}

/* MPICH 4.2.1 mixes up the codes of callbacks that fail in several threads at the same time, a few
 * in a thousand: natively it has more chances to show that. */
static void threads(void) {
  pthread_t thread[kThreads];
  long i;
  if (!served()) rounds = 10 * kRounds;
  for (i = 0; i < kThreads; ++i) pthread_create(&thread[i], NULL, raise_errors, (void*)i);
  for (i = 0; i < kThreads; ++i) pthread_join(thread[i], NULL);
  CHECK_EQUAL(wrong, 0);
  CHECK_EQUAL(other_codes, 0);
  CHECK_EQUAL(handler_calls, 2 * kThreads * rounds);
  handler_calls = 0;
}

/* An error handler whose own calls fail. With MPI_THREAD_MULTIPLE, MPICH itself ends the program
 * then. */
static void nested(void) {
  nested_key = keys[1];
  depth = 3;
  CHECK_EQUAL(MPI_Comm_delete_attr(comm, keys[0]), returned(kCode));
  CHECK_EQUAL(handler_calls, 4);
  CHECK_EQUAL(depth, 0);
  handler_calls = 0;
}

static long get(MPI_Datatype type, int k) {
  void* value = NULL;
  int flag = 0;
  MPI_Type_get_attr(type, k, &value, &flag);
  return flag ? (long)value : -1;
}

/* A datatype that already has an attribute of MPI's own, whose keyval is younger than any of
 * attrcache's. */
static void beside_others(void) {
  MPI_Datatype type, dup;
  int ours;
  int theirs;
  int i;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, del_type, &ours, NULL);
  PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, del_type, &theirs, NULL);
  MPI_Type_contiguous(3, MPI_INT, &type);
  PMPI_Type_set_attr(type, theirs, (void*)7);
  MPI_Type_set_attr(type, ours, (void*)1);
  for (i = 0; i < 3; ++i) {
    CHECK_EQUAL(MPI_Type_set_attr(type, ours, (void*)2), returned(kCode));
    CHECK_EQUAL(MPI_Type_delete_attr(type, ours), returned(kCode));
    CHECK_EQUAL(handler_calls, 2);
    handler_calls = 0;
    CHECK_LOG("del 1;del 1;");
    CHECK_EQUAL(get(type, ours), 1);
    CHECK_EQUAL(get(type, theirs), 7);
  }
  MPI_Type_dup(type, &dup); /* is freed all the same, and no longer keeps the datatype alive */
  MPI_Type_set_attr(dup, ours, (void*)9);
  CHECK_EQUAL(MPI_Type_free(&dup), MPI_SUCCESS);
  CHECK_LOG("del 9;");
  stubborn = 0;
  CHECK_EQUAL(MPI_Type_set_attr(type, ours, (void*)3), MPI_SUCCESS);
  CHECK_LOG("del 1;");
  PMPI_Type_delete_attr(type, theirs);
  CHECK_LOG("del 7;");
  CHECK_EQUAL(MPI_Type_free(&type), MPI_SUCCESS);
  CHECK_LOG("del 3;");
  MPI_Type_free_keyval(&ours);
  PMPI_Type_free_keyval(&theirs);
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  int provided;
  int status;
  int i;
  const int threaded = argc > 1 && strcmp(argv[1], "threads") == 0;
  MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  check_begin();
  peer_loses_codes(); /* while there is one thread */
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  create_keys();
  if (threaded) {
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
    threads();
  } else {
    nested();
    beside_others();
  }
  stubborn = 0;
  CHECK_EQUAL(MPI_Comm_free(&comm), MPI_SUCCESS);
  for (i = 0; i < kThreads; ++i) MPI_Comm_free_keyval(&keys[i]);
  CHECK_EQUAL(handler_calls, 0);
  status = check_report();
  MPI_Finalize();
  return status;
}
