// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The sorts of misuse of attributes. They are listed at the bottom, because each MPI's behaviour.h
// says what that MPI does about each of them. How misuse is noticed and told: watching/misuse.h.

#ifndef ATTRCACHE_MPI_NATIVE_MISUSE_SORTS_H_
#define ATTRCACHE_MPI_NATIVE_MISUSE_SORTS_H_

#include <cstdint>

namespace attrcache::mpi {

enum class Misuse : uint8_t {
  // These are always noticed.
  kInvalidKeyval,        // MPI_KEYVAL_INVALID is used
  kUnknownKeyval,        // a keyval that nobody made
  kStaleKeyval,          // set, get or delete under a keyval that is freed and gone
  kFreedTwice,           // a keyval is freed that is freed already
  kWrongKind,            // a keyval of one kind of object used on another
  kPredefined,           // a predefined attribute is set or deleted, or its keyval freed
  kNullHandle,           // an attribute of MPI_COMM_NULL or another null handle
  kOutsideInitFinalize,  // called before MPI_Init or after MPI_Finalize
  // These are looked for with ATTRCACHE_CHECK=1 only.
  kSetOnFreed,        // set under a freed keyval that only its attributes keep alive
  kDeleteAbsent,      // nothing is attached that could be deleted
  kWrongThread,       // called by a thread that the thread level of MPI_Init_thread excludes
  kFlagUnset,         // copy_fn succeeds without setting `flag`
  kFlagOdd,           // copy_fn gives a flag that is neither 0 nor 1
  kValueUnset,        // copy_fn says flag = 1 and gives no value
  kCallbackCode,      // a callback returns what is no error code of MPI
  kFailureLost,       // a delete callback fails, and the call that ran it succeeds
  kTruncated,         // MPI-1's Fortran get cuts an attribute's value
  kKeyvalNotFreed,    // a keyval is not freed by MPI_Finalize
  kAttributesLeft,    // an object with attributes is not freed by MPI_Finalize
  kFreedInItsDelete,  // a callback frees the object that is being freed
  kCount,
};
inline constexpr int kMisuses = static_cast<int>(Misuse::kCount);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_MISUSE_SORTS_H_
