// SPDX-License-Identifier: Apache-2.0
//
// Where the interposer can be watched. The library that `attrcache-run --report` and `--trace`
// preload is the same one, built with ATTRCACHE_REPORT; in the ordinary one everything here is
// empty, and costs nothing.

#ifndef ATTRCACHE_MPI_WATCHING_PROBE_H_
#define ATTRCACHE_MPI_WATCHING_PROBE_H_

#include "attrcache/attrcache.h"
#include "mpi/native/kinds.h"

#if defined(ATTRCACHE_REPORT)
#include "mpi/report/probe.h"
#else

namespace attrcache::mpi {

struct Served;

namespace probe {

inline constexpr bool kWatches = false;

// A get on a near slot, by id::offset of its keyval. `found` or not; and if not because there is no
// such keyval, refuse(), which takes that back and goes on to Slow.
template <typename Kind>
inline void looked(uint64_t, bool) {}
template <typename Kind, auto Slow>
[[gnu::always_inline]] inline int refuse(typename Kind::Handle handle, int keyval, void* value,
                                         int* flag) {
  return Slow(handle, keyval, value, flag);
}

// Any other get of an existing keyval.
inline void got(int, int, bool) {}

// Whose keyval it is: by the return address of the call, and by the program's callbacks, where
// attrcache is given other functions than these.
struct Source {
  constexpr Source(const void*) {}
  constexpr Source(Source, attrcache_callback*, attrcache_callback*) {}
};

// A keyval is being made.
class Creation {
 public:
  Creation(int, const attrcache_callbacks& callbacks, Source) : callbacks_(callbacks) {}
  const attrcache_callbacks* callbacks() const { return &callbacks_; }
  void done(int) {}

 private:
  const attrcache_callbacks& callbacks_;
};

// The callbacks that the program gave, from those that attrcache has.
inline void unwrap(attrcache_callbacks&) {}

// An operation, from here to the end of the scope.
enum class What { kSet, kDelete, kFreeKeyval, kDup, kFree };
struct Operation {
  Operation(What, int, int) {}
  ~Operation() {}
};

// Objects: one got an anchor; is known under a handle; was duplicated; ends; has ended.
inline void appeared(int, const void*) {}
inline void known_as(int, const void*, void*) {}
inline void duplicated(int, void*, const void*, attrcache_kind*, const attrcache_table*) {}
inline void ends(int, attrcache_kind*, const attrcache_table*) {}
inline void ended(const void*) {}

// The process is served from now on.
inline void begun(const Served&) {}

}  // namespace probe
}  // namespace attrcache::mpi

#endif
#endif  // ATTRCACHE_MPI_WATCHING_PROBE_H_
