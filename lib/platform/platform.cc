// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <limits.h>
#include <pthread.h>

#include <bit>
#include <cstdint>

#include "platform/atomic.h"
#include "platform/pair.h"
#include "platform/thread.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace attrcache {

bool pair_supported() {
#if defined(ATTRCACHE_NEEDS_AVX)
  return __builtin_cpu_supports("avx") != 0;
#elif defined(ATTRCACHE_NEEDS_CMPXCHG16B)
  unsigned a, b, c = 0, d;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_CMPXCHG16B) != 0;
#elif defined(ATTRCACHE_NEEDS_LSE2)
  return (getauxval(AT_HWCAP) & HWCAP_USCAT) != 0;
#else
  return true;
#endif
}

thread_local constinit ThreadState tls_state ATTRCACHE_TLS_MODEL = {0, nullptr, nullptr};

namespace {

// Which ordinals are taken. These are the only variables of the library that all domains of a
// process share. That is right, because threads belong to the process, too, and the variables say
// nothing about any domain. All accesses are relaxed, because only the number matters: two threads
// with the same ordinal would use the same stripes, which costs time but breaks nothing.
constexpr unsigned kReused = 1024;
constinit Atomic<uint64_t> taken[kReused / 64] = {};
constinit Atomic<unsigned> last_beyond{kReused};

// Takes the lowest free ordinal, so that each of up to as many threads as there are stripes gets a
// stripe of its own. Lock-free.
unsigned take_ordinal() {
  for (unsigned word = 0; word < kReused / 64; ++word) {
    uint64_t now = taken[word].load(kRelaxed);
    while (~now != 0) {
      const auto bit = static_cast<unsigned>(std::countr_one(now));
      if (taken[word].compare_exchange_weak(now, now | uint64_t{1} << bit, kRelaxed, kRelaxed)) {
        return word * 64 + bit + 1;
      }
    }
  }
  const unsigned beyond = last_beyond.fetch_add(1, kRelaxed) + 1;
  return beyond > kReused ? beyond : kReused + 1;  // the counter has wrapped around
}

void leave(void* round);

// The pthread key that makes leave() be called when a thread ends. The first thread that asks makes
// it, because nothing of the library runs before main(). It is deleted when the library is unloaded
// or the process ends. If there is no key, because the process has too many, ordinals are not reused.
namespace at_thread_end {
constexpr uintptr_t kNoKey = 0;
constexpr uintptr_t kUnloaded = 1;
constexpr uintptr_t kFirstKey = 2;  // what is kept of a key is the key + kFirstKey
constinit Atomic<uintptr_t> kept{kNoKey};
static_assert(sizeof(pthread_key_t) <= sizeof(uintptr_t));

// `round` is passed to leave(); a thread's destructors are called in rounds, as long as one of them
// sets a key, but some systems do so no more than _POSIX_THREAD_DESTRUCTOR_ITERATIONS (4) times.
constexpr uintptr_t kFirstRound = 1;
void tell_of_this_thread(uintptr_t round) {
  uintptr_t key = kept.load(kAcquire);  // pairs with the exchange below: the key exists
  if (key == kNoKey) {
    pthread_key_t made;
    if (pthread_key_create(&made, leave) != 0) return;
    // Release: publishes the key. Acquire: or that of another thread is used.
    if (kept.compare_exchange_strong(key, made + kFirstKey, kAcqRel, kAcquire)) {
      key = made + kFirstKey;
    } else {
      pthread_key_delete(made);
    }
  }
  if (key >= kFirstKey)
    pthread_setspecific(static_cast<pthread_key_t>(key - kFirstKey),
                        reinterpret_cast<void*>(round));
}

// Other threads may go on while the process ends.
[[gnu::destructor]] void forget_threads() {
  const uintptr_t key = kept.exchange(kUnloaded, kAcquire);  // as above
  if (key >= kFirstKey) pthread_key_delete(static_cast<pthread_key_t>(key - kFirstKey));
}
}  // namespace at_thread_end

// Called when a thread ends; gives its ordinal back. A thread that still has something borrowed is
// told again, as its other destructors may give that back; but not in the last round, in which
// ThreadSanitizer's own destructor ends what instrumented code needs. If it never gives it back, it
// keeps the ordinal for ever, because a new thread with the same ordinal would be taken for the
// borrower.
void leave(void* now) {
  const auto round = reinterpret_cast<uintptr_t>(now);
  const unsigned ordinal = tls_state.ordinal;
  if (ordinal == 0 || ordinal > kReused) return;
  if (tls_state.innermost != nullptr || tls_state.borrows != nullptr) {
    if (round + 1 < _POSIX_THREAD_DESTRUCTOR_ITERATIONS)
      at_thread_end::tell_of_this_thread(round + 1);
    return;
  }
  tls_state.ordinal = 0;
  taken[(ordinal - 1) / 64].fetch_and(~(uint64_t{1} << (ordinal - 1) % 64), kRelaxed);
}

}  // namespace

unsigned assign_ordinal() {
  tls_state.ordinal = take_ordinal();
  at_thread_end::tell_of_this_thread(at_thread_end::kFirstRound);
  return tls_state.ordinal;
}

}  // namespace attrcache
