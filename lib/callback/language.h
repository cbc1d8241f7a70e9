// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How a value that was set in one language is seen in another (MPI-4.1 19.3.7). A slot's value has
// 64 bits: a pointer, an Aint, or an int. An int is sign-extended when it is set, so that a reader
// in Fortran only has to truncate it, whether it asks for an INTEGER or an address-sized one.

#ifndef ATTRCACHE_CALLBACK_LANGUAGE_H_
#define ATTRCACHE_CALLBACK_LANGUAGE_H_

#include <bit>
#include <cstdint>

#include "attrcache/attrcache.h"

namespace attrcache {

static_assert(sizeof(void*) == 8 && sizeof(intptr_t) == 8, "attrcache needs 64-bit pointers");
static_assert(std::endian::native == std::endian::little,
              "the address of a 64-bit value is taken for the address of its low 32 bits");

constexpr bool is_int(attrcache_tag tag) {
  return tag == ATTRCACHE_AS_INT || tag == ATTRCACHE_AS_FINT;
}

// The 64 bits that a slot holds for a value that is set as `tag`.
constexpr uint64_t stored(intptr_t value, attrcache_tag tag) {
  if (is_int(tag)) [[unlikely]]
    return static_cast<uint64_t>(static_cast<int32_t>(value));
  return static_cast<uint64_t>(value);
}

// What C sees of a value: the pointer, if C has set it, and else the address of the value. (MPI
// defines it so.)
inline void* seen_by_c(const uint64_t* at, attrcache_tag tag) {
  return tag == ATTRCACHE_AS_POINTER ? reinterpret_cast<void*>(*at)
                                     : const_cast<void*>(static_cast<const void*>(at));
}

constexpr int seen_as_fint(uint64_t value) { return static_cast<int32_t>(value); }
constexpr intptr_t seen_as_aint(uint64_t value) { return static_cast<intptr_t>(value); }

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_LANGUAGE_H_
