// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Lists for debuggers and leak reports. Each entry is a consistent snapshot. The list as a whole
// isn't, if other threads change things meanwhile.

#ifndef ATTRCACHE_TABLE_INSPECT_H_
#define ATTRCACHE_TABLE_INSPECT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "attrcache/attrcache.h"
#include "keyval/registry.h"
#include "table/table.h"

namespace attrcache {

// Whether a struct that begins with its size can have that one: it was never less than now, and
// later versions may be larger.
template <typename Struct>
bool can_be_size(size_t size) {
  return size >= sizeof(Struct) && size <= 4096;
}

// A caller's array of structs, each as large as the first one says; or a single one.
template <typename Struct>
class Inspected {
 public:
  explicit Inspected(Struct* first, size_t capacity = 1)
      : bytes_(reinterpret_cast<unsigned char*>(first)),
        capacity_(capacity),
        size_(capacity == 0 ? sizeof(Struct) : first->size) {}

  size_t capacity() const { return capacity_; }
  // Whether a struct can have that size, with every element aligned.
  bool valid() const {
    return can_be_size<Struct>(size_) && (capacity_ < 2 || size_ % alignof(Struct) == 0);
  }
  // Fills the i-th element, if there is one; members that aren't known here become zero.
  void fill(size_t i, const Struct& with) const {
    if (i >= capacity_) return;
    auto* const to = reinterpret_cast<Struct*>(bytes_ + i * size_);
    *to = with;
    to->size = static_cast<uint32_t>(size_);
    if (size_ != sizeof with) [[unlikely]]
      std::memset(static_cast<void*>(to + 1), 0, size_ - sizeof with);
  }

 private:
  unsigned char* const bytes_;
  const size_t capacity_;
  const size_t size_;
};

// Describes the keyvals, in the order of their indices, as far as there is room. Returns how many
// there are.
size_t list_keyvals(Registry& registry, Inspected<attrcache_keyval_info> infos);

// `info` and `callbacks` may have no capacity.
int describe_keyval(Registry& registry, int number, const Inspected<attrcache_keyval_info>& info,
                    const Inspected<attrcache_callbacks>& callbacks);

// As list_keyvals(), for a table's attributes, in the order of setting.
size_t list_attributes(const Registry& registry, const Table& table,
                       const Inspected<attrcache_attribute_info>& infos);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_INSPECT_H_
