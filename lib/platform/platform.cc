// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <pthread.h>

#include <bit>
#include <cstdint>

#include "platform/atomic.h"
#include "platform/pair.h"
#include "platform/thread.h"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace attrcache {

bool pair_supported() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx") != 0;
#elif defined(__aarch64__) && defined(ATTRCACHE_LSE2)
  return (getauxval(AT_HWCAP) & HWCAP_USCAT) != 0;
#else
  return true;
#endif
}

thread_local constinit ThreadState tls_state = {0, nullptr, nullptr};

namespace {

// Which ordinals are taken: the only variables of the library that a whole process shares. They
// number threads, which belong to the process too, and carry nothing of any domain. Relaxed, all of
// it: the number alone matters; threads that have the same one lose time, not safety.
constexpr unsigned kReused = 1024;
constinit Atomic<uint64_t> taken[kReused / 64] = {};
constinit Atomic<unsigned> last_beyond{kReused};

// The lowest, so that as many threads as there are stripes have one each. Lock-free.
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
  return beyond > kReused ? beyond : kReused + 1;  // after 2^32 of them
}

void leave(void* state);

// Has leave called when a thread ends, as long as the library is loaded. Without one (the process
// has too many, or isn't that far yet), ordinals aren't used again.
struct Key {
  // Release: the key is seen with it. Other threads may go on while the process ends.
  Key() { valid.store(pthread_key_create(&key, leave) == 0, kRelease); }
  ~Key() {
    if (valid.exchange(false, kRelaxed)) pthread_key_delete(key);
  }
  void tell_of_this_thread() {
    // Acquire: pairs with the release in Key().
    if (valid.load(kAcquire)) pthread_setspecific(key, &tls_state);
  }
  pthread_key_t key = 0;
  Atomic<bool> valid{false};
} at_thread_end;

// A thread ends. One that leaves something borrowed behind, also when it is told again, keeps its
// ordinal for ever: nobody else is to be taken for it and to give that back.
void leave(void*) {
  const unsigned ordinal = tls_state.ordinal;
  if (ordinal == 0 || ordinal > kReused) return;
  if (tls_state.innermost != nullptr || tls_state.borrows != nullptr) {
    at_thread_end.tell_of_this_thread();
    return;
  }
  tls_state.ordinal = 0;
  taken[(ordinal - 1) / 64].fetch_and(~(uint64_t{1} << (ordinal - 1) % 64), kRelaxed);
}

}  // namespace

unsigned assign_ordinal() {
  tls_state.ordinal = take_ordinal();
  at_thread_end.tell_of_this_thread();
  return tls_state.ordinal;
}

}  // namespace attrcache
