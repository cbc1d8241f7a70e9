/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Threads that set attributes on one communicator as fast as they can, which MPI_THREAD_MULTIPLE
 * allows:
 *
 *   storm same   all under the same keyval: each value must be deleted once, by whoever replaces it
 *   storm own    each under a keyval of its own, setting and deleting in turns
 *
 * Values are places in a ledger, where delete_fn makes a mark; nothing is ever really freed. The
 * last line says how many values were deleted twice, and how many never. Exit status: 0 if none
 * was; 3 if the threads hung.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, SETS = 300000, PATIENCE = 3 /* seconds without progress */ };

static atomic_uchar ledger[THREADS][SETS];
static atomic_long begun[THREADS]; /* sets, by thread */
static atomic_int running = THREADS;
static int own;
static MPI_Comm comm;
static int keys[THREADS];
static pthread_barrier_t start;

static int delete_value(MPI_Comm c, int key, void* value, void* extra) {
  (void)c, (void)key, (void)extra;
  atomic_fetch_add((atomic_uchar*)value, 1);
  return MPI_SUCCESS;
}

static void* set_values(void* argument) {
  const int thread = *(int*)argument;
  const int key = keys[own ? thread : 0];
  pthread_barrier_wait(&start);
  for (int i = 0; i < SETS; ++i) {
    atomic_store(&begun[thread], i + 1);
    MPI_Comm_set_attr(comm, key, (void*)&ledger[thread][i]);
    if (own && i % 2 == 1) MPI_Comm_delete_attr(comm, key);
  }
  atomic_fetch_sub(&running, 1);
  return NULL;
}

static long sets_so_far(void) {
  long sum = 0;
  for (int t = 0; t < THREADS; ++t) sum += atomic_load(&begun[t]);
  return sum;
}

/* Prints what became of the values. Returns whether each was deleted once. */
static int report(const char* end) {
  long sets = 0, twice = 0, never = 0;
  for (int t = 0; t < THREADS; ++t) {
    const long of_thread = atomic_load(&begun[t]);
    sets += of_thread;
    for (long i = 0; i < of_thread; ++i) {
      const int deleted = atomic_load(&ledger[t][i]);
      twice += deleted > 1;
      never += deleted == 0;
    }
  }
  printf("%s %ld sets: %ld deleted twice, %ld never\n", end, sets, twice, never);
  fflush(stdout);
  return twice == 0 && never == 0;
}

/* Waits until all threads are done, or make no progress. */
static void watch(void) {
  long before = -1;
  for (int quiet = 0; atomic_load(&running) > 0;) {
    usleep(20000);
    const long now = sets_so_far();
    quiet = now == before ? quiet + 1 : 0;
    before = now;
    if (quiet * 20 >= PATIENCE * 1000) {
      printf("HUNG after");
      report("");
      _exit(3);
    }
  }
}

int main(int argc, char** argv) {
  int level;
  own = argc > 1 && strcmp(argv[1], "own") == 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level != MPI_THREAD_MULTIPLE) return 2;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  for (int t = 0; t < THREADS; ++t) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_value, &keys[t], NULL);
  }

  pthread_barrier_init(&start, NULL, THREADS);
  pthread_t threads[THREADS];
  int numbers[THREADS];
  for (int t = 0; t < THREADS; ++t) {
    numbers[t] = t;
    pthread_create(&threads[t], NULL, set_values, &numbers[t]);
  }
  watch();
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);

  MPI_Comm_free(&comm);
  const int even = report("done:");
  for (int t = 0; t < THREADS; ++t) MPI_Comm_free_keyval(&keys[t]);
  MPI_Finalize();
  return !even;
}
