// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// MPI's functions that ours hide, for those that pass each call on.

#ifndef ATTRCACHE_MPI_ENTRIES_BEHIND_H_
#define ATTRCACHE_MPI_ENTRIES_BEHIND_H_

namespace attrcache::mpi {

// Returns MPI's own function of that name, or that of a tool behind attrcache. Ends the process if
// there is none. Slow.
void* find_behind(const char* name);
template <typename Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(find_behind(name));
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_ENTRIES_BEHIND_H_
