// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The only file of the library that names std::atomic; a test sees to that. So test builds can put
// something else under the code that ships, such as an explorer of interleavings or random delays
// between the steps: -DATTRCACHE_ATOMIC_HEADER names a header that defines attrcache::Atomic.
//
// The library uses only loads, stores and read-modify-writes with an explicit order. It uses no
// standalone fences, because ThreadSanitizer doesn't model them.

#ifndef ATTRCACHE_PLATFORM_ATOMIC_H_
#define ATTRCACHE_PLATFORM_ATOMIC_H_

#include <atomic>

#ifdef ATTRCACHE_ATOMIC_HEADER
#include ATTRCACHE_ATOMIC_HEADER
#endif

namespace attrcache {

#ifndef ATTRCACHE_ATOMIC_HEADER
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
