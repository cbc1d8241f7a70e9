/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * run NP PROGRAM: starts NP ranks, each a thread that runs the program's main.
 *
 * In an MPI program each rank has its own global variables. To give them to threads, the program is
 * built as a shared library, and each rank loads a copy of it: the loader treats another file as
 * another library.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "runtime.h"

_Thread_local struct tiny_rank* tiny_me;

static pthread_barrier_t everybody;
static const char* program;
static int ranks;

typedef int main_function(int, char**);

static void die(const char* what) {
  fprintf(stderr, "run: %s\n", what);
  exit(2);
}

static main_function* load_a_copy(void) {
  char path[64];
  off_t left;
  void* library;
  const int from = open(program, O_RDONLY | O_CLOEXEC);
  const int copy = memfd_create("rank", MFD_CLOEXEC);
  if (from < 0 || copy < 0) die("can't read the program");
  left = lseek(from, 0, SEEK_END);
  lseek(from, 0, SEEK_SET);
  while (left > 0) {
    const ssize_t sent = sendfile(copy, from, NULL, (size_t)left);
    if (sent <= 0) die("can't copy the program");
    left -= sent;
  }
  close(from);
  /* The copy stays open, so that no other rank gets the same descriptor and thereby this path. */
  snprintf(path, sizeof path, "/proc/self/fd/%d", copy);
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) die(dlerror());
  return (main_function*)(uintptr_t)dlsym(library, "main");
}

static void* run_rank(void* number) {
  char name[] = "rank";
  char* arguments[] = {name, NULL};
  main_function* program_main;
  struct tiny_rank* rank = calloc(1, sizeof *rank);
  if (rank == NULL) die("out of memory");
  rank->world.rank = (int)(intptr_t)number;
  rank->world.size = ranks;
  rank->world.barrier = &everybody;
  rank->self.size = 1;
  tiny_me = rank;
  program_main = load_a_copy();
  if (program_main == NULL) die("the program has no main");
  number = (void*)(intptr_t)program_main(1, arguments);
  free(rank);
  return number;
}

int MPI_Init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  return tiny_attributes_begin(tiny_me);
}

int MPI_Finalize(void) {
  const int code = tiny_attributes_end(tiny_me);
  pthread_barrier_wait(&everybody);
  return code;
}

int MPI_Abort(MPI_Comm comm, int code) {
  (void)comm;
  exit(code);
}

int main(int argc, char** argv) {
  pthread_t threads[64];
  intptr_t failed = 0;
  ranks = argc == 3 ? atoi(argv[1]) : 0;
  if (ranks < 1 || ranks > 64) die("usage: run NP PROGRAM, NP from 1 to 64");
  program = argv[2];
  pthread_barrier_init(&everybody, NULL, (unsigned)ranks);
  for (intptr_t i = 0; i < ranks; ++i) {
    if (pthread_create(&threads[i], NULL, run_rank, (void*)i) != 0) die("can't start a thread");
  }
  for (int i = 0; i < ranks; ++i) {
    void* result;
    pthread_join(threads[i], &result);
    failed |= (intptr_t)result;
  }
  pthread_barrier_destroy(&everybody);
  return failed != 0;
}
