// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Structs that callers fill: they may be compiled with an older or a newer attrcache.h.

#ifndef ATTRCACHE_C_API_FILLED_H_
#define ATTRCACHE_C_API_FILLED_H_

#include <cstring>

#include "attrcache/attrcache.h"
#include "table/inspect.h"

namespace attrcache {

// Reads a struct as this library knows it. Members that an older caller doesn't know are zero; if a
// newer one has filled members that are unknown here, the call fails (UNSUPPORTED).
template <typename Struct>
int read_filled(const Struct* given, Struct* known) {
  *known = {};
  if (given == nullptr) return ATTRCACHE_OK;
  const size_t size = given->size;
  if (!can_be_size<Struct>(size)) return ATTRCACHE_ERR_ARGUMENT;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof(Struct); i < size; ++i) {
    if (bytes[i] != 0) return ATTRCACHE_ERR_UNSUPPORTED;
  }
  const size_t both = size < sizeof(Struct) ? size : sizeof(Struct);
  std::memcpy(static_cast<void*>(known), bytes, both);
  known->size = sizeof(Struct);
  return ATTRCACHE_OK;
}

}  // namespace attrcache

#endif  // ATTRCACHE_C_API_FILLED_H_
