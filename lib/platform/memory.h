// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The only file of the library that allocates memory; a test sees to that. Test builds replace the
// process's allocator (ATTRCACHE_MODEL, ATTRCACHE_TEST_ALLOCATOR), to notice leaks, accesses to
// memory that was released, and allocations that bypass a domain's own functions.

#ifndef ATTRCACHE_PLATFORM_MEMORY_H_
#define ATTRCACHE_PLATFORM_MEMORY_H_

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "attrcache/attrcache.h"

namespace attrcache {

// The alignment of all memory that is given out.
inline constexpr size_t kAllocationAlignment = 16;

#if defined(ATTRCACHE_MODEL) || defined(ATTRCACHE_TEST_ALLOCATOR)
void* allocate(size_t bytes);  // null when out of memory
void release(void* memory);
#else
inline void* allocate(size_t bytes) {
  if constexpr (alignof(std::max_align_t) >= kAllocationAlignment) {
    return std::malloc(bytes);
  } else {  // 32-bit ARM, for one; a size must be a multiple of the alignment
    return std::aligned_alloc(kAllocationAlignment,
                              (bytes + kAllocationAlignment - 1) & ~(kAllocationAlignment - 1));
  }
}
inline void release(void* memory) { std::free(memory); }
#endif

// Where memory comes from: the functions above or, in a domain whose runtime has given functions of
// its own, those. What was allocated by one Memory is released by an equal one.
class Memory {
 public:
  constexpr Memory() = default;
  explicit Memory(const attrcache_allocator& hooks) : hooks_(hooks) {}

  void* allocate(size_t bytes) const {  // null when out of memory
    if (hooks_.allocate != nullptr) [[unlikely]]
      return hooks_.allocate(bytes, kAllocationAlignment, hooks_.context);
    return attrcache::allocate(bytes);
  }
  void release(void* memory) const {
    if (hooks_.release != nullptr) [[unlikely]]
      return hooks_.release(memory, hooks_.context);
    attrcache::release(memory);
  }

  void* allocate_zeroed(size_t bytes) const {
    void* memory = allocate(bytes);
    return memory != nullptr ? std::memset(memory, 0, bytes) : nullptr;
  }

  // Makes a T; null when out of memory.
  template <typename T, typename... Args>
  T* make(Args&&... args) const {
    static_assert(alignof(T) <= kAllocationAlignment);
    void* memory = allocate(sizeof(T));
    return memory != nullptr ? new (memory) T(std::forward<Args>(args)...) : nullptr;
  }

  template <typename T>
  void destroy(T* object) const {
    const Memory memory = *this;  // this may be part of the object
    object->~T();
    memory.release(object);
  }

 private:
  attrcache_allocator hooks_ = {};
};

// The process's own.
inline constexpr Memory kProcessMemory;

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_MEMORY_H_
