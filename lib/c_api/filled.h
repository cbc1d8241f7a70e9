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

template <typename Struct, typename Use>
[[gnu::noinline, gnu::cold]] int with_copy(const Struct* given, Use use) {
  Struct known;
  const int result = read_filled(given, &known);
  return result == ATTRCACHE_OK ? use(known) : result;
}

// The same without a copy where both know the same struct, as is usual: calls use(const Struct&).
template <typename Struct, typename Use>
[[gnu::always_inline]] inline int with_filled(const Struct* given, Use use) {
  return given != nullptr && given->size == sizeof(Struct) ? use(*given) : with_copy(given, use);
}

}  // namespace attrcache

#endif  // ATTRCACHE_C_API_FILLED_H_
