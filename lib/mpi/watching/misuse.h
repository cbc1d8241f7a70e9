// SPDX-License-Identifier: Apache-2.0
//
// Misuse of attributes: what the MPI standard calls erroneous, or leaves so open that MPIs differ,
// and what MPIs let pass. It is counted always, where a slow path comes across it; with
// ATTRCACHE_CHECK=1 in the environment it is looked for, and told on stderr, once for each place in
// the program.

#ifndef ATTRCACHE_MPI_WATCHING_MISUSE_H_
#define ATTRCACHE_MPI_WATCHING_MISUSE_H_

#include <cstddef>
#include <cstdint>

#include "platform/atomic.h"

namespace attrcache::mpi {

enum class Misuse : uint8_t {
  // Noticed always.
  kInvalidKeyval,  // MPI_KEYVAL_INVALID is used
  kUnknownKeyval,  // a keyval that nobody made
  kStaleKeyval,    // set, get or delete under a keyval that is freed and gone
  kFreedTwice,     // a keyval is freed that is freed already
  kWrongKind,      // a keyval of one kind of object used on another
  kPredefined,     // a predefined attribute is set or deleted, or its keyval freed
  kNullHandle,     // an attribute of MPI_COMM_NULL or its kin
  kOutOfTime,      // called before MPI_Init or after MPI_Finalize
  // Looked for with ATTRCACHE_CHECK=1 alone.
  kSetOnFreed,        // set under a keyval that is freed and lives on by its attributes only
  kDeleteAbsent,      // nothing is attached that could be deleted
  kWrongThread,       // called by a thread that the thread level of MPI_Init_thread excludes
  kFlagUnset,         // copy_fn succeeds without a word on `flag`
  kFlagOdd,           // copy_fn gives a flag that is neither 0 nor 1
  kValueUnset,        // copy_fn says flag = 1 and gives no value
  kCallbackCode,      // a callback returns what is no error code of MPI
  kFailureLost,       // a delete callback fails where nobody is told
  kTruncated,         // MPI-1's Fortran get cuts an attribute's value
  kKeyvalNotFreed,    // a keyval is left at the end
  kAttributesLeft,    // an object is left at the end, with attributes
  kFreedInItsDelete,  // a callback frees the object that is being freed
  kCount,
};
inline constexpr int kMisuses = static_cast<int>(Misuse::kCount);

struct MisuseText {
  const char* name;  // for tools: "stale-keyval"
  const char* what;  // one line for people
  const char* rule;  // what the standard says, and where
};
const MisuseText& describe(Misuse sort);

// Where in the program: the return address of a call, or a function.
struct Place {
  const void* address = nullptr;  // null: to be found, or unknown if is_call is false
  bool is_call = true;
};
inline Place function_place(const void* function) { return {function, false}; }
inline Place call_place(const void* return_address) { return {return_address, true}; }
// The innermost caller outside of attrcache and MPI; a null address if there is none. Slow.
Place find_caller();

inline constexpr int kNoKind = -1;
inline constexpr int kNoKeyval = INT32_MIN;

// Which function was called.
enum class Doing : uint8_t { kUnknown, kCreate, kFree, kSet, kGet, kDelete };

// What is known of one case. `kind`: ATTRCACHE_COMMUNICATOR or another; `keyval` as the program has
// it; `detail`: what else there is to say, or null.
struct Case {
  Doing doing = Doing::kUnknown;
  int kind = kNoKind;
  int keyval = kNoKeyval;
  const char* detail = nullptr;
};

// Counts a misuse, and tells it if that is wanted and news. Any thread; waits for nobody; preserves
// errno.
[[gnu::noinline, gnu::cold]] void caught(Misuse sort, const Case& c, Place place = {});

// How often a sort was caught so far.
uint64_t misuse_count(Misuse sort);

// One sort at one place, as recorded with ATTRCACHE_CHECK=1, or after record_misuse().
struct Sighting {
  Misuse sort;
  int kind;    // of the first time
  int keyval;  // of the first time
  Place place;
  uint64_t times;
};
inline constexpr size_t kMostSightings = 256;

// Fills at most `capacity` of `sightings` and returns how many that are. Any thread.
size_t list_misuse(Sighting* sightings, size_t capacity);

// Have places recorded even if they aren't told.
void record_misuse();

// Whether ATTRCACHE_CHECK asks for warnings. Slow the first time only.
bool checking();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_WATCHING_MISUSE_H_
