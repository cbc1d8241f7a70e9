// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef ATTRCACHE_MPI_NATIVE_OPENMPI_BEHAVIOUR_H_
#define ATTRCACHE_MPI_NATIVE_OPENMPI_BEHAVIOUR_H_

#include "mpi/native/behaviour.h"

namespace attrcache::mpi::openmpi {

// What version 4.1.4 was found to do.
inline constexpr Natively kNatively[] = {
    {Misuse::kInvalidKeyval, "gives MPI_ERR_OTHER or MPI_ERR_KEYVAL"},
    {Misuse::kUnknownKeyval, "gives MPI_ERR_OTHER"},
    {Misuse::kStaleKeyval, "takes it for the next keyval that gets its number"},
    {Misuse::kFreedTwice,
     "frees it under its remaining attributes, or the next keyval that gets its number"},
    {Misuse::kWrongKind, "lets a get pass, and says that nothing is attached"},
    {Misuse::kPredefined, "gives MPI_ERR_OTHER"},
    {Misuse::kNullHandle, "lets MPI_Attr_get pass, and fails in the others"},
    {Misuse::kOutsideInitFinalize, "ends the program"},
    {Misuse::kSetOnFreed, "lets it pass"},
    {Misuse::kDeleteAbsent, "gives MPI_ERR_OTHER, where MPICH and attrcache succeed"},
    {Misuse::kWrongThread, "does not look"},
    {Misuse::kFlagUnset, "copies or not, by what it finds there"},
    {Misuse::kFlagOdd, "takes it for 0, where MPICH and attrcache take it for 1"},
    {Misuse::kValueUnset, "attaches what it finds there"},
    {Misuse::kCallbackCode, "passes it on, or makes it MPI_ERR_OTHER"},
    {Misuse::kFailureLost, "does the same"},
    {Misuse::kTruncated, "does the same"},
    {Misuse::kKeyvalNotFreed, "says nothing"},
    {Misuse::kAttributesLeft, "never runs their delete callbacks either"},
    {Misuse::kFreedInItsDelete, "runs its callbacks again, until the program ends badly"},
};
static_assert(is_complete(kNatively));

inline constexpr Behaviour kBehaviour = {
    "Open MPI", {FreeMode::kStop, FreeMode::kDrain, FreeMode::kDrain}, true, false, false,
    kNatively};

// Up to version 4, MPI_Finalize deletes the attributes of MPI_COMM_WORLD, too.
inline constexpr Behaviour kBehaviour4 = {
    "Open MPI", {FreeMode::kStop, FreeMode::kDrain, FreeMode::kDrain}, true, true, false,
    kNatively};

}  // namespace attrcache::mpi::openmpi

#endif  // ATTRCACHE_MPI_NATIVE_OPENMPI_BEHAVIOUR_H_
