// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The only file of the library that allocates memory; a test sees to that. Test builds replace the
// allocator (ATTRCACHE_MODEL, ATTRCACHE_TEST_ALLOCATOR), to make each allocation fail in turn, and
// to notice leaks and accesses to memory that was released.

#ifndef ATTRCACHE_PLATFORM_MEMORY_H_
#define ATTRCACHE_PLATFORM_MEMORY_H_

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace attrcache {

// That of all memory given out.
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

// This doesn't call calloc, because glibc's calloc doesn't use the thread's cache, which costs 100
// instructions. The asm keeps the compiler from replacing malloc and memset by calloc.
inline void* allocate_zeroed(size_t bytes) {
  void* memory = allocate(bytes);
  asm("" : "+r"(memory));
  return memory != nullptr ? std::memset(memory, 0, bytes) : nullptr;
}

// Makes a T; null when out of memory.
template <typename T, typename... Args>
T* make(Args&&... args) {
  static_assert(alignof(T) <= kAllocationAlignment);
  void* memory = allocate(sizeof(T));
  return memory != nullptr ? new (memory) T(std::forward<Args>(args)...) : nullptr;
}

template <typename T>
void destroy(T* object) {
  object->~T();
  release(object);
}

}  // namespace attrcache

#endif  // ATTRCACHE_PLATFORM_MEMORY_H_
