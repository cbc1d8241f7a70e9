// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// tbb::concurrent_unordered_map. It is read without a lock, and can't erase while others read.

#include <tbb/concurrent_unordered_map.h>

#include <atomic>
#include <utility>

#include "bench/contenders/counted_keys.h"
#include "bench/harness/describe.h"

namespace {

struct TbbUnorderedMap : bench::CountedKeys {
  using Value = std::atomic<void*>;
  // The standard allocator, because bytes are counted with mallinfo2.
  using Object = tbb::concurrent_unordered_map<int, Value, std::hash<int>, std::equal_to<int>,
                                               std::allocator<std::pair<const int, Value>>>;
  using Handle = Object*;
  static constexpr long kBytes = sizeof(Object);

  static Handle handle(Object& object) { return &object; }
  static bool get(Object* object, int key, void** value) {
    const auto found = object->find(key);
    if (found == object->end()) return false;
    *value = found->second.load(std::memory_order_acquire);
    return true;
  }
  static bool set(Object* object, int key, void* value) {
    const auto [place, made] = object->emplace(key, value);
    if (!made) place->second.exchange(value, std::memory_order_acq_rel);
    return true;
  }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<TbbUnorderedMap>("tbb_concurrent_unordered_map", {.objects = 100000});
}
