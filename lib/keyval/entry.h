// SPDX-License-Identifier: Apache-2.0
//
// What a domain keeps of one keyval: an Entry, found by index, never unmapped while the domain
// lives, so that any int may be looked up at any time. The Record in it is the keyval's as long as
// that exists, and the next one's after a grace period.

#ifndef ATTRCACHE_KEYVAL_ENTRY_H_
#define ATTRCACHE_KEYVAL_ENTRY_H_

#include <cstdint>

#include "callback/executor.h"
#include "epoch/epoch.h"
#include "keyval/id.h"
#include "platform/atomic.h"

namespace attrcache {

class Registry;

// Owned by the keyval's references: who holds one may use `hooks`. Others look under an epoch pin.
struct Record : Retired {
  Registry* registry;  // this and index: the same for all keyvals of an index
  uint32_t index;
  Hooks hooks;
};

// The word of an entry: in its low half the keyval, as long as it exists, else no_keyval(), or 0
// before it first did.
namespace entry_word {
inline constexpr uint64_t kKeyval = 0xffffffff;
inline constexpr unsigned kGenerationShift = 32;  // 8 bits: the last generation handed out
inline constexpr uint64_t kGeneration = uint64_t{0xff} << kGenerationShift;
inline constexpr uint64_t kUsed = uint64_t{1} << 40;        // some generation was handed out
inline constexpr uint64_t kWrapped = uint64_t{1} << 41;     // all 256 were
inline constexpr uint64_t kFreed = uint64_t{1} << 42;       // by attrcache_keyval_free
inline constexpr uint64_t kOrdinary = uint64_t{1} << 43;    // exists, and isn't predefined
inline constexpr uint64_t kQuick = uint64_t{1} << 44;       // ordinary, and has no delete_fn
inline constexpr uint64_t kCopiesNot = uint64_t{1} << 45;   // NULL_COPY_FN, or predefined
inline constexpr uint64_t kDuplicates = uint64_t{1} << 46;  // DUP_FN
inline constexpr unsigned kTagShift = 47;                   // 2 bits: how a predefined one is set

// The low half when the keyval is gone: no keyval, and no int at all that leads to this entry, not
// even 0.
constexpr uint64_t no_keyval(uint32_t index) { return uint64_t{index ^ 1} << id::kIndexShift; }
}  // namespace entry_word

// Zero bytes are an index that was never used. Aligned so that its size is a multiple of a slot's,
// of which the look-up knows the offset.
struct alignas(1 << id::kIndexShift) Entry {
  Atomic<uint64_t> word;
  Atomic<uint64_t> exact;  // of References
  Atomic<uint64_t> link;   // of IndexQueue
  Record record;
};

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_ENTRY_H_
