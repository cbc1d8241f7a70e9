/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The MPI standard's own use of caching (MPI-1.1 5.7.2): a collective operation that works out what
 * it needs to know about a communicator's group once, and keeps that with the communicator, under a
 * keyval. When the communicator is duplicated the copy refers to the same data; when the last one
 * is freed, so is the data.
 *
 * Two threads per rank do so at the same time, each on a communicator of its own (collective
 * operations on one communicator must not race), while both also read what is cached with a common
 * one. Data are never really freed, so that the ledger at the end can tell how often each was.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, COMMUNICATORS = 40, CALLS = 25, DUPS = 3 };

/* What the operation has to know about a group. */
typedef struct {
  atomic_int references;
  atomic_int freed; /* how often: once is right */
  int rank, size;
  int left, right; /* the neighbours in the ring */
} group_data;

static group_data ledger[THREADS * COMMUNICATORS + 1024];
static atomic_int built, found, copied;

static int group_key = MPI_KEYVAL_INVALID;
static pthread_once_t group_key_once = PTHREAD_ONCE_INIT;

static void fail(const char* what) {
  fprintf(stderr, "caching: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int copy_group_data(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra;
  atomic_fetch_add(&((group_data*)in)->references, 1);
  atomic_fetch_add(&copied, 1);
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_group_data(MPI_Comm comm, int key, void* value, void* extra) {
  group_data* data = value;
  (void)comm, (void)key, (void)extra;
  if (atomic_fetch_sub(&data->references, 1) == 1) atomic_fetch_add(&data->freed, 1);
  return MPI_SUCCESS;
}

static void make_group_key(void) {
  if (MPI_Comm_create_keyval(copy_group_data, delete_group_data, &group_key, NULL) != MPI_SUCCESS) {
    fail("no keyval left");
  }
}

static group_data* build_group_data(MPI_Comm comm) {
  const int number = atomic_fetch_add(&built, 1);
  if (number >= (int)(sizeof ledger / sizeof *ledger)) fail("data are built over and over");
  group_data* data = &ledger[number];
  atomic_store(&data->references, 1);
  MPI_Comm_rank(comm, &data->rank);
  MPI_Comm_size(comm, &data->size);
  data->left = (data->rank + data->size - 1) % data->size;
  data->right = (data->rank + 1) % data->size;
  return data;
}

/* The data of a communicator's group: cached, or else built, and cached for the next call. */
static group_data* group_data_of(MPI_Comm comm) {
  group_data* data;
  int flag;
  pthread_once(&group_key_once, make_group_key);
  MPI_Comm_get_attr(comm, group_key, &data, &flag);
  if (flag) {
    atomic_fetch_add(&found, 1);
    return data;
  }
  data = build_group_data(comm);
  MPI_Comm_set_attr(comm, group_key, data);
  return data;
}

/* The collective operation: the sum of everybody's value, passed round the ring. */
static long efficient_sum(MPI_Comm comm, long value) {
  const group_data* data = group_data_of(comm);
  long sum = value, passing = value;
  for (int step = 1; step < data->size; ++step) {
    MPI_Sendrecv_replace(&passing, 1, MPI_LONG, data->right, 0, data->left, 0, comm,
                         MPI_STATUS_IGNORE);
    sum += passing;
  }
  return sum;
}

static void call_often(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (long i = 0; i < CALLS; ++i) {
    if (efficient_sum(comm, rank + i) != size * (size - 1) / 2 + size * i) fail("wrong sum");
  }
}

static MPI_Comm common;           /* both threads read its data */
static MPI_Comm parents[THREADS]; /* carry nothing, and are each duplicated by one thread */

static void* use_communicators(void* argument) {
  const int thread = *(int*)argument;
  for (int c = 0; c < COMMUNICATORS; ++c) {
    MPI_Comm comm, dups[DUPS];
    MPI_Comm_dup(parents[thread], &comm);
    call_often(comm);
    for (int d = 0; d < DUPS; ++d) MPI_Comm_dup(d == 0 ? comm : dups[d - 1], &dups[d]);
    MPI_Comm_free(&comm);
    for (int d = 0; d < DUPS; ++d) {
      call_often(dups[d]);
      group_data_of(common);
      MPI_Comm_free(&dups[d]);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  int level, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level != MPI_THREAD_MULTIPLE) fail("this MPI has no MPI_THREAD_MULTIPLE");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  MPI_Comm_dup(MPI_COMM_WORLD, &common);
  group_data_of(common);
  for (int t = 0; t < THREADS; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &parents[t]);

  pthread_t threads[THREADS];
  int numbers[THREADS];
  for (int t = 0; t < THREADS; ++t) {
    numbers[t] = t;
    pthread_create(&threads[t], NULL, use_communicators, &numbers[t]);
  }
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);

  MPI_Comm_free_keyval(&group_key); /* what is attached under it stays, until it is deleted */
  MPI_Comm_free(&common);
  for (int t = 0; t < THREADS; ++t) MPI_Comm_free(&parents[t]);

  const int communicators = THREADS * COMMUNICATORS + 1;
  int twice = 0, never = 0;
  for (int i = 0; i < atomic_load(&built); ++i) {
    const int freed = atomic_load(&ledger[i].freed);
    twice += freed > 1;
    never += freed == 0;
  }
  const int copies = THREADS * COMMUNICATORS * DUPS;
  const int good = atomic_load(&built) == communicators && atomic_load(&copied) == copies &&
                   twice == 0 && never == 0;
  char line[256];
  snprintf(
      line, sizeof line,
      "rank %d: %d communicators: built %d, found %d times, copied to %d dups; freed twice %d, "
      "never %d: %s\n",
      rank, communicators, atomic_load(&built), atomic_load(&found), atomic_load(&copied), twice,
      never, good ? "good" : "WRONG");
  fputs(line, stdout);
  fflush(stdout);
  MPI_Finalize();
  return !good;
}
