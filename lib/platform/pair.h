// SPDX-License-Identifier: Apache-2.0
//
// A 16-byte atomic word of two halves: `value`, which belongs to the user, and `meta`, which says
// what the value is. Nothing else in the library knows how 16 bytes are read or swapped at once.
//
//   load       both halves, as of one instant (wait-free, no write)
//   load_meta  the meta half alone
//   swap       both halves, if both are as expected
//   swap_meta  the meta half alone, if it is as expected; value is not written at all
//   add_meta   adds to the meta half
//
// Every meta that a slot ever holds is unique (it carries a sequence number), so a meta that is
// unchanged proves that its value is too: this is why swap_meta and add_meta need not look at
// value, and why a C reader may dereference the address of `value` while other threads pin or claim
// it.
//
// x86-64: an aligned 16-byte SSE load is single-copy atomic on every processor with AVX (Intel SDM
// vol. 3A 9.1.1; AMD APM vol. 2 7.3.2). pair_supported() tells whether this is one.
// AArch64: LDP is single-copy atomic for aligned 16 bytes where FEAT_LSE2 is present (Arm ARM
// B2.2.1). ThreadSanitizer cannot see into inline assembly, so its builds use the compiler's
// builtins.

#ifndef ATTRCACHE_PLATFORM_PAIR_H_
#define ATTRCACHE_PLATFORM_PAIR_H_

#include <cstdint>

#include "platform/atomic.h"

#if defined(__SANITIZE_THREAD__)
#define ATTRCACHE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ATTRCACHE_TSAN 1
#endif
#endif

#if !defined(ATTRCACHE_MODEL) && !defined(ATTRCACHE_TSAN)
#if defined(__x86_64__)
#define ATTRCACHE_PAIR_X86 1
#include <emmintrin.h>
#elif defined(__aarch64__)
#define ATTRCACHE_PAIR_ARM 1
#else
#error \
    "attrcache: no 16-byte atomic access is known for this processor (supported: x86-64, AArch64)"
#endif
#endif

namespace attrcache {

// What a slot holds at one instant.
struct Word {
  uint64_t value;
  uint64_t meta;
};

}  // namespace attrcache

#ifdef ATTRCACHE_MODEL
#include "tests/model/explorer/pair.h"
namespace attrcache {
using Pair = model::Pair;
inline bool pair_supported() { return true; }
}  // namespace attrcache
#else

namespace attrcache {

// Whether this processor reads 16 aligned bytes at once.
bool pair_supported();

class alignas(16) Pair {
 public:
  Word load() const {  // acquire
#if defined(ATTRCACHE_PAIR_X86)
    __m128i both;
    asm volatile("movdqa %1, %0" : "=x"(both) : "m"(*this) : "memory");
    return {static_cast<uint64_t>(_mm_cvtsi128_si64(both)),
            static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(both, both)))};
#elif defined(ATTRCACHE_PAIR_ARM)
    Word w;
    asm volatile("ldp %0, %1, %2\n\tdmb ishld"
                 : "=r"(w.value), "=r"(w.meta)
                 : "Q"(*this)
                 : "memory");
    return w;
#else
    return from_int(__atomic_load_n(reinterpret_cast<const Int*>(this), __ATOMIC_ACQUIRE));
#endif
  }

  // What get needs of load(): `visit(upper half of meta, value)`, where value() is fetched only if
  // called. The same one load; it saves get the moves of what it doesn't look at.
  template <typename Visit>
  [[gnu::always_inline]] auto glimpse(Visit visit) const {
#if defined(ATTRCACHE_PAIR_X86)
    __m128i both;
    uint32_t upper;
    asm volatile("movdqa %1, %0" : "=x"(both) : "m"(*this) : "memory");
    asm("pextrd $3, %1, %0" : "=r"(upper) : "x"(both));  // SSE4.1, which AVX implies
    return visit(upper, [both] { return static_cast<uint64_t>(_mm_cvtsi128_si64(both)); });
#else
    const Word word = load();
    return visit(static_cast<uint32_t>(word.meta >> 32), [word] { return word.value; });
#endif
  }

  uint64_t load_meta() const { return __atomic_load_n(&meta_, __ATOMIC_ACQUIRE); }

  // acquire and release on success, acquire on failure, which updates `expected`.
  bool swap(Word& expected, Word desired) {
#if defined(ATTRCACHE_PAIR_X86)
    bool done;
    asm volatile("lock cmpxchg16b %1"
                 : "=@ccz"(done), "+m"(*this), "+a"(expected.value), "+d"(expected.meta)
                 : "b"(desired.value), "c"(desired.meta)
                 : "memory");
    return done;
#else
    Int old = to_int(expected);
    const bool done =
        __atomic_compare_exchange_n(reinterpret_cast<Int*>(this), &old, to_int(desired), false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    expected = from_int(old);
    return done;
#endif
  }

  // acquire and release on success, acquire on failure, which updates `expected`.
  bool swap_meta(uint64_t& expected, uint64_t desired) {
    return __atomic_compare_exchange_n(&meta_, &expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
  }

  // acquire and release; returns what was there.
  uint64_t add_meta(uint64_t delta) { return __atomic_fetch_add(&meta_, delta, __ATOMIC_ACQ_REL); }

  // Where the value lives: what a C reader of an integer attribute is handed.
  const uint64_t* value_address() const { return &value_; }

 private:
#if !defined(ATTRCACHE_PAIR_X86)
  using Int = unsigned __int128;
  static Int to_int(Word w) { return static_cast<Int>(w.meta) << 64 | w.value; }
  static Word from_int(Int i) { return {static_cast<uint64_t>(i), static_cast<uint64_t>(i >> 64)}; }
#endif
  uint64_t value_ = 0;
  uint64_t meta_ = 0;
};
static_assert(sizeof(Pair) == 16 && alignof(Pair) == 16);

}  // namespace attrcache

#endif  // ATTRCACHE_MODEL

#endif  // ATTRCACHE_PLATFORM_PAIR_H_
