// SPDX-License-Identifier: Apache-2.0
//
// The meta half of a slot: what its value is. 0: the slot is empty. Otherwise
//
//   63   tag, high bit              52 .. 43  pins: copies and borrows under way
//   62   visible to get             42        deleting: somebody is running delete_fn on the value
//   61   tag, low bit               41        quick: an ordinary keyval without delete_fn
//   60 .. 53 keyval generation      40 .. 36  sequence number, high part
//                                   35 .. 32  keyval kind
//                                   31 .. 0   sequence number, low part
//
// The upper half is the keyval itself, but for the index, which the slot's place implies and whose
// bits are used otherwise; `visible` is the keyval's marker bit, and the tag stands where a keyval
// has zeroes. So one masked compare with the keyval tells get that the slot is occupied, visible,
// of this kind and generation, and set as a C pointer.
//
// States                 deleting visible pins
//   empty                    (meta is 0)
//   attached                   0       1     any
//   deleting                   1       1      0     delete_fn runs; get still sees the value
//   deleting, hidden           1       0      0     deleted by others too: gone for get
//
// Every attachment has a sequence number of its own, from its table's counter: it orders copy_all
// and delete_all, and keeps compare-and-swap from ABA. Only a value that replaces, under a keyval
// without delete_fn, the youngest of its table inherits its number (see successor() in
// attribute.h). It wraps after 2^37 attachments to one table; an attribute older than that is taken
// for a young one in those orders, and ABA would need a thread to sleep through exactly that many
// between a load and its compare-and-swap.

#ifndef ATTRCACHE_TABLE_META_H_
#define ATTRCACHE_TABLE_META_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "keyval/references.h"

namespace attrcache::meta {

// In the upper half:
inline constexpr uint32_t kSameAttribute = 0x5fe0000f;  // visible, generation, kind
inline constexpr uint32_t kSameAsPointer = 0xffe0000f;  // and tag
inline constexpr uint32_t kVisibleHalf = 0x40000000;
inline constexpr uint32_t kDeletingHalf = 1u << 10;
inline constexpr uint32_t kQuickHalf = stripe::kQuick;
inline constexpr uint32_t kPinsHalf = 1023u << 11;

inline constexpr uint64_t kVisible = uint64_t{1} << 62;
inline constexpr uint64_t kDeleting = uint64_t{kDeletingHalf} << 32;
inline constexpr unsigned kPinShift = 43;
inline constexpr uint64_t kPin = uint64_t{1} << kPinShift;
inline constexpr uint64_t kMaxPins = 1023;
inline constexpr uint64_t kPins = kMaxPins << kPinShift;
inline constexpr uint64_t kQuick = uint64_t{kQuickHalf} << 32;
inline constexpr uint64_t kSequence = uint64_t{0x1f0} << 32 | 0xffffffff;

static_assert(kVisible >> 32 == id::kMarker && kPins >> 32 == kPinsHalf);
static_assert(kQuick == uint64_t{1} << 41 && kDeleting == uint64_t{1} << 42);

inline constexpr uint64_t kTagBits[] = {0, uint64_t{1} << 61, uint64_t{1} << 63, uint64_t{5} << 61};

// A sequence number where it stands in a meta. Two of them compare and subtract as they are, if
// what the subtraction leaves outside kSequence is masked.
constexpr uint64_t spread(uint64_t sequence) {
  return (sequence >> 32 & 0x1f) << 36 | (sequence & 0xffffffff);
}

// Of a value set under a keyval, whose upper half is to be like that of another meta of it, or like
// the name in one of its stripes. By halves: constants of 32 bits are cheaper.
constexpr uint64_t attached(uint32_t like, attrcache_tag tag, uint64_t sequence) {
  uint32_t upper = like & (kSameAttribute | kQuickHalf);
  upper |= static_cast<uint32_t>(sequence >> 28) & kSequence >> 32;
  if (tag != ATTRCACHE_AS_POINTER) [[unlikely]]
    upper |= static_cast<uint32_t>(kTagBits[tag] >> 32);
  return uint64_t{upper} << 32 | static_cast<uint32_t>(sequence);
}
constexpr bool empty(uint64_t m) { return m == 0; }
constexpr bool visible(uint64_t m) { return (m & kVisible) != 0; }
constexpr bool deleting(uint64_t m) { return (m & kDeleting) != 0; }
constexpr uint64_t pins(uint64_t m) { return m >> kPinShift & kMaxPins; }
constexpr attrcache_tag tag(uint64_t m) {
  return static_cast<attrcache_tag>((m >> 63) << 1 | (m >> 61 & 1));
}
constexpr uint64_t sequence(uint64_t m) { return m & kSequence; }

// Whether its number is `sequence`.
constexpr bool has_sequence(uint64_t m, uint64_t sequence) {
  const auto differs = static_cast<uint32_t>(m >> 32) ^ static_cast<uint32_t>(sequence >> 28);
  return static_cast<uint32_t>(m) == static_cast<uint32_t>(sequence) &&
         (differs & kSequence >> 32) == 0;
}
constexpr bool has_tag(uint64_t m, attrcache_tag tag) {
  return (((m ^ kTagBits[tag]) & kTagBits[ATTRCACHE_AS_AINT]) >> 32) == 0;
}

// Whether an occupied slot is occupied under `keyval`, visible or not.
constexpr bool belongs(uint64_t m, uint32_t keyval) {
  return ((static_cast<uint32_t>(m >> 32) ^ keyval) & kSameAttribute & ~kVisibleHalf) == 0;
}

// Whether a slot holds a visible value under `keyval` that may be replaced or detached in one step:
// nobody has to be called, and nobody deletes, copies or borrows it.
constexpr bool replaceable_at_once(uint64_t m, uint32_t keyval) {
  constexpr uint32_t kRelevant = kSameAttribute | kQuickHalf | kDeletingHalf | kPinsHalf;
  const uint32_t wanted = (keyval & kSameAttribute) | kQuickHalf;
  return ((static_cast<uint32_t>(m >> 32) ^ wanted) & kRelevant) == 0;
}

constexpr uint32_t upper(uint64_t m) { return static_cast<uint32_t>(m >> 32); }

// The keyval of an occupied slot at `index`.
constexpr uint32_t keyval(uint64_t m, uint32_t index) {
  return (static_cast<uint32_t>(m >> 32) & kSameAttribute) | id::kMarker | index << id::kIndexShift;
}

}  // namespace attrcache::meta

#endif  // ATTRCACHE_TABLE_META_H_
