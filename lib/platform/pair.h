// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A 16-byte atomic word of two halves: `value`, which belongs to the user, and `meta`, which says
// what the value is. wide_exchange.h knows how a processor reads or exchanges it in one step.
//
//   load                   reads both halves, as of one instant; it writes nothing
//   peek                   the same for get, to which only the keyval, visibility and tag in meta
//                          matter: the rest of meta may be of another instant
//   load_meta              reads the meta half alone
//   still                  reads the value half, and then says whether meta is the one given, which
//                          the caller has read before: if so, this value came with that meta,
//                          unless the meta has come back with another value
//   compare_exchange       exchanges both halves, if both are as expected. A visible value may only
//                          be replaced by another one
//   compare_exchange_meta  exchanges the meta half alone, if it is as expected
//   exchange_second        of two words that aren't a Pair, but lie like one: exchanges the second,
//                          if both are as expected
//   store_unshared         stores both halves, not atomically, so no other thread may use the Pair
//   clear_unshared         the same, but only makes meta 0
//
// Loads acquire. The exchanges acquire and release; one that fails acquires, and updates what was
// expected.
//
// compare_exchange_meta doesn't write the value half, so meanwhile C may read the value by its
// address. (What an unchanged meta says of the value is in table/slot.h.)

#ifndef ATTRCACHE_PLATFORM_PAIR_H_
#define ATTRCACHE_PLATFORM_PAIR_H_

// clang-format off
#include "platform/supported.h"
// clang-format on

#include "platform/slot_content.h"

namespace attrcache {

// Whether this processor has the instructions that the Pair of this build needs.
bool pair_supported();

}  // namespace attrcache

// The processor. ATTRCACHE_PAIR is what its Pair means for progress.
#if defined(__x86_64__)
#define ATTRCACHE_PROCESSOR "x86-64"
#elif defined(__aarch64__)
#define ATTRCACHE_PROCESSOR "AArch64"
#elif defined(__i386__)
#define ATTRCACHE_PROCESSOR "i386"
#elif defined(__arm__)
#define ATTRCACHE_PROCESSOR "ARM"
#elif defined(__powerpc64__)
#define ATTRCACHE_PROCESSOR "POWER"
#elif defined(__riscv)
#define ATTRCACHE_PROCESSOR "RISC-V"
#elif defined(__s390x__)
#define ATTRCACHE_PROCESSOR "s390x"
#else
#define ATTRCACHE_PROCESSOR "another processor"
#endif

// Which Pair: the best that the processor has, unless the build asks for another one.
//   -DATTRCACHE_PAIR_TWO_STEP   loads in two steps: for x86-64 without AVX; elsewhere it is the
//                               default where no 16-byte load is known (wide_exchange.h)
//   -DATTRCACHE_LSE2            loads in one step: for AArch64 with FEAT_LSE2
//   -DATTRCACHE_PAIR_TWO_WORDS  takes all in steps of 8 bytes; the default where 16 aren't possible
//   -DATTRCACHE_PAIR_HEADER     a test build's own: a header that defines attrcache::Pair, and
//                               ATTRCACHE_PAIR, which describes it
#ifdef ATTRCACHE_PAIR_HEADER
#include ATTRCACHE_PAIR_HEADER
#else
#include "platform/wide_exchange.h"
#ifdef ATTRCACHE_HAS_WIDE_EXCHANGE
#include "platform/pair_one_swap.h"
#ifdef ATTRCACHE_HAS_WIDE_LOAD
#define ATTRCACHE_PAIR "16 bytes are read in one step; get is wait-free, all else lock-free"
#else
#define ATTRCACHE_PAIR \
  "16 bytes are read in two steps and exchanged in one; get is lock-free, all else too"
#endif
#else
#include "platform/pair_two_words.h"
#define ATTRCACHE_PAIR                                                                       \
  "16 bytes are read and exchanged in steps of 8; get is lock-free, but waits for a thread " \
  "that is replacing a value with one of another tag; set, delete, dup and borrow "          \
  "wait for a thread that is storing a value in the same slot"
namespace attrcache {
using Pair = TwoWordPair;
}  // namespace attrcache
#endif
#endif

static_assert(sizeof(attrcache::Pair) == 16 && alignof(attrcache::Pair) == 16);

#endif  // ATTRCACHE_PLATFORM_PAIR_H_
