/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What every library does first on a communicator: get its value; if there is none, make one and
 * attach it. Four threads do so at once, in each of 3,000 rounds. In how many do they end up with
 * different values, of which all but one were deleted while their threads use them?
 *
 *   mpicc -pthread get_or_make.c -o get_or_make && mpiexec -n 1 ./get_or_make [if_absent] [dup]
 *
 * With if_absent, they use MPIX_Comm_set_attr_if_absent, where the MPI has it or is served. To make a
 * value, a thread yields the processor once, so that the others run meanwhile however few
 * processors there are; with dup, it duplicates a communicator of its own instead, as libraries do.
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

int MPIX_Comm_set_attr_if_absent(MPI_Comm comm, int keyval, void* value, void* present, int* flag)
    __attribute__((weak));

enum { THREADS = 4, ROUNDS = 3000 };

static int if_absent, dup, keyval, deleted[THREADS], values[THREADS];
static int* had[THREADS];
static MPI_Comm parents[THREADS];
static pthread_barrier_t barrier;

static int* make(int me) {
  MPI_Comm copy;

  if (dup) {
    MPI_Comm_dup(parents[me], &copy);
    MPI_Comm_free(&copy);
  } else {
    sched_yield();
  }
  return &deleted[me];
}

static int count_deletion(MPI_Comm comm, int key, void* value, void* extra_state) {
  (void)comm, (void)key, (void)extra_state;
  __atomic_fetch_add((int*)value, 1, __ATOMIC_RELAXED);
  return MPI_SUCCESS;
}

static void* get_or_make(void* argument) {
  const int me = (int)((int*)argument - values);
  for (int round = 0; round < ROUNDS; ++round) {
    void* found = NULL;
    int flag = 0;

    pthread_barrier_wait(&barrier);
    if (if_absent) {
      MPIX_Comm_set_attr_if_absent(MPI_COMM_SELF, keyval, make(me), &found, &flag);
      had[me] = flag ? &deleted[me] : found;
    } else {
      MPI_Comm_get_attr(MPI_COMM_SELF, keyval, &found, &flag);
      if (!flag) MPI_Comm_set_attr(MPI_COMM_SELF, keyval, make(me));
      had[me] = flag ? found : &deleted[me];
    }
    pthread_barrier_wait(&barrier);
    if (me == 0) {
      values[0] += had[1] != had[0] || had[2] != had[0] || had[3] != had[0];
      for (int i = 0; i < THREADS; ++i) values[1] += had[i] == &deleted[i] && deleted[i] != 0;
      MPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
      for (int i = 0; i < THREADS; ++i) deleted[i] = 0;
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[THREADS];
  int provided;

  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  for (int i = 1; i < argc; ++i) {
    if_absent |= strcmp(argv[i], "if_absent") == 0;
    dup |= strcmp(argv[i], "dup") == 0;
  }
  if (provided < MPI_THREAD_MULTIPLE || (if_absent && !MPIX_Comm_set_attr_if_absent)) {
    puts(if_absent ? "this MPI has no MPIX_Comm_set_attr_if_absent" : "no threads");
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &keyval, NULL);
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_SELF, &parents[i]);
  for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, get_or_make, &values[i]);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  printf("%s: the threads disagreed in %d of %d rounds; %d values were deleted in use\n",
         if_absent ? "set_attr_if_absent" : "get, then set", values[0], ROUNDS, values[1]);
  if (if_absent)
    printf(values[0] + values[1] == 0 ? "rank 0: %d checks passed\n" : "FAILED of %d\n", ROUNDS);
  for (int i = 0; i < THREADS; ++i) MPI_Comm_free(&parents[i]);
  MPI_Comm_free_keyval(&keyval);
  MPI_Finalize();
  return if_absent && values[0] + values[1] != 0;
}
