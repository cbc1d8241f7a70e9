// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <pthread.h>
#include <sched.h>
#include <time.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <cstdint>

#include "platform/atomic.h"
#include "platform/pair.h"
#include "platform/thread.h"
#include "platform/wait.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace attrcache {

bool pair_supported() {
#if defined(__x86_64__) && defined(ATTRCACHE_HAS_WIDE_LOAD)
  return __builtin_cpu_supports("avx") != 0;
#elif defined(__x86_64__) && defined(ATTRCACHE_HAS_WIDE_EXCHANGE)
  unsigned a, b, c = 0, d;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_CMPXCHG16B) != 0;
#elif defined(__aarch64__) && defined(ATTRCACHE_HAS_WIDE_LOAD) && defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_USCAT) != 0;
#else
  return true;
#endif
}

void Backoff::relax() {
  constexpr unsigned kSpins = 64;
  constexpr unsigned kYields = 192;
  ++round_;
  if (round_ <= kSpins) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  } else if (round_ <= kYields) {
    sched_yield();
  } else {
    const unsigned excess = round_ - kYields;
    const timespec time = {0, excess < 100 ? 10'000L * static_cast<long>(excess) : 1'000'000L};
    nanosleep(&time, nullptr);
  }
}

__thread ThreadState tls_state ATTRCACHE_TLS_MODEL = {0, 0, 0, nullptr};

namespace {

// Which ordinals are taken. This and the variables below are the only ones of the library that all
// domains of a process share. That is right, because threads belong to the process, too, and these
// say nothing about any domain.
constexpr unsigned kOrdinals = 65536;
Atomic<uint64_t> taken[kOrdinals / 64] = {1};  // ordinal 0 is nobody's

Atomic<uint64_t> last_identity{1};  // relaxed: only the number matters

// Takes the lowest free ordinal, so that no two threads share a stripe as long as there are enough;
// or, if none is free, that of all threads beyond. Lock-free.
unsigned take_ordinal() {
  for (unsigned word = 0; word < kOrdinals / 64; ++word) {
    uint64_t now = taken[word].load(kRelaxed);
    while (~now != 0) {
      const auto bit = static_cast<unsigned>(__builtin_ctzll(~now));
      // Acquire: pairs with the release in give_back(). All that the ordinal's previous thread did
      // with its records comes before.
      if (taken[word].compare_exchange_weak(now, now | uint64_t{1} << bit, kAcquire, kRelaxed)) {
        return word * 64 + bit;
      }
    }
  }
  return kOrdinals;
}

void give_back(unsigned ordinal) {
  // Release: pairs with take_ordinal() and is_taken().
  taken[ordinal / 64].fetch_and(~(uint64_t{1} << ordinal % 64), kRelease);
}

// Threads that called the library again after their ordinal was given back, from destructors of
// other pthread keys: the last of these may come when leave() isn't called any more. Each has an
// entry with its ordinal and, above that, the system's number of the thread, until it leaves or the
// next one finds that it is gone. (The kernel says so only after all that the thread has done.)
constexpr unsigned kLate = 64;
Atomic<uint64_t> late[kLate] = {};

#ifdef __linux__
bool is_gone(uint64_t entry) {
  return syscall(SYS_tgkill, getpid(), static_cast<pid_t>(entry >> 32), 0) != 0 && errno == ESRCH;
}
void note_late(unsigned ordinal) {
  const uint64_t mine = static_cast<uint64_t>(syscall(SYS_gettid)) << 32 | ordinal;
  const int error = errno;
  for (Atomic<uint64_t>& entry : late) {
    uint64_t now = entry.load(kRelaxed);
    if (now != 0 && !is_gone(now)) continue;
    // Relaxed: only the numbers matter.
    if (!entry.compare_exchange_strong(now, mine, kRelaxed, kRelaxed)) continue;
    if (now != 0) give_back(static_cast<unsigned>(now));
    break;
  }
  errno = error;
}
#else
void note_late(unsigned) {}
#endif

// Called when a thread ends; gives its ordinal back. What it has left borrowed stays so: the next
// thread with that ordinal has another identity. A thread that ends within a callback keeps its
// ordinal for ever, because operations up its stack may be using stripes.
void leave(void*) {
  const unsigned ordinal = tls_state.ordinal;
  if (ordinal == 0 || ordinal >= kOrdinals || tls_state.innermost != nullptr) return;
  if (tls_state.late) {
    for (Atomic<uint64_t>& entry : late) {
      if (static_cast<unsigned>(entry.load(kRelaxed)) == ordinal) entry.store(0, kRelaxed);
    }
  }
  tls_state = {};
  tls_state.late = true;
  give_back(ordinal);
}

// The pthread key by which leave() is called when a thread ends. The first thread that asks makes
// it, because nothing of the library runs before main(). It is deleted when the library is unloaded
// or the process ends. If there is no key, because the process has too many, ordinals are not
// reused.
constexpr uintptr_t kNoKey = 0;
constexpr uintptr_t kUnloaded = 1;
constexpr uintptr_t kFirstKey = 2;  // what is kept of a key is the key + kFirstKey
Atomic<uintptr_t> kept{kNoKey};
static_assert(sizeof(pthread_key_t) <= sizeof(uintptr_t));

void tell_of_this_thread() {
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
    pthread_setspecific(static_cast<pthread_key_t>(key - kFirstKey), &tls_state);
}

// Other threads may go on while the process ends.
[[gnu::destructor]] void forget_threads() {
  const uintptr_t key = kept.exchange(kUnloaded, kAcquire);  // as above
  if (key >= kFirstKey) pthread_key_delete(static_cast<pthread_key_t>(key - kFirstKey));
}
}  // namespace

unsigned assign_ordinal() {
  const unsigned ordinal = take_ordinal();
  tls_state.identity = last_identity.fetch_add(2, kRelaxed) + 2;
  tls_state.near_record = ordinal < kNearOrdinals ? ordinal * kRecordSize : 0;
  tls_state.ordinal = ordinal;
  if (tls_state.late && ordinal < kOrdinals) note_late(ordinal);
  tell_of_this_thread();
  return ordinal;
}

bool is_taken(unsigned ordinal) {
  // Acquire: pairs with the release in give_back().
  return (taken[ordinal / 64].load(kAcquire) >> ordinal % 64 & 1) != 0;
}

}  // namespace attrcache
