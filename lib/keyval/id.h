// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the bits of a keyval say:
//
//   30 29 | 28 .. 21   | 20 .. 4 | 3 .. 0
//    1  0 | generation | index   | kind
//
// The marker 10 keeps keyvals positive and apart from every int that the MPIs hand out or define.
// The index stands at bit 4, so that masking alone turns a keyval into the byte offset of its
// 16-byte slot.

#ifndef ATTRCACHE_KEYVAL_ID_H_
#define ATTRCACHE_KEYVAL_ID_H_

#include <cstdint>

#include "attrcache/attrcache.h"

namespace attrcache::id {

inline constexpr unsigned kMaxKinds = 16;
inline constexpr unsigned kGenerations = 256;
inline constexpr uint32_t kMarker = 0x40000000;
inline constexpr uint32_t kMarkerMask = 0xe0000000;
inline constexpr uint32_t kKindMask = 0xf;
inline constexpr unsigned kIndexShift = 4;
inline constexpr uint32_t kOffsetMask = 0x1ffff0;
inline constexpr unsigned kGenerationShift = 21;
inline constexpr uint32_t kGenerationMask = 0x1fe00000;

constexpr uint32_t make(unsigned kind, unsigned generation, uint32_t index) {
  return kMarker | generation << kGenerationShift | index << kIndexShift | kind;
}
constexpr bool well_formed(uint32_t keyval) { return (keyval & kMarkerMask) == kMarker; }
constexpr unsigned kind(uint32_t keyval) { return keyval & kKindMask; }
constexpr uint32_t index(uint32_t keyval) { return (keyval & kOffsetMask) >> kIndexShift; }
// The byte offset that the keyval's slot would have if all slots were one array.
constexpr uint32_t offset(uint32_t keyval) { return keyval & kOffsetMask; }
// The same for a well-formed keyval. For any other int it is more than the offset of any keyval, so
// that the bounds check which get needs anyway rejects it.
constexpr uint32_t slot_offset(uint32_t keyval) {
  return (keyval - kMarker) & (kMarkerMask | kOffsetMask);
}
constexpr unsigned generation(uint32_t keyval) {
  return keyval >> kGenerationShift & (kGenerations - 1);
}

static_assert(make(0, 0, 0) == ATTRCACHE_KEYVAL_MIN);
static_assert(make(kMaxKinds - 1, kGenerations - 1, (1u << 17) - 1) == ATTRCACHE_KEYVAL_MAX);

}  // namespace attrcache::id

#endif  // ATTRCACHE_KEYVAL_ID_H_
