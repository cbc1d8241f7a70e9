// SPDX-License-Identifier: Apache-2.0
//
// The one door through which the library reaches atomics. A model build
// (-DATTRCACHE_MODEL) puts the interleaving explorer of tests/model behind it, under the very code
// that ships. Nothing else in lib/ names std::atomic; a test sees to that.
//
// Only loads, stores and read-modify-writes with an explicit order are used; there are no
// standalone fences, which ThreadSanitizer does not model.

#ifndef ATTRCACHE_PLATFORM_ATOMIC_H_
#define ATTRCACHE_PLATFORM_ATOMIC_H_

#include <atomic>

#ifdef ATTRCACHE_MODEL
#include "tests/model/explorer/atomic.h"
#endif

namespace attrcache {

#ifdef ATTRCACHE_MODEL
template <typename T>
using Atomic = model::Atomic<T>;
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
