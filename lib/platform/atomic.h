// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The one door through which the library reaches atomics. A model build
// (-DATTRCACHE_MODEL) puts the interleaving explorer of tests/model behind it, a soak
// (-DATTRCACHE_DELAYS) random delays between the steps, under the very code that ships. Nothing
// else in lib/ names std::atomic; a test sees to that.
//
// Only loads, stores and read-modify-writes with an explicit order are used; there are no
// standalone fences, which ThreadSanitizer does not model.

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
