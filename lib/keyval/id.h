// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the bits of a keyval say:
//
//   30 29 | 28 .. 21   | 20 .. 4 | 3 .. 0
//    1  0 | generation | index   | kind
//
// The marker 10 keeps keyvals positive, and apart from those that Open MPI and MPICH hand out or
// define. Another MPI's may be such ints, too: then a domain needs a range of its own (registry.h).
// The index stands at bit 4, so that masking alone turns a keyval into the byte offset of its
// 16-byte slot.

#ifndef ATTRCACHE_KEYVAL_ID_H_
#define ATTRCACHE_KEYVAL_ID_H_

#include <cstddef>
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

// A keyval, and the byte offset that its slot would have if all slots were one array. They are
// types of their own, so that the compiler refuses an index for either of them, or one for the
// other.
enum class Keyval : uint32_t {};
enum class Offset : uint32_t {};

constexpr uint32_t bits(Keyval keyval) { return static_cast<uint32_t>(keyval); }
constexpr size_t bytes(Offset offset) { return static_cast<size_t>(offset); }

// The keyval that a user's int stands for, well formed or not.
constexpr Keyval of(int keyval) { return static_cast<Keyval>(keyval); }
constexpr Keyval make(unsigned kind, unsigned generation, uint32_t index) {
  return Keyval{kMarker | generation << kGenerationShift | index << kIndexShift | kind};
}
constexpr bool well_formed(Keyval keyval) { return (bits(keyval) & kMarkerMask) == kMarker; }
constexpr unsigned kind(Keyval keyval) { return bits(keyval) & kKindMask; }
constexpr uint32_t index(Keyval keyval) { return (bits(keyval) & kOffsetMask) >> kIndexShift; }
constexpr Keyval without_index(Keyval keyval) { return Keyval{bits(keyval) & ~kOffsetMask}; }
constexpr Offset offset(Keyval keyval) { return Offset{bits(keyval) & kOffsetMask}; }
constexpr Offset offset_at(uint32_t index) { return Offset{index << kIndexShift}; }
constexpr uint32_t index(Offset offset) { return static_cast<uint32_t>(offset) >> kIndexShift; }
// The offset of a well-formed keyval. For any other int it is more than the offset of any keyval,
// so that the bounds check which get needs anyway rejects it.
constexpr Offset slot_offset(Keyval keyval) {
  return Offset{(bits(keyval) - kMarker) & (kMarkerMask | kOffsetMask)};
}
constexpr unsigned generation(Keyval keyval) {
  return bits(keyval) >> kGenerationShift & (kGenerations - 1);
}

static_assert(make(0, 0, 0) == of(ATTRCACHE_KEYVAL_MIN));
// Open MPI's keyvals are small, MPICH's are 0x64400000 and above, or negative.
static_assert(ATTRCACHE_KEYVAL_MIN > 0x100000 && ATTRCACHE_KEYVAL_MAX < 0x64400000);
static_assert(make(kMaxKinds - 1, kGenerations - 1, (1u << 17) - 1) == of(ATTRCACHE_KEYVAL_MAX));

}  // namespace attrcache::id

#endif  // ATTRCACHE_KEYVAL_ID_H_
