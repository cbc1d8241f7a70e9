// SPDX-License-Identifier: Apache-2.0
//
// What made keyvals, and what was done with them: one Maker for each different pair of callbacks,
// or, where there are none to tell, for each place that creates keyvals. All keyvals of one maker
// are counted together.

#ifndef ATTRCACHE_MPI_REPORT_MAKER_H_
#define ATTRCACHE_MPI_REPORT_MAKER_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "platform/atomic.h"

namespace attrcache::mpi::report {

// Sums over all threads, relaxed: each stands for itself.
struct Counts {
  Atomic<uint64_t> created{0};
  Atomic<uint64_t> freed{0};       // by MPI_*_free_keyval
  Atomic<uint64_t> sets{0};        // calls
  Atomic<uint64_t> gets{0};        // that found something; of keyvals that have ended, and far ones
  Atomic<uint64_t> absent{0};      // gets that didn't; likewise
  Atomic<uint64_t> deletes{0};     // calls
  Atomic<uint64_t> copies{0};      // attributes that a dup gave to the new object
  Atomic<uint64_t> ends{0};        // attributes that were there when their object was freed
  Atomic<uint64_t> copy_calls{0};  // of copy_fn
  Atomic<uint64_t> delete_calls{0};     // of delete_fn
  Atomic<uint64_t> failed{0};           // of both: returned an error, or threw
  Atomic<int64_t> last_failure{0};      // its code
  Atomic<uint64_t> nanoseconds{0};      // in callbacks
  Atomic<uint64_t> own_nanoseconds{0};  // without the callbacks that they caused in turn
};

struct Maker {
  int kind;
  attrcache_callback* copy_fn;    // null: none, or DUP_FN
  attrcache_callback* delete_fn;  // null: none
  const void* caller;             // a return address, where neither is there
  char library[64];               // the file's name, of delete_fn's if there is one
  // The functions' names, or where in the library they are ("+0x1f20"); the caller's.
  char copy_name[96];
  char delete_name[96];
  char caller_name[96];
  Counts counts;
  Maker* next;

  // What to call it; empty: nothing is known. delete_fn first: most have one, and its name says
  // more.
  const char* name() const {
    if (delete_fn != nullptr) return delete_name;
    return copy_fn != nullptr ? copy_name : caller_name;
  }
};

// The maker of a keyval with these callbacks, made by a call that returns to `caller`. Null when
// out of memory. Slow for one that wasn't seen before: its name is looked up now, while its library
// is loaded. Beyond 4096, all are one maker without a name.
Maker* find_maker(int kind, attrcache_callback* copy_fn, attrcache_callback* delete_fn,
                  const void* caller);

// All of them, in a list that grows at its head.
Maker* all_makers();

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_MAKER_H_
