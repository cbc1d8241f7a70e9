// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Structs that the library fills for callers that may know an older or a newer attrcache.h.

#ifndef ATTRCACHE_TABLE_INSPECTED_H_
#define ATTRCACHE_TABLE_INSPECTED_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace attrcache {

// A caller's array of structs, each as large as the first one says; or a single one.
template <typename Struct>
class Inspected {
 public:
  explicit Inspected(Struct* first, size_t capacity = 1)
      : bytes_(reinterpret_cast<unsigned char*>(first)),
        capacity_(capacity),
        // 0: that of the first release, which is this one.
        size_(capacity == 0 || first->size == 0 ? sizeof(Struct) : first->size) {}

  size_t capacity() const { return capacity_; }
  // Whether the size can be one, with every element aligned.
  bool valid() const {
    return size_ > sizeof(uint32_t) && size_ <= 4096 &&
           (capacity_ < 2 || size_ % alignof(Struct) == 0);
  }
  // Fills the i-th element, if there is one; members that aren't known here become zero.
  void fill(size_t i, Struct with) const {
    if (i >= capacity_) return;
    with.size = static_cast<uint32_t>(size_);
    const size_t both = size_ < sizeof(Struct) ? size_ : sizeof(Struct);
    std::memcpy(bytes_ + i * size_, &with, both);
    std::memset(bytes_ + i * size_ + both, 0, size_ - both);
  }

 private:
  unsigned char* const bytes_;
  const size_t capacity_;
  const size_t size_;
};

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_INSPECTED_H_
