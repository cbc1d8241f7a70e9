// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef ATTRCACHE_PLATFORM_SLOT_CONTENT_H_
#define ATTRCACHE_PLATFORM_SLOT_CONTENT_H_

#include <cstddef>
#include <cstdint>

namespace attrcache {

// What a slot holds at one instant.
struct SlotContent {
  uint64_t value;
  uint64_t meta;
};

// The bits of a meta that a Pair knows. table/meta.h has them all.
namespace pair_bits {
inline constexpr uint64_t kVisible = 1u << 30;  // to get
inline constexpr uint64_t kTag = 5u << 29;      // 0: the value is a C pointer
inline constexpr uint64_t kChanging = 1u << 7;  // a Pair's own: 0 in every meta outside
}  // namespace pair_bits

inline constexpr bool kBigEndian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

// The offset in a word at which its lowest `bytes` bytes begin.
constexpr size_t low_part(size_t bytes) { return kBigEndian ? sizeof(uint64_t) - bytes : 0; }

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_SLOT_CONTENT_H_
