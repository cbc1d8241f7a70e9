// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The meta half of a slot, which says what the slot's value is. It is 0 if the slot is empty.
// Otherwise its bits are:
//
//   63 .. 32  sequence number, low part
//   31        tag, high bit
//   30        visible to get
//   29        tag, low bit
//   28 .. 21  keyval generation
//   20 .. 13  how often the value was taken back after it had been replaced (kBack)
//   12        0
//   11        the keyval has a delete_fn, and only full readers hold the value (kFull; hold.h)
//   10        the keyval has a delete_fn, and no thread has held the value, nor failed to
//             delete it (kUnheld)
//   9         the keyval has no delete_fn (kNoDeleteFn)
//   8         deleting: a thread has claimed the value, to delete it
//   7         0; Pair uses it while it changes a slot (pair_bits::kChanging)
//   6 .. 4    sequence number, high part
//   3 .. 0    keyval kind
//
// The lower half has the keyval's bits where the keyval has them, except for the index. A slot's
// position implies the index, so those bits have other uses. `visible` is the keyval's marker bit,
// and the tag is where a keyval has zeroes. So get learns by one masked compare with the keyval
// that the slot is occupied, visible, of this kind and generation, and set as a C pointer. The
// states of a slot are drawn in table/slot.h.
//
// Every attachment has a sequence number of its own, from its table's counter. The numbers order
// copy_all and delete_all, and keep compare-and-swap from ABA. There is one exception: a value that
// replaces the youngest one of its table, under a keyval without delete_fn and with the same tag,
// inherits its number (successor() in slot.h). A value that is taken back keeps its number, with
// another kBack: the two together are what names an attachment. Numbers wrap around after 2^35
// attachments to one table. An attribute that is older than that may come at the wrong place in the
// order. Nothing else can go wrong unless a thread sleeps between a load and its compare-and-swap,
// or holds a value, while exactly a multiple of 2^35 values are attached to the table.

#ifndef ATTRCACHE_TABLE_META_H_
#define ATTRCACHE_TABLE_META_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "keyval/references.h"
#include "platform/slot_content.h"

namespace attrcache::meta {

inline constexpr uint64_t kVisible = pair_bits::kVisible;
inline constexpr uint64_t kDeleting = 1u << 8;
inline constexpr uint64_t kNoDeleteFn = stripe::kNoDeleteFn;
inline constexpr uint64_t kUnheld = stripe::kUnheld;
inline constexpr uint64_t kFull = stripe::kFull;
inline constexpr uint64_t kBack = 255u << 13;
inline constexpr uint64_t kTagBits[] = {0, 1u << 29, 1u << 31, pair_bits::kTag};
inline constexpr uint64_t kSameAttribute = 0x5fe0000f;  // visible, generation, kind
inline constexpr uint64_t kSameAsPointer = 0xffe0000f;  // and tag
inline constexpr uint64_t kHighNumber = 0x70;
inline constexpr uint64_t kNumbers = (uint64_t{1} << 35) - 1;

static_assert(kVisible == id::kMarker && kTagBits[ATTRCACHE_AS_POINTER] == 0);

constexpr uint32_t lower(uint64_t m) { return static_cast<uint32_t>(m); }

// The meta of a value that is attached. `like` says under which keyval: it is the name in one of
// the keyval's stripes, or like() another meta of the same keyval.
constexpr stripe::Name like(uint64_t m) { return stripe::Name{lower(m)}; }
constexpr uint64_t attached(stripe::Name like, attrcache_tag tag, uint64_t number) {
  uint64_t lower = stripe::bits(like) & (kSameAttribute | kNoDeleteFn | kUnheld | kFull);
  lower |= number >> 28 & kHighNumber;
  if (tag != ATTRCACHE_AS_POINTER) [[unlikely]]
    lower |= kTagBits[tag];
  return number << 32 | lower;
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
  return static_cast<attrcache_tag>((m >> 30 & 2) | (m >> 29 & 1));
}
// The sequence number, modulo 2^35.
constexpr uint64_t sequence(uint64_t m) { return (m & kHighNumber) << 28 | m >> 32; }

// Whether the sequence number is `number`, modulo 2^35, and the tag is the one given.
constexpr bool has(uint64_t m, uint64_t number, attrcache_tag tag) {
  const uint64_t differs = m ^ (number >> 28 & kHighNumber) ^ kTagBits[tag];
  return m >> 32 == static_cast<uint32_t>(number) &&
         (differs & (kHighNumber | kTagBits[ATTRCACHE_AS_AINT])) == 0;
}

// Whether the value in an occupied slot was set under `keyval`, visible or not.
constexpr bool belongs(uint64_t m, id::Keyval keyval) {
  return ((lower(m) ^ id::bits(keyval)) & kSameAttribute & ~kVisible) == 0;
}
// Whether a slot holds a visible value under `keyval` that no thread is deleting: one that a thread
// may begin to hold.
constexpr bool holdable(uint64_t m, id::Keyval keyval) {
  const uint32_t differs = lower(m) ^ (id::bits(keyval) & kSameAttribute);
  return (differs & (kSameAttribute | kDeleting)) == 0;
}
// Whether a slot holds a visible value under `keyval` that may be replaced or detached in one step:
// one that has no delete_fn.
constexpr bool replaceable_at_once(uint64_t m, id::Keyval keyval) {
  const uint32_t wanted = (id::bits(keyval) & kSameAttribute) | kNoDeleteFn;
  return ((lower(m) ^ wanted) & (kSameAttribute | kNoDeleteFn)) == 0;
}

// Whether a value may be borrowed by an announcement alone: visible under a keyval, set as a C
// pointer, not claimed, and light; by how the lower half of its meta differs from the keyval. That
// must have a keyval's marker bit, or an empty slot would match. Its index must be below
// kReadableIndices, so that none of its bits is where a meta has a flag: clear larger ones
// (id::without_index). A caller that knows the index to be small need not clear it.
inline constexpr uint32_t kReadableIndices = kDeleting >> id::kIndexShift;
constexpr bool readable(uint32_t differs) {
  return (differs & (kSameAsPointer | kDeleting | kFull)) == 0;
}

// The bits that name an attachment among those to one slot: its keyval's generation and kind, tag,
// number, how often it was taken back, and whether it has a delete_fn. (A value without one may
// still be borrowed when its slot's memory has been released and used again, at another index.)
constexpr uint64_t kAttachment =
    (kSameAsPointer & ~kVisible) | kNoDeleteFn | kHighNumber | ~uint64_t{0xffffffff} | kBack;

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
  return id::Keyval{(lower(m) & uint32_t{kSameAttribute}) | id::kMarker | index << id::kIndexShift};
}

}  // namespace attrcache::meta

#endif  // ATTRCACHE_TABLE_META_H_
