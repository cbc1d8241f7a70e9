// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The meta half of a slot, which says what the slot's value is. It is 0 if the slot is empty.
// Otherwise its bits are:
//
//   63        tag, high bit
//   62        visible to get
//   61        tag, low bit
//   60 .. 53  keyval generation
//   52 .. 45  how often the value was taken back after it had been replaced (kBack)
//   44        0
//   43        the keyval has a delete_fn, and only full readers hold the value (kFull; hold.h)
//   42        the keyval has a delete_fn, and no thread has held the value, nor failed to
//             delete it (kUnheld)
//   41        the keyval has no delete_fn (kNoDeleteFn)
//   40        deleting: a thread has claimed the value, to delete it
//   39        0; Pair uses it while it changes a slot (pair_bits::kChanging)
//   38 .. 36  sequence number, high part
//   35 .. 32  keyval kind
//   31 .. 0   sequence number, low part
//
// The upper half has the keyval's bits where the keyval has them, except for the index. A slot's
// position implies the index, so those bits have other uses. `visible` is the keyval's marker bit,
// and the tag is where a keyval has zeroes. So get learns by one masked compare with the keyval
// that the slot is occupied, visible, of this kind and generation, and set as a C pointer. The
// states of a slot are drawn in table/slot.h.
//
// Every attachment has a sequence number of its own, from its table's counter. The numbers order
// copy_all and delete_all, and keep compare-and-swap from ABA. There is one exception: a value that
// replaces the youngest one of its table, under a keyval without delete_fn, inherits its number
// (see successor() in slot.h). And a value that is taken back keeps its number, with another kBack:
// the two together are what names an attachment. Numbers wrap around after 2^35 attachments to one
// table. An attribute that is older than that may come at the wrong place in the order. Nothing
// else can go wrong unless a thread sleeps between a load and its compare-and-swap, or holds a
// value, while exactly a multiple of 2^35 values are attached to the table.

#ifndef ATTRCACHE_TABLE_META_H_
#define ATTRCACHE_TABLE_META_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "keyval/references.h"
#include "platform/slot_content.h"

namespace attrcache::meta {

// In the upper half:
inline constexpr uint32_t kSameAttribute = 0x5fe0000f;  // visible, generation, kind
inline constexpr uint32_t kSameAsPointer = 0xffe0000f;  // and tag
inline constexpr uint32_t kVisibleHalf = 0x40000000;
inline constexpr uint32_t kDeletingHalf = 1u << 8;
inline constexpr uint32_t kNoDeleteFnHalf = stripe::kNoDeleteFn;
inline constexpr uint32_t kUnheldHalf = stripe::kUnheld;
inline constexpr uint32_t kFullHalf = stripe::kFull;

inline constexpr uint64_t kVisible = uint64_t{1} << 62;
inline constexpr uint64_t kDeleting = uint64_t{kDeletingHalf} << 32;
inline constexpr uint64_t kUnheld = uint64_t{kUnheldHalf} << 32;
inline constexpr uint64_t kFull = uint64_t{kFullHalf} << 32;
inline constexpr uint64_t kBack = uint64_t{255} << 45;
inline constexpr uint64_t kNoDeleteFn = uint64_t{kNoDeleteFnHalf} << 32;
inline constexpr uint64_t kSequence = uint64_t{0x70} << 32 | 0xffffffff;

static_assert(kVisible == pair_bits::kVisible && (kSequence & pair_bits::kChanging) == 0);
static_assert(kVisible >> 32 == id::kMarker && kUnheld == uint64_t{1} << 42);
static_assert(kNoDeleteFn == uint64_t{1} << 41 && kDeleting == uint64_t{1} << 40);

inline constexpr uint64_t kTagBits[] = {0, uint64_t{1} << 61, uint64_t{1} << 63, uint64_t{5} << 61};
static_assert(kTagBits[ATTRCACHE_AS_POINTER] == 0 && kTagBits[3] == pair_bits::kTag);

// The bits of a sequence number at their places in a meta. Two such numbers can be compared and
// subtracted as they are, if the result of a subtraction is masked by kSequence.
constexpr uint64_t spread(uint64_t sequence) {
  return (sequence >> 32 & 0x7) << 36 | (sequence & 0xffffffff);
}
constexpr uint32_t upper(uint64_t m) { return static_cast<uint32_t>(m >> 32); }

// The meta of a value that is attached. `like` says under which keyval: it is the name in one of
// the keyval's stripes, or like() another meta of the same keyval. The halves are computed
// separately, because constants of 32 bits are cheaper.
constexpr stripe::Name like(uint64_t m) { return stripe::Name{upper(m)}; }
constexpr uint64_t attached(stripe::Name like, attrcache_tag tag, uint64_t number) {
  uint32_t upper =
      stripe::bits(like) & (kSameAttribute | kNoDeleteFnHalf | kUnheldHalf | kFullHalf);
  upper |= static_cast<uint32_t>(number >> 28) & kSequence >> 32;
  if (tag != ATTRCACHE_AS_POINTER) [[unlikely]]
    upper |= static_cast<uint32_t>(kTagBits[tag] >> 32);
  return uint64_t{upper} << 32 | static_cast<uint32_t>(number);
}
constexpr bool empty(uint64_t m) { return m == 0; }
constexpr bool visible(uint64_t m) { return (m & kVisible) != 0; }
constexpr bool deleting(uint64_t m) { return (m & kDeleting) != 0; }
// Whether the value may be replaced or detached without calling a delete_fn.
constexpr bool no_delete_fn(uint64_t m) { return (m & kNoDeleteFn) != 0; }
// Whether a thread may hold or have held the value: only then must a deletion look for holders.
constexpr bool was_held(uint64_t m) { return (m & (kUnheld | kNoDeleteFn)) == 0; }
// Whether its holders may be light readers. If not, each of them has executed full fences.
constexpr bool light(uint64_t m) { return (m & kFull) == 0; }
constexpr attrcache_tag tag(uint64_t m) {
  if ((m & kTagBits[3]) == 0) [[likely]]
    return ATTRCACHE_AS_POINTER;
  return static_cast<attrcache_tag>((m >> 63) << 1 | (m >> 61 & 1));
}
// The sequence number, modulo 2^35, at its place in the meta.
constexpr uint64_t sequence(uint64_t m) { return m & kSequence; }

// Whether the sequence number is `number`, modulo 2^35.
constexpr bool has_number(uint64_t m, uint64_t number) {
  const auto differs = static_cast<uint32_t>(m >> 32) ^ static_cast<uint32_t>(number >> 28);
  return static_cast<uint32_t>(m) == static_cast<uint32_t>(number) &&
         (differs & kSequence >> 32) == 0;
}
constexpr bool has_tag(uint64_t m, attrcache_tag tag) {
  return (((m ^ kTagBits[tag]) & kTagBits[ATTRCACHE_AS_AINT]) >> 32) == 0;
}

// Whether the value in an occupied slot was set under `keyval`, visible or not.
constexpr bool belongs(uint64_t m, id::Keyval keyval) {
  return ((static_cast<uint32_t>(m >> 32) ^ id::bits(keyval)) & kSameAttribute & ~kVisibleHalf) ==
         0;
}
// Whether a slot holds a visible value under `keyval` that no thread is deleting: one that a thread
// may begin to hold.
constexpr bool holdable(uint64_t m, id::Keyval keyval) {
  const uint32_t differs = upper(m) ^ (id::bits(keyval) & kSameAttribute);
  return (differs & (kSameAttribute | kDeletingHalf)) == 0;
}
// Whether a slot holds a visible value under `keyval` that may be replaced or detached in one step:
// one that has no delete_fn.
constexpr bool replaceable_at_once(uint64_t m, id::Keyval keyval) {
  constexpr uint32_t kRelevant = kSameAttribute | kNoDeleteFnHalf;
  const uint32_t wanted = (id::bits(keyval) & kSameAttribute) | kNoDeleteFnHalf;
  return ((static_cast<uint32_t>(m >> 32) ^ wanted) & kRelevant) == 0;
}

// Whether it holds a value that may be borrowed by an announcement alone: visible under `keyval`,
// set as a C pointer, not claimed, and light. `keyval` must have a keyval's marker bit, or an empty
// slot would match. An index in `keyval` must be below kReadableIndices, so that none of its bits
// is where a meta has a flag: clear larger ones (id::without_index). A caller that knows the index
// to be small need not clear it.
inline constexpr uint32_t kReadableIndices = kDeletingHalf >> id::kIndexShift;
constexpr bool readable(uint32_t upper, id::Keyval keyval) {
  constexpr uint32_t kRelevant = kSameAsPointer | kDeletingHalf | kFullHalf;
  return ((upper ^ id::bits(keyval)) & kRelevant) == 0;
}

// The bits that name an attachment among those to one slot: its keyval's generation and kind, tag,
// number, how often it was taken back, and whether it has a delete_fn. (A value without one may
// still be borrowed when its slot's memory has been released and used again, at another index.)
constexpr uint64_t kAttachment =
    (uint64_t{kSameAsPointer & ~kVisibleHalf} << 32) | kNoDeleteFn | kSequence | kBack;

// The meta of an attachment that is taken back now, unheld; 0 if it has no such name left, and
// needs another number.
constexpr uint64_t taken_back(uint64_t m) {
  constexpr uint64_t kOne = kBack & (~kBack + 1);
  return (m & kBack) != kBack ? (m | kUnheld | kFull) + kOne : 0;
}

// Whether two metas are of the same attachment.
constexpr bool same_attachment(uint64_t m, uint64_t other) {
  return ((m ^ other) & kAttachment) == 0;
}

// The keyval of an occupied slot at `index`.
constexpr id::Keyval keyval(uint64_t m, uint32_t index) {
  return id::Keyval{(upper(m) & kSameAttribute) | id::kMarker | index << id::kIndexShift};
}

}  // namespace attrcache::meta

#endif  // ATTRCACHE_TABLE_META_H_
