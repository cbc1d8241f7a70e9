// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef ATTRCACHE_MPI_NATIVE_MPICH_BEHAVIOUR_H_
#define ATTRCACHE_MPI_NATIVE_MPICH_BEHAVIOUR_H_

#include "mpi/native/behaviour.h"

namespace attrcache::mpi::mpich {

// What version 4.0.2 was found to do.
inline constexpr Natively kNatively[] = {
    {Misuse::kInvalidKeyval, "gives MPI_ERR_KEYVAL"},
    {Misuse::kUnknownKeyval, "gives MPI_ERR_KEYVAL"},
    {Misuse::kStaleKeyval, "lets it pass, and takes it for the next keyval that gets its number"},
    {Misuse::kFreedTwice, "lets it pass, or frees the next keyval that gets its number"},
    {Misuse::kWrongKind, "gives MPI_ERR_KEYVAL"},
    {Misuse::kPredefined, "gives MPI_ERR_KEYVAL"},
    {Misuse::kNullHandle, "gives an error"},
    {Misuse::kOutsideInitFinalize, "ends the program"},
    {Misuse::kSetOnFreed, "lets it pass"},
    {Misuse::kDeleteAbsent, "succeeds, as attrcache does, where Open MPI gives an error"},
    {Misuse::kWrongThread, "does not look"},
    {Misuse::kFlagUnset, "takes it for 0"},
    {Misuse::kFlagOdd, "takes it for 1, as attrcache does, where Open MPI takes it for 0"},
    {Misuse::kValueUnset, "attaches a null pointer"},
    {Misuse::kCallbackCode, "passes it on"},
    {Misuse::kFailureLost, "does the same"},
    {Misuse::kTruncated, "does the same"},
    {Misuse::kKeyvalNotFreed, "says nothing"},
    {Misuse::kAttributesLeft, "never runs their delete callbacks either"},
    {Misuse::kFreedInItsDelete, "runs its callbacks again, until the program ends badly"},
};
static_assert(is_complete(kNatively));

// MPI_Type_free ignores what delete callbacks return, hence kDrain.
inline constexpr Behaviour kBehaviour = {
    "MPICH",  {FreeMode::kAnyCode, FreeMode::kDrain, FreeMode::kAnyCode}, false, true, true,
    kNatively};

// Up to version 4, a failure is forgotten if a later callback succeeds, hence kLastCode.
inline constexpr Behaviour kBehaviour4 = {
    "MPICH",  {FreeMode::kLastCode, FreeMode::kDrain, FreeMode::kLastCode}, false, true, true,
    kNatively};

}  // namespace attrcache::mpi::mpich

#endif  // ATTRCACHE_MPI_NATIVE_MPICH_BEHAVIOUR_H_
