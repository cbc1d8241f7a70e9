// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The only file of the library that names std::atomic; a test sees to that. So test builds can put
// something else under the code that ships: a model build (-DATTRCACHE_MODEL) the explorer of
// interleavings in tests/model, a soak (-DATTRCACHE_DELAYS) random delays between the steps. Those
// two headers come from the test builds; no other build needs them.
//
// The library uses only loads, stores and read-modify-writes with an explicit order. It uses no
// standalone fences, because ThreadSanitizer doesn't model them.

#ifndef ATTRCACHE_PLATFORM_ATOMIC_H_
#define ATTRCACHE_PLATFORM_ATOMIC_H_

#include <atomic>

#if defined(ATTRCACHE_MODEL)
#include "tests/model/explorer/atomic.h"
#elif defined(ATTRCACHE_DELAYS)
#include "tests/soak/delayed_atomic.h"
#endif

namespace attrcache {

#if defined(ATTRCACHE_MODEL)
template <typename T>
using Atomic = model::Atomic<T>;
#elif defined(ATTRCACHE_DELAYS)
template <typename T>
using Atomic = soak::DelayedAtomic<T>;
#else
template <typename T>
using Atomic = std::atomic<T>;
#endif

inline constexpr auto kRelaxed = std::memory_order_relaxed;
inline constexpr auto kAcquire = std::memory_order_acquire;
inline constexpr auto kRelease = std::memory_order_release;
inline constexpr auto kAcqRel = std::memory_order_acq_rel;
inline constexpr auto kSeqCst = std::memory_order_seq_cst;

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_ATOMIC_H_
