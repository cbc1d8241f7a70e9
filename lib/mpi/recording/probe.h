// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The places where a report watches the interposer. The library that `attrcache-run --report` and
// `--trace` preload is built from the same sources with ATTRCACHE_REPORT defined, and gets these
// functions from report_probe.h. In the ordinary library they are the empty ones below, and cost
// nothing.

#ifndef ATTRCACHE_MPI_RECORDING_PROBE_H_
#define ATTRCACHE_MPI_RECORDING_PROBE_H_

#include "attrcache/attrcache.h"
#include "mpi/native/kinds.h"

#if defined(ATTRCACHE_REPORT)
#include "mpi/recording/report_probe.h"
#else

namespace attrcache::mpi {

struct Process;

namespace probe {

inline constexpr bool kWatches = false;

// looked(): a get on a near slot happened, with the id::offset of its keyval, and whether it found
// something. If it didn't because there is no such keyval, refuse() takes the count back and goes
// on to Slow.
template <typename Kind>
inline void looked(uint64_t, bool) {}
template <typename Kind, auto Slow>
[[gnu::always_inline]] inline int refuse(typename Kind::Handle handle, int keyval, void* value,
                                         int* flag) {
  return Slow(handle, keyval, value, flag);
}

// Any other get of an existing keyval happened.
inline void got(int, int, bool) {}

// Says whose keyval is being made: by the return address of the call, and by the program's
// callbacks if attrcache is given other functions than these.
struct Source {
  constexpr Source(const void*) {}
  constexpr Source(Source, attrcache_callback*, attrcache_callback*) {}
};

// Exists while a keyval is being made.
class Creation {
 public:
  Creation(int, const attrcache_callbacks& callbacks, Source) : callbacks_(callbacks) {}
  const attrcache_callbacks* callbacks() const { return &callbacks_; }
  void done(int) {}

 private:
  const attrcache_callbacks& callbacks_;
};

// Replaces a report's callbacks by those that the program gave.
inline void unwrap(attrcache_callbacks&) {}

// An operation, from the construction to the end of the scope.
enum class What { kSet, kDelete, kFreeKeyval, kDup, kFree };
struct Operation {
  Operation(What, int, int) {}
  ~Operation() {}
};

// What happens to objects: one got an anchor, is known under a handle, was duplicated, is about to
// be freed, has been freed.
inline void appeared(int, const void*) {}
inline void known_as(int, const void*, void*) {}
inline void duplicated(int, void*, const void*, attrcache_kind*, const attrcache_table*) {}
inline void ends(int, attrcache_kind*, const attrcache_table*) {}
inline void ended(const void*) {}

// The process is served from now on.
inline void begun(const Process&) {}

}  // namespace probe
}  // namespace attrcache::mpi

#endif
#endif  // ATTRCACHE_MPI_RECORDING_PROBE_H_
