// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What MPIs do differently where the standard lets them, or where they fall short of it. This isn't
// known when the interposer is built, because one interposer serves several versions of an MPI, and
// that of the standard ABI serves several MPIs. So it is looked up at run time, by what
// MPI_Get_library_version says. behaviour.cc has a row for each version in which that changed.

#ifndef ATTRCACHE_MPI_NATIVE_BEHAVIOUR_H_
#define ATTRCACHE_MPI_NATIVE_BEHAVIOUR_H_

#include "mpi/native/kinds.h"
#include "mpi/native/misuse_sorts.h"

namespace attrcache::mpi {

// What happens when a delete callback fails while an object is freed. The values describe what the
// program sees of the MPI; where an MPI skips callbacks and frees the object all the same,
// attrcache runs them (lib/mpi/README.md).
enum class FreeMode {
  kStop,      // stops there and keeps the object; a second free goes on
  kLastCode,  // runs all; keeps the object, without attributes, if the last one failed
  kAnyCode,   // the same if any of them failed; returns the code of the last failure
  // Runs all, and frees the object whatever they return. MPI isn't told that one failed: it might
  // never free what belongs to the object. So this ends well on an MPI that isn't known, too.
  kDrain
};

struct Behaviour {
  const char* name;                // the MPI's name as people write it
  FreeMode free_modes[kMpiKinds];  // of MPI_Comm_free, MPI_Type_free and so on
  // Whether MPI_Finalize succeeds although a delete callback of MPI_COMM_SELF fails.
  bool finalize_forgets;
  // Whether MPI_Finalize deletes the attributes of MPI_COMM_WORLD, too. (It always deletes those of
  // MPI_COMM_SELF.)
  bool finalize_deletes_on_world;
  // Whether MPI_Finalize deletes the attributes of predefined datatypes.
  bool finalize_deletes_on_types;
  // The column of misuse.def that says what it does about misuse. Null: the MPI is unknown, and is
  // served behind the standard ABI only (why_not_served()).
  const char* MisuseText::*natively;
};

// Returns the behaviour of the MPI whose MPI_Get_library_version says `library_version`.
const Behaviour& find_behaviour(const char* library_version);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_BEHAVIOUR_H_
