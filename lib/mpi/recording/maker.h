// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What made keyvals, and what was done with them. There is one Maker for each different pair of
// callbacks, or, for keyvals without callbacks or of Python code, for each place that creates some.
// All keyvals of one maker are counted together.

#ifndef ATTRCACHE_MPI_RECORDING_MAKER_H_
#define ATTRCACHE_MPI_RECORDING_MAKER_H_

#include <cstddef>
#include <cstdint>

#include "attrcache/attrcache.h"
#include "mpi/native/origin.h"
#include "platform/atomic.h"

namespace attrcache::mpi::report {

// Gets, in several parts, so that threads that read much don't wait for each other's cache lines.
struct Reads {
  Atomic<uint64_t> found{0};
  Atomic<uint64_t> absent{0};
  char apart[48];
};
inline constexpr unsigned kReadParts = 16;

// Sums over all threads. The accesses are relaxed because each number stands for itself.
struct Counts {
  Atomic<uint64_t> created{0};
  Atomic<uint64_t> freed{0};            // by MPI_*_free_keyval
  Atomic<uint64_t> sets{0};             // calls
  Reads reads[kReadParts];              // gets that found something, and that didn't
  Atomic<uint64_t> deletes{0};          // calls
  Atomic<uint64_t> copies{0};           // attributes that a dup gave to the new object
  Atomic<uint64_t> ends{0};             // attributes that were there when their object was freed
  Atomic<uint64_t> copy_calls{0};       // of copy_fn
  Atomic<uint64_t> delete_calls{0};     // of delete_fn
  Atomic<uint64_t> failed{0};           // calls of either that returned an error or threw
  Atomic<int64_t> last_failure{0};      // its code
  Atomic<uint64_t> nanoseconds{0};      // in callbacks
  Atomic<uint64_t> own_nanoseconds{0};  // without the callbacks that they caused in turn
  Atomic<uint64_t> left_by_set{0};      // deletions that a set left to another thread's dup
  Atomic<uint64_t> left_by_delete{0};   // likewise a delete
};

// It outlives the process (handover/kept.h), so its first members are laid out as
// tools/report/left.py knows them.
struct Maker {
  Counts counts;
  Located located;   // made_at
  char library[64];  // the file's name, of delete_fn's if there is one
  // The names of the functions, or where in the library they are ("+0x1f20"), and that of the
  // caller.
  char copy_name[256];
  char delete_name[256];
  char caller_name[256];
  int kind;

  attrcache_callback* copy_fn;    // null: none, or DUP_FN
  attrcache_callback* delete_fn;  // null: none
  Place named_by;                 // one of these, or the caller
  Place made_at;                  // where the program made the first of its keyvals
  Maker* next;                    // of all

  bool by_caller() const { return named_by.is_call; }
  // What to call the maker. Empty if nothing is known. The delete_fn comes first, because most
  // makers have one, and its name says more.
  const char* name() const {
    if (by_caller()) return caller_name;
    return delete_fn != nullptr ? delete_name : copy_name;
  }
};

static_assert(sizeof(Counts) == 142 * 8 && sizeof(Located) == 904 && offsetof(Maker, kind) == 2872);

// What makes a keyval: the program's callbacks, and where the call of MPI_*_create_keyval returns
// to.
struct Source {
  const void* caller;
  attrcache_callback* copy_fn;
  attrcache_callback* delete_fn;
};

// Returns the maker of the keyvals of a source; null when out of memory. Takes a lock. This is slow
// for a maker that wasn't seen before, because its name is looked up now, while its library is
// loaded. Beyond 4096, all are one maker without a name.
Maker* find_maker(int kind, const Source& source);

// All makers, in a list that grows at its head.
Maker* all_makers();

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_RECORDING_MAKER_H_
