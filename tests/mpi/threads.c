/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Threads: many touch a new object first at the same moment, and must agree; they set, get and
 * delete under keyvals of their own on shared objects; they storm one keyval, and every value is
 * deleted exactly once.
 */
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kRounds = 300, kStorm = 20000, kDups = 5000 };

static pthread_barrier_t barrier;
static MPI_Datatype shared_type;
static MPI_Comm shared_comm;
static int type_key[kThreads];
static int comm_key[kThreads];
static int storm_key;
static unsigned char deletions[kThreads * kStorm + 1];
static int lost[kThreads];

static int storm_del(MPI_Comm c, int k, void* value, void* e) {
  (void)c, (void)k, (void)e;
  __atomic_fetch_add(&deletions[(long)value], 1, __ATOMIC_RELAXED);
  return MPI_SUCCESS;
}

static void first_touch(int me) {
  int round;
  for (round = 0; round < kRounds; ++round) {
    void* value = NULL;
    int flag = 0;
    int t;
    if (me == 0) MPI_Type_contiguous(round + 1, MPI_INT, &shared_type);
    pthread_barrier_wait(&barrier);
    MPI_Type_set_attr(shared_type, type_key[me], (void*)(long)(round * kThreads + me));
    pthread_barrier_wait(&barrier);
    for (t = 0; t < kThreads; ++t) {
      MPI_Type_get_attr(shared_type, type_key[t], &value, &flag);
      if (!flag || value != (void*)(long)(round * kThreads + t)) ++lost[me];
    }
    pthread_barrier_wait(&barrier);
    if (me == 0) MPI_Type_free(&shared_type);
  }
}

static void own_keys(int me) {
  long i;
  for (i = 0; i < kStorm; ++i) {
    void* value = NULL;
    int flag = 0;
    MPI_Comm_set_attr(shared_comm, comm_key[me], (void*)i);
    MPI_Comm_get_attr(shared_comm, comm_key[me], &value, &flag);
    if (!flag || value != (void*)i) ++lost[me];
    if (i % 3 == 0) MPI_Comm_delete_attr(shared_comm, comm_key[me]);
  }
}

static void storm(int me) {
  long i;
  for (i = 0; i < kStorm; ++i) {
    MPI_Comm_set_attr(shared_comm, storm_key, (void*)(me * kStorm + i + 1));
    if (i % 5 == 0) MPI_Comm_delete_attr(shared_comm, storm_key);
  }
}

/* Duplicates of a datatype whose attribute others replace: what is copied is alive, and all of it
 * dies. */
static int dup_key;
static long values_alive;
static long copied_dead;
static unsigned char value_dead[kThreads * kDups * 2 + 2];
static long next_value;

static long new_value(void) {
  __atomic_fetch_add(&values_alive, 1, __ATOMIC_RELAXED);
  return __atomic_add_fetch(&next_value, 1, __ATOMIC_RELAXED);
}

static int dup_copy(MPI_Datatype t, int k, void* e, void* in, void* out, int* flag) {
  (void)t, (void)k, (void)e;
  if (__atomic_load_n(&value_dead[(long)in], __ATOMIC_RELAXED)) {
    __atomic_fetch_add(&copied_dead, 1, __ATOMIC_RELAXED);
  }
  *(void**)out = (void*)new_value();
  *flag = 1;
  return MPI_SUCCESS;
}

static int dup_del(MPI_Datatype t, int k, void* value, void* e) {
  (void)t, (void)k, (void)e;
  __atomic_fetch_add(&value_dead[(long)value], 1, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&values_alive, 1, __ATOMIC_RELAXED);
  return MPI_SUCCESS;
}

static void dup_and_set(int me) {
  long i;
  for (i = 0; i < kDups; ++i) {
    if (me % 2 == 0) {
      MPI_Type_set_attr(shared_type, dup_key, (void*)new_value());
    } else {
      MPI_Datatype dup;
      void* value = NULL;
      int flag = 0;
      MPI_Type_dup(shared_type, &dup);
      if (i % 2 == 0) MPI_Type_get_attr(dup, dup_key, &value, &flag);
      MPI_Type_free(&dup);
    }
  }
}

static void* run(void* argument) {
  const int me = (int)(long)argument;
  /* The process's first keyvals, all at once. */
  pthread_barrier_wait(&barrier);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key[me], NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key[me], NULL);
  if (me == 0) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, storm_del, &storm_key, NULL);
  pthread_barrier_wait(&barrier);
  first_touch(me);
  pthread_barrier_wait(&barrier);
  own_keys(me);
  pthread_barrier_wait(&barrier);
  storm(me);
  pthread_barrier_wait(&barrier);
  if (me == 0) {
    MPI_Type_create_keyval(dup_copy, dup_del, &dup_key, NULL);
    MPI_Type_contiguous(3, MPI_INT, &shared_type);
  }
  pthread_barrier_wait(&barrier);
  dup_and_set(me);
  pthread_barrier_wait(&barrier);
  if (me == 0) MPI_Type_free(&shared_type);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[kThreads];
  int provided;
  int status;
  long i;
  long never = 0;
  long twice = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  check_begin();
  CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
  pthread_barrier_init(&barrier, NULL, kThreads);
  MPI_Comm_dup(MPI_COMM_SELF, &shared_comm);
  /* On Open MPI it is an error to delete what another thread has just deleted. */
  MPI_Comm_set_errhandler(shared_comm, MPI_ERRORS_RETURN);
  for (i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, run, (void*)i);
  for (i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (i = 0; i < kThreads; ++i) CHECK_EQUAL(lost[i], 0);
  MPI_Comm_free(&shared_comm);
  for (i = 1; i <= kThreads * kStorm; ++i) {
    if (deletions[i] == 0) ++never;
    if (deletions[i] > 1) ++twice;
  }
  CHECK_EQUAL(never, 0);
  CHECK_EQUAL(twice, 0);
  CHECK_EQUAL(values_alive, 0);
  CHECK_EQUAL(copied_dead, 0);
  for (i = 1; i <= next_value; ++i) {
    if (value_dead[i] != 1) break;
  }
  CHECK_EQUAL(i, next_value + 1);
  status = check_report();
  MPI_Finalize();
  return status;
}
