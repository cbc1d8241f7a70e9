// SPDX-License-Identifier: Apache-2.0 OR MIT
// Threads that set attributes: each value is deleted once. (--enable-thread-cs=per-vci takes no
// lock, and global leaves it in callbacks.)
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
enum { SETS = 2000000 };
static unsigned char deleted[2 * SETS];
static int keyval, twice, never;
static int count(MPI_Comm c, int k, void* v, void* e) {
  return (void)c, (void)k, (void)e, __atomic_fetch_add((unsigned char*)v, 1, 5), 0;
}
static void* set(void* values) {
  for (int i = 0; i < SETS; i++)
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, (unsigned char*)values + i);
  return NULL;
}
int main(int argc, char** argv) {
  pthread_t other;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &(int){0});
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count, &keyval, NULL);
  pthread_create(&other, NULL, set, deleted + SETS);
  set(deleted);
  pthread_join(other, NULL);
  MPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
  for (int i = 0; i < 2 * SETS; i++) twice += deleted[i] > 1, never += deleted[i] == 0;
  printf("%d values deleted twice, %d never\n", twice, never);
  MPI_Finalize();
  return twice + never != 0;
}
