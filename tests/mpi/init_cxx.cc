// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A program that touches no attribute: init [thread], as init.c, by the MPIs' C++ bindings. Where
// the MPI has none any more, which cxx.cc finds out and says, it is C++ that calls the C functions.
#include <mpi.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  const bool threaded = argc > 1 && std::strcmp(argv[1], "thread") == 0;
#if defined(OPEN_MPI) && !OMPI_BUILD_CXX_BINDINGS
  int provided;
  if (threaded) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
#else
  if (threaded) {
    MPI::Init_thread(argc, argv, MPI_THREAD_MULTIPLE);
  } else {
    MPI::Init(argc, argv);
  }
#endif
  std::puts("through");
  std::fflush(stdout);
#if defined(OPEN_MPI) && !OMPI_BUILD_CXX_BINDINGS
  MPI_Finalize();
#else
  MPI::Finalize();
#endif
}
