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

void leave(void* state);

// Makes leave() be called when a thread ends, as long as the library is loaded. If there is no key
// (because the process has too many, or hasn't run this constructor yet), ordinals are not reused.
struct Key {
  // Release: whoever sees `valid` sees the key. It is atomic because other threads may go on while
  // the process ends.
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

// Called when a thread ends; gives its ordinal back. A thread that still has something borrowed is
// told again, as its other destructors may give that back. If it never does, it keeps the ordinal
// for ever, because a new thread with the same ordinal would be taken for the borrower.
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
