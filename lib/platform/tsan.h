// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Tells ThreadSanitizer what a step in assembly hands over from one thread to another, which it
// can't see. In builds without it, these do nothing.

#ifndef ATTRCACHE_PLATFORM_TSAN_H_
#define ATTRCACHE_PLATFORM_TSAN_H_

#include "platform/supported.h"

#ifdef ATTRCACHE_TSAN
// Its runtime's own (sanitizer/tsan_interface.h), by which an address stands for what is handed
// over: the same as for an atomic access of that address.
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace attrcache {

// Call this after a step that acquires.
[[gnu::always_inline]] inline void tsan_acquire([[maybe_unused]] const void* address) {
#ifdef ATTRCACHE_TSAN
  __tsan_acquire(const_cast<void*>(address));
#endif
}

// Call this before a step that releases: after it, another thread may already have acquired. If the
// step fails, too much is handed over, which may hide a race, and never makes one up.
[[gnu::always_inline]] inline void tsan_release([[maybe_unused]] const void* address) {
#ifdef ATTRCACHE_TSAN
  __tsan_release(const_cast<void*>(address));
#endif
}

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_TSAN_H_
