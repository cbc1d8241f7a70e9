// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How a value that was set in one language is seen in another (MPI-4.1 19.3.7). A slot's value has
// 64 bits: a pointer, an Aint, or an int. An int is sign-extended when it is set, so that a reader
// in Fortran only has to truncate it, whether it asks for an INTEGER or an address-sized one.
// Where pointers have 32 bits, they and Aints are sign-extended, too.

#ifndef ATTRCACHE_CALLBACK_LANGUAGE_H_
#define ATTRCACHE_CALLBACK_LANGUAGE_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "platform/slot_content.h"

namespace attrcache {

static_assert(sizeof(void*) == sizeof(intptr_t) && sizeof(intptr_t) <= sizeof(uint64_t));

constexpr bool is_tag(attrcache_tag tag) { return static_cast<unsigned>(tag) <= ATTRCACHE_AS_AINT; }

constexpr bool is_int(attrcache_tag tag) {
  return tag == ATTRCACHE_AS_INT || tag == ATTRCACHE_AS_FINT;
}

// The 64 bits that a slot holds for a value that is set as `tag`.
constexpr uint64_t stored(intptr_t value, attrcache_tag tag) {
  if (is_int(tag)) [[unlikely]]
    return static_cast<uint64_t>(static_cast<int32_t>(value));
  return static_cast<uint64_t>(value);
}

inline void* as_pointer(uint64_t value) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(value));
}

// What C sees of a value that was read at an address, where others may change it: the pointer, if C
// has set it, or else where the int or the Aint is. (MPI defines it so.)
inline void* seen_by_c(uint64_t value, const uint64_t* at, attrcache_tag tag) {
  if (tag == ATTRCACHE_AS_POINTER) return as_pointer(value);
  const size_t offset = low_part(is_int(tag) ? sizeof(int) : sizeof(intptr_t));
  return const_cast<char*>(reinterpret_cast<const char*>(at)) + offset;
}

constexpr int seen_as_fint(uint64_t value) { return static_cast<int32_t>(value); }
constexpr intptr_t seen_as_aint(uint64_t value) { return static_cast<intptr_t>(value); }

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_LANGUAGE_H_
