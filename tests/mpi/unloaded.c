/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * unloaded MODULE COPY: the module misuses a keyval, leaves others and a communicator behind, and
 * is unloaded; then a copy of its file lands where it was. Nothing of that is the copy's. Built as
 * the program, and with -DMODULE as the module.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#include "attrcache/mpix.h"

#ifdef MODULE

static int forget(MPI_Comm c, int k, void* v, void* e) {
  (void)c, (void)k, (void)v, (void)e;
  return MPI_SUCCESS;
}
static int forget_of_file(MPI_File f, int k, void* v, void* e) {
  (void)f, (void)k, (void)v, (void)e;
  return MPI_SUCCESS;
}
static void destroy(void* e) { (void)e; }

void leave(void);
void leave(void) {
  MPI_Comm left;
  int k;
  int stale;
  int flag;
  void* value;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, forget, &k, NULL);
  MPI_Comm_dup(MPI_COMM_SELF, &left);
  MPI_Comm_set_attr(left, k, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, NULL);
  stale = k;
  MPI_Comm_free_keyval(&k);
  MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
  MPI_Comm_get_attr(left, stale, &value, &flag);
  if (MPIX_File_create_keyval_x != NULL)
    MPIX_File_create_keyval_x(forget_of_file, destroy, &k, NULL);
}

#else

static void* open_at(const char* path, void (**leave)(void)) {
  void* const module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  *leave = module != NULL ? (void (*)(void))dlsym(module, "leave") : NULL;
  if (*leave == NULL) printf("FAILED: %s\n", dlerror());
  return module;
}

int main(int argc, char** argv) {
  void (*leave)(void);
  void (*copied)(void);
  void* module;
  MPI_Init(&argc, &argv);
  module = open_at(argv[1], &leave);
  leave();
  dlclose(module);
  open_at(argv[2], &copied);
  printf("%s place\n", copied == leave ? "the same" : "ANOTHER");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}

#endif
