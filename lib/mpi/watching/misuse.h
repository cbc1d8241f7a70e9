// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Misuse of attributes: what the MPI standard calls erroneous, or leaves so open that MPIs differ.
// MPIs let most of it pass. Where a slow path comes across misuse, it is counted if a report is
// wanted. With ATTRCACHE_CHECK=1 in the environment attrcache also looks for it, and warns on stderr,
// once for each place in the program.

#ifndef ATTRCACHE_MPI_WATCHING_MISUSE_H_
#define ATTRCACHE_MPI_WATCHING_MISUSE_H_

#include <cstdint>
#include <vector>

#include "mpi/native/misuse_sorts.h"
#include "mpi/native/origin.h"
#include "platform/atomic.h"

namespace attrcache::mpi {

inline constexpr int kNoKind = -1;
inline constexpr int kNoKeyval = INT32_MIN;

// Which attribute function was called.
enum class Doing : uint8_t { kUnknown, kCreate, kFree, kSet, kGet, kDelete, kSetIfAbsent };

// What is known of one case of misuse. `kind` is ATTRCACHE_COMMUNICATOR or one of the others,
// `keyval` is what the program gave, and `detail` is anything else there is to say, or null.
struct Case {
  Doing doing = Doing::kUnknown;
  int kind = kNoKind;
  int keyval = kNoKeyval;
  const char* detail = nullptr;
};

// Counts a misuse, and prints a warning if warnings are wanted and the place is new. Any thread may
// call it. It preserves errno. If `place` is a call without an address, it is the innermost caller
// outside of attrcache and MPI.
[[gnu::noinline, gnu::cold]] void caught(Misuse sort, const Case& c, Place place = {});

// A sort of misuse at one place. These are recorded with ATTRCACHE_CHECK=1, or after
// record_misuse().
struct Sighting {
  Misuse sort;
  Place place;
  uint64_t times;
};

// What was recorded so far, without notes. Any thread may call it.
std::vector<Sighting> list_misuse();

// Records places from now on, even if no warnings are wanted.
void record_misuse();

// Whether the environment variable ATTRCACHE_CHECK asks for warnings. Slow the first time only.
bool checking();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_WATCHING_MISUSE_H_
