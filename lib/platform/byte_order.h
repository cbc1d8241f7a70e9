// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Where the parts of a 64-bit word are.

#ifndef ATTRCACHE_PLATFORM_BYTE_ORDER_H_
#define ATTRCACHE_PLATFORM_BYTE_ORDER_H_

#include <cstddef>
#include <cstdint>

namespace attrcache {

inline constexpr bool kBigEndian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

// The address of the upper 32 bits of a word.
inline const uint32_t* upper_half(const uint64_t* word) {
  return reinterpret_cast<const uint32_t*>(word) + (kBigEndian ? 0 : 1);
}

// The offset in a word at which its lowest `bytes` bytes begin.
constexpr size_t low_part(size_t bytes) { return kBigEndian ? sizeof(uint64_t) - bytes : 0; }

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_BYTE_ORDER_H_
