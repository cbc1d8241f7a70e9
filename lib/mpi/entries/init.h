// SPDX-License-Identifier: Apache-2.0
//
// What the functions that initialize MPI have in common (init.cc; for sessions, mpich/session.cc).

#ifndef ATTRCACHE_MPI_ENTRIES_INIT_H_
#define ATTRCACHE_MPI_ENTRIES_INIT_H_

namespace attrcache::mpi {

// MPI's own function of that name, behind ours. Ends the process if there is none.
void* find_behind(const char* name);
template <typename Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(find_behind(name));
}

// MPI's function has returned `code`. Where the process is to be told of from its beginning on, it
// is served from now on, and not only from its first keyval on. Returns `code`.
int initialized(int code);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_ENTRIES_INIT_H_
