// SPDX-License-Identifier: Apache-2.0
//
// What MPIs do differently where the standard lets them, or where they fall short of it. That is
// not known when the interposer is built: one interposer serves several versions of an MPI, and
// that of the standard ABI serves several MPIs. So it is found at run time, by what MPI says of
// itself (MPI_Get_library_version). Each MPI has a folder here with what it does, and a row for each
// change of it in behaviour.cc.

#ifndef ATTRCACHE_MPI_NATIVE_BEHAVIOUR_H_
#define ATTRCACHE_MPI_NATIVE_BEHAVIOUR_H_

#include "mpi/watching/misuse.h"

namespace attrcache::mpi {

// How an MPI takes the failure of a delete callback when it frees an object.
enum class FreeMode {
  kStop,      // stops there and keeps the object: a second free goes on
  kDrain,     // runs all, and the object is gone whatever they said
  kLastCode,  // runs all, and keeps the object, without attributes, if the last one failed
  kAnyCode,   // the same if any of them failed; the last failure's code is what it says
  kUntold,    // not known: so all are run, and MPI is told that none failed, which must end well
};

// What an MPI by itself makes of a sort of misuse; null where that isn't known.
struct Natively {
  Misuse sort;
  const char* text;
};

struct Behaviour {
  const char* name;  // as people call it
  // Of MPI_Comm_free, MPI_Type_free and MPI_Win_free.
  FreeMode free_modes[3];
  // Whether MPI_Finalize succeeds where a delete callback of MPI_COMM_SELF fails.
  bool finalize_forgets;
  // Whether MPI_Finalize deletes the attributes of MPI_COMM_WORLD, too. (MPI_COMM_SELF's it always
  // does.)
  bool finalize_deletes_on_world;
  // Whether MPI_Finalize deletes the attributes of predefined datatypes.
  bool finalize_deletes_on_types;
  // For each sort of misuse, in that order; null: nothing is known.
  const Natively* natively;
};

// Of the MPI that calls itself so.
const Behaviour& find_behaviour(const char* library_version);

// Whether a list for Behaviour::natively has each sort at its place.
template <size_t kCount>
constexpr bool is_complete(const Natively (&list)[kCount]) {
  if (kCount != kMisuses) return false;
  for (size_t i = 0; i < kCount; ++i) {
    if (list[i].sort != static_cast<Misuse>(i)) return false;
  }
  return true;
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_BEHAVIOUR_H_
