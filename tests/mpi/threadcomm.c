/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Threadcomms, on an MPI that has them (MPICH 4.2 and newer): each thread has attributes of its own
 * on the one handle, deleted when it calls MPIX_Threadcomm_finish.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

#include "check.h"

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40200000
enum { THREADS = 3 };
static MPI_Comm comm;
static int key, deleted[THREADS];
static pthread_barrier_t together;
static void *found[THREADS], *unset[THREADS];

static int delete_fn(MPI_Comm c, int k, void* value, void* extra_state) {
  (void)c, (void)k, (void)extra_state;
  ++*(int*)value;
  return MPI_SUCCESS;
}

static void* thread(void* of) {
  int me, flag = 0;
  MPIX_Threadcomm_start(comm);
  MPI_Comm_rank(comm, &me);
  me %= THREADS;
  MPI_Comm_get_attr(comm, key, &unset[me], &flag);
  if (!flag) unset[me] = NULL;
  pthread_barrier_wait(&together);
  MPI_Comm_set_attr(comm, key, &deleted[me]);
  pthread_barrier_wait(&together);
  MPI_Comm_get_attr(comm, key, &found[me], &flag);
  if (!flag) found[me] = NULL;
  pthread_barrier_wait(&together);
  MPIX_Threadcomm_finish(comm);
  return of;
}

static void use_threadcomm(void) {
  pthread_t threads[THREADS];
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, &key, NULL);
  CHECK_EQUAL(MPIX_Threadcomm_init(MPI_COMM_WORLD, THREADS, &comm), MPI_SUCCESS);
  pthread_barrier_init(&together, NULL, THREADS);
  for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, thread, NULL);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  CHECK_EQUAL(MPIX_Threadcomm_free(&comm), MPI_SUCCESS);
  for (int i = 0; i < THREADS; ++i) {
    CHECK(unset[i] == NULL);
    CHECK(found[i] == &deleted[i]);
    CHECK_EQUAL(deleted[i], 1);
  }
  MPI_Comm_free_keyval(&key);
}
#else
static void use_threadcomm(void) {}
#endif

int main(int argc, char** argv) {
  int level, status;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  check_begin();
  use_threadcomm();
  CHECK(level >= MPI_THREAD_SINGLE);
  status = check_report();
  MPI_Finalize();
  return status;
}
