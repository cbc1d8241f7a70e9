// SPDX-License-Identifier: Apache-2.0 OR MIT
// Threadcomms, from 5.0 on: they have attributes outside of parallel regions, too. In a region, a
// callback that fails for one thread leaves none waiting.
#include <mpi.h>
#include <stdio.h>
#if MPICH_NUMVERSION < 50000000
int main(void) { return 0; }
#else
#include <pthread.h>
enum { THREADS = 2 };
static MPI_Comm all;
static int keyval, deletions, failures, refuse;
static pthread_barrier_t together;
static int copy_fn(MPI_Comm c, int k, void* e, void* in, void* out, int* flag) {
  return (void)c, (void)k, (void)e, *(void**)out = in, *flag = 1, refuse;
}
static int delete_fn(MPI_Comm c, int k, void* v, void* e) {
  (void)c, (void)k, (void)e;
  __atomic_fetch_add(&deletions, 1, 5);
  return v != NULL ? MPI_ERR_OTHER : MPI_SUCCESS;
}
static void* region(void* number) {
  MPI_Comm copy;
  MPIX_Threadcomm_start(all);
  refuse = MPI_ERR_OTHER;
  pthread_barrier_wait(&together);
  if (MPI_Comm_dup(all, &copy) != MPI_SUCCESS) __atomic_fetch_add(&failures, 1, 5);
  pthread_barrier_wait(&together);
  refuse = MPI_SUCCESS;
  pthread_barrier_wait(&together);
  if (MPI_Comm_dup(all, &copy) == MPI_SUCCESS) {
    MPI_Comm_set_attr(copy, keyval, NULL);
    MPI_Comm_free(&copy);
  }
  MPI_Comm_set_attr(all, keyval, number);
  if (MPIX_Threadcomm_finish(all) != MPI_SUCCESS) __atomic_fetch_add(&failures, 1, 5);
  return NULL;
}
int main(int argc, char** argv) {
  pthread_t other;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &(int){0});
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(copy_fn, delete_fn, &keyval, NULL);
  MPIX_Threadcomm_init(MPI_COMM_WORLD, THREADS, &all);
  MPI_Comm_set_attr(all, keyval, NULL);
  pthread_barrier_init(&together, NULL, THREADS);
  pthread_create(&other, NULL, region, &together);
  region(NULL);
  pthread_join(other, NULL);
  MPI_Comm_set_attr(all, keyval, &failures);
  if (MPIX_Threadcomm_free(&all) != MPI_SUCCESS) failures++;
  MPIX_Threadcomm_free(&all);
  // Two failed to dup, one to finish, one to free. Deleted: two of `all`, one of its copy, and one
  // of each thread of both.
  printf("%d failures instead of 4, %d deletions instead of 7\n", failures, deletions);
  MPI_Finalize();
  return failures != 4 || deletions != 7 || all != MPI_COMM_NULL;
}
#endif
