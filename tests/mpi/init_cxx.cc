// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A program that touches no attribute: init [thread], as init.c, by the MPIs' C++ bindings.
#include <mpi.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "thread") == 0) {
    MPI::Init_thread(argc, argv, MPI_THREAD_MULTIPLE);
  } else {
    MPI::Init(argc, argv);
  }
  std::puts("through");
  std::fflush(stdout);
  MPI::Finalize();
}
