// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What recording/probe.h is in the builds with a report.

#ifndef ATTRCACHE_MPI_RECORDING_REPORT_PROBE_H_
#define ATTRCACHE_MPI_RECORDING_REPORT_PROBE_H_

#include "mpi/recording/keyvals.h"
#include "mpi/recording/living.h"
#include "mpi/recording/tally.h"
#include "mpi/recording/trace.h"

namespace attrcache::mpi {
struct Process;
}

namespace attrcache::mpi::probe {

inline constexpr bool kWatches = true;

template <typename Kind>
[[gnu::always_inline]] inline void looked(uint64_t offset, bool found) {
  if (found) [[likely]] {
    report::count_get<Kind::kNumber, offsetof(report::Gets, found)>(offset);
  } else {
    report::count_get<Kind::kNumber, offsetof(report::Gets, absent)>(offset);
  }
}
// Out of line, so that a get saves no registers on its way.
template <typename Kind, auto Slow>
[[gnu::noinline]] int refuse(typename Kind::Handle handle, int keyval, void* value, int* flag) {
  report::uncount_absent(Kind::kNumber, keyval);
  return Slow(handle, keyval, value, flag);
}

using report::got;

struct Source {
  const void* return_address;
  attrcache_callback* copy_fn = nullptr;
  attrcache_callback* delete_fn = nullptr;
  Source(const void* address) : return_address(address) {}
  Source(Source other, attrcache_callback* copy, attrcache_callback* del)
      : return_address(other.return_address), copy_fn(copy), delete_fn(del) {}
};

class Creation {
 public:
  Creation(int kind, const attrcache_callbacks& callbacks, Source source)
      : wrapped_(report::wrap(kind, callbacks, find(kind, callbacks, source), &callbacks_)) {}
  ~Creation() {
    if (wrapped_ != nullptr) report::discard(wrapped_);
  }
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;
  const attrcache_callbacks* callbacks() const { return &callbacks_; }
  void done(int keyval) {
    report::begin_keyval(wrapped_, keyval);
    wrapped_ = nullptr;
  }

 private:
  static report::Maker* find(int kind, const attrcache_callbacks& callbacks, Source source) {
    return source.copy_fn != nullptr || source.delete_fn != nullptr
               ? report::find_maker(kind, source.copy_fn, source.delete_fn, source.return_address)
               : report::find_maker(kind, callbacks.copy_fn, callbacks.delete_fn,
                                    source.return_address);
  }

  attrcache_callbacks callbacks_;
  report::Wrapped* wrapped_;
};

using report::unwrap;

using report::Operation;
using report::What;

using report::appeared;
using report::duplicated;
using report::ended;
using report::ends;
using report::known_as;

// Defined in report/life.cc, where the report begins.
void begun(const Process& state);

}  // namespace attrcache::mpi::probe

#endif  // ATTRCACHE_MPI_RECORDING_REPORT_PROBE_H_
