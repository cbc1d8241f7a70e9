// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Tells ThreadSanitizer, in a program that is built with it, what attributes hand over from one
// thread to another. Natively it sees an MPI's mutexes; of attrcache, which isn't built with it, it
// sees nothing.
//
// All that the attributes of one keyval hand over is one for it, whichever objects they are on,
// because a dup carries values from object to object. So a race is overlooked if such a call lies
// between its two accesses by chance, as with an MPI that has one mutex for all attributes.

#ifndef ATTRCACHE_MPI_OBJECTS_TSAN_H_
#define ATTRCACHE_MPI_OBJECTS_TSAN_H_

#include <cstdint>

// Null in a process without ThreadSanitizer. The dynamic linker finds them as it loads attrcache.
extern "C" {
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}

namespace attrcache::mpi::tsan {

inline bool is_there() { return __tsan_acquire != nullptr && __tsan_release != nullptr; }

// Addresses that stand for keyvals. If some keyvals share one, more is overlooked.
constexpr int kPlaceBits = 12;
[[gnu::visibility("hidden")]] inline constinit char places[1 << kPlaceBits] = {};
inline void* place(int keyval) {
  return &places[static_cast<uint32_t>(keyval) * 0x9e3779b1u >> (32 - kPlaceBits)];
}

// After a get, and before a callback: what was released under this keyval has happened before.
inline void acquire(int keyval) {
  if (is_there()) __tsan_acquire(place(keyval));
}
// Before a set or delete, and after a callback or the making of the keyval.
inline void release(int keyval) {
  if (is_there()) __tsan_release(place(keyval));
}

}  // namespace attrcache::mpi::tsan

#endif  // ATTRCACHE_MPI_OBJECTS_TSAN_H_
