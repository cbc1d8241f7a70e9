/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Built with -fsanitize=thread. Threads hand memory over by attributes alone: what a thread has
 * written before MPI_Comm_set_attr is read after MPI_Comm_get_attr, by copy_fn and by delete_fn, in
 * other threads. With the argument "race", a thread also writes after the set.
 *
 * It is C and C++ (tsan_cxx.cc).
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 2000, kKept = 64 };

struct value {
  int number;
};

static MPI_Comm comm;
static int plain, with_callbacks, of_race;

static int copy_value(MPI_Comm from, int keyval, void* extra, void* in, void* out, int* flag) {
  struct value* copy = (struct value*)malloc(sizeof *copy);
  (void)from, (void)keyval;
  copy->number = ((struct value*)in)->number + *(int*)extra;
  memcpy(out, &copy, sizeof copy);
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_value(MPI_Comm from, int keyval, void* value, void* extra) {
  (void)from, (void)keyval;
  ((struct value*)value)->number += *(int*)extra;
  free(value);
  return MPI_SUCCESS;
}

static struct value* make(int number) {
  struct value* made = (struct value*)malloc(sizeof *made);
  made->number = number;
  return made;
}

/* Values without callbacks replace each other, and are never freed. */
static void* publish(void* unused) {
  static struct value kept[kKept];
  int i;
  (void)unused;
  for (i = 0; i < kKept; ++i) {
    kept[i].number = i;
    MPI_Comm_set_attr(comm, plain, &kept[i]);
  }
  return NULL;
}

static void* read_published(void* sum) {
  struct value* found = NULL;
  int flag, number = -1;
  do {
    MPI_Comm_get_attr(comm, plain, &found, &flag);
    if (flag) number = found->number;
    *(long*)sum += number;
  } while (number != kKept - 1);
  return NULL;
}

static void* set_and_delete(void* number) {
  int i;
  for (i = 0; i < kRounds; ++i) {
    MPI_Comm_set_attr(comm, with_callbacks, make(*(int*)number));
    if (i % 3 == 0) MPI_Comm_delete_attr(comm, with_callbacks);
  }
  return NULL;
}

static void* duplicate(void* sum) {
  struct value* found;
  MPI_Comm copy;
  int i, flag;
  for (i = 0; i < kRounds / 20; ++i) {
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_get_attr(copy, with_callbacks, &found, &flag);
    if (flag) *(long*)sum += found->number;
    MPI_Comm_get_attr(copy, plain, &found, &flag);
    if (flag) *(long*)sum += found->number;
    MPI_Comm_free(&copy);
  }
  return NULL;
}

static void* set_too_early(void* raced) {
  MPI_Comm_set_attr(comm, of_race, raced);
  ((struct value*)raced)->number = 2;
  return NULL;
}

static void* read_raced(void* sum) {
  struct value* found;
  int flag;
  do {
    MPI_Comm_get_attr(comm, of_race, &found, &flag);
  } while (!flag);
  *(long*)sum += found->number;
  return NULL;
}

int main(int argc, char** argv) {
  static int one = 1, two = 2;
  static long sums[4];
  static struct value raced;
  const int races = argc > 1 && strcmp(argv[1], "race") == 0;
  const int replaces = argc > 1 && strcmp(argv[1], "callbacks") == 0;
  pthread_t threads[8];
  int provided, i, count = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_race, NULL);
  MPI_Comm_create_keyval(copy_value, delete_value, &with_callbacks, &one);
  if (provided == MPI_THREAD_MULTIPLE) {
    pthread_create(&threads[count++], NULL, publish, NULL);
    pthread_create(&threads[count++], NULL, read_published, &sums[0]);
    pthread_create(&threads[count++], NULL, read_published, &sums[1]);
    if (replaces) {
      pthread_create(&threads[count++], NULL, set_and_delete, &one);
      pthread_create(&threads[count++], NULL, set_and_delete, &two);
      pthread_create(&threads[count++], NULL, duplicate, &sums[2]);
    }
    if (races) {
      pthread_create(&threads[count++], NULL, set_too_early, &raced);
      pthread_create(&threads[count++], NULL, read_raced, &sums[3]);
    }
  }
  for (i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&plain);
  MPI_Comm_free_keyval(&of_race);
  MPI_Comm_free_keyval(&with_callbacks);
  MPI_Finalize();
  printf("%d threads\n", count);
  return 0;
}
