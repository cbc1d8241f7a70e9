/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A program without MPI that opens a module which uses MPI, locally, as an interpreter does: MPI is
 * then in no global scope. Argument: the module, coexist.c as a shared library whose main() is
 * run().
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*run)(int, char**) = module != NULL ? (int (*)(int, char**))dlsym(module, "run") : NULL;
  if (run == NULL) {
    printf("FAILED: %s\n", dlerror());
    return 1;
  }
  return run(argc, argv);
}
