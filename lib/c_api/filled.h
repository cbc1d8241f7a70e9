// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Structs that callers fill: they may be compiled with an older or a newer attrcache.h.

#ifndef ATTRCACHE_C_API_FILLED_H_
#define ATTRCACHE_C_API_FILLED_H_

#include <cstring>

#include "attrcache/attrcache.h"

namespace attrcache {

// Reads a struct as this library knows it. Members that an older caller doesn't know are zero; if a
// newer one has filled members that are unknown here, the call fails (UNSUPPORTED).
template <typename Struct>
int read_filled(const Struct* given, Struct* known) {
  constexpr uint32_t kLargest = 4096;  // beyond, `size` isn't one
  *known = {};
  if (given == nullptr) return ATTRCACHE_OK;
  // A struct whose bytes were zeroed before some members were set is that of the first release,
  // which is this one.
  if (given->size == 0) {
    *known = *given;
    return ATTRCACHE_OK;
  }
  if (given->size <= sizeof(given->size) || given->size > kLargest) return ATTRCACHE_ERR_ARGUMENT;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof(Struct); i < given->size; ++i) {
    if (bytes[i] != 0) return ATTRCACHE_ERR_UNSUPPORTED;
  }
  const size_t both = given->size < sizeof(Struct) ? given->size : sizeof(Struct);
  std::memcpy(static_cast<void*>(known), bytes, both);
  return ATTRCACHE_OK;
}

}  // namespace attrcache

#endif  // ATTRCACHE_C_API_FILLED_H_
