// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/objects/handle_map.h"

#include "platform/memory.h"
#include "platform/wait.h"

namespace attrcache::mpi {

constinit HandleMap::Array HandleMap::nothing_ = {0, nullptr, {}};

struct HandleMap::Locked {
  explicit Locked(HandleMap& map) : map_(map) {
    Backoff backoff;
    // (MH3) The acquire makes visible what the last holder of the lock changed. It pairs with the
    // release below.
    while (map_.lock_.exchange(1, kAcquire) != 0) backoff.relax();
  }
  ~Locked() { map_.lock_.store(0, kRelease); }  // (MH3)
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  HandleMap& map_;
};

HandleMap::Array* HandleMap::allocate(uint64_t capacity) {
  auto* array = static_cast<Array*>(
      kProcessMemory.allocate_zeroed(sizeof(Array) + (capacity - 1) * sizeof(Bucket)));
  if (array != nullptr) array->mask = (capacity - 1) * sizeof(Bucket);
  return array;
}

// Keeps an array that is no longer used, because finds may still be reading it. The caller holds
// the lock.
void HandleMap::put_away(Array* array) {
  if (array == &nothing_) return;
  array->older = outgrown_;
  outgrown_ = array;
}

// (MH1) Publishes an array and all that is in it. The caller holds the lock, so a thread that
// learns that an entry was erased from the new array finds that array in both places.
void HandleMap::publish(Array* array) {
  array_.store(array, kRelease);
  if (!hidden_.load(kRelaxed)) home_.store(array, kRelease);
}

// Makes sure that at least half of the buckets stay empty after one more insert. Returns false when
// out of memory. The caller holds the lock. The loads are relaxed because only holders of the lock
// write.
bool HandleMap::make_room() {
  Array* old = array_.load(kRelaxed);
  const uint64_t capacity = old->mask / sizeof(Bucket) + 1;
  const size_t live = live_.load(kRelaxed);
  if ((live + erased_ + 1) * 2 <= capacity) return true;
  uint64_t wanted = capacity < kInitialCapacity ? kInitialCapacity : capacity;
  while ((live + 1) * 4 > wanted) wanted *= 2;
  Array* grown = allocate(wanted);
  if (grown == nullptr) return false;
  for (uint64_t i = 0; i <= old->mask; i += sizeof(Bucket)) {
    const uint64_t key = old->at(i).key.load(kRelaxed);
    if (key == kEmpty || key == kErased) continue;
    uint64_t offset = hash(key - 1) & grown->mask;
    while (grown->at(offset).key.load(kRelaxed) != kEmpty) {
      offset = (offset + sizeof(Bucket)) & grown->mask;
    }
    grown->at(offset).object.store(old->at(i).object.load(kRelaxed), kRelaxed);
    grown->at(offset).key.store(key, kRelaxed);  // relaxed: the array is not published yet
  }
  erased_ = 0;
  put_away(old);
  publish(grown);
  return true;
}

void* HandleMap::insert(uintptr_t handle, void* object) {
  const uint64_t key = key_of(handle);
  const Locked locked(*this);
  if (!make_room()) return nullptr;
  Array& array = *array_.load(kRelaxed);
  Bucket* target = nullptr;
  for (uint64_t offset = hash(handle) & array.mask;;
       offset = (offset + sizeof(Bucket)) & array.mask) {
    Bucket& bucket = array.at(offset);
    const uint64_t there = bucket.key.load(kRelaxed);
    if (there == key) return bucket.object.load(kRelaxed);
    if (target == nullptr && (there == kErased || there == kEmpty)) target = &bucket;
    if (there == kEmpty) break;
  }
  if (target->key.load(kRelaxed) == kErased) --erased_;
  target->object.store(object, kRelaxed);
  target->key.store(
      key, kRelease);  // (MH2) a find that sees the key sees the object, and what it points to
  live_.store(live_.load(kRelaxed) + 1, kRelaxed);
  return object;
}

// Turns erased buckets back into empty ones where no probe has to pass them: those just before an
// empty bucket. A find that is passing through stops at one of them, which is right, because the
// bucket after them is empty anyway. The caller holds the lock.
void HandleMap::tidy(Array& array, uint64_t offset) {
  const uint64_t next = (offset + sizeof(Bucket)) & array.mask;
  if (array.at(next).key.load(kRelaxed) != kEmpty) return;
  while (array.at(offset).key.load(kRelaxed) == kErased) {
    // A release like MH2, although it publishes nothing: no reader looks at the object of an empty
    // bucket.
    array.at(offset).key.store(kEmpty, kRelease);
    --erased_;
    offset = (offset - sizeof(Bucket)) & array.mask;
  }
}

void HandleMap::erase(uintptr_t handle) {
  const uint64_t key = key_of(handle);
  const Locked locked(*this);
  Array& array = *array_.load(kRelaxed);
  for (uint64_t offset = hash(handle) & array.mask;;
       offset = (offset + sizeof(Bucket)) & array.mask) {
    Bucket& bucket = array.at(offset);
    const uint64_t there = bucket.key.load(kRelaxed);
    if (there == kEmpty) return;
    if (there != key) continue;
    // The release makes sure that a thread that gets the handle next, and thereby knows that it was
    // freed, doesn't find the old entry.
    bucket.key.store(kErased, kRelease);
    live_.store(live_.load(kRelaxed) - 1, kRelaxed);
    ++erased_;
    tidy(array, offset);
    return;
  }
}

void HandleMap::clear() {
  const Locked locked(*this);
  put_away(array_.load(kRelaxed));
  publish(&nothing_);
  live_.store(0, kRelaxed);
  erased_ = 0;
}

void HandleMap::visit_all(void (*visit)(void*, uintptr_t, void*), void* context) {
  const Locked locked(*this);
  const Array& array = *array_.load(kRelaxed);
  for (uint64_t i = 0; i <= array.mask; i += sizeof(Bucket)) {
    const uint64_t key = array.at(i).key.load(kRelaxed);
    if (key == kEmpty || key == kErased) continue;
    visit(context, static_cast<uintptr_t>(key - 1), array.at(i).object.load(kRelaxed));
  }
}

void HandleMap::reset() {
  clear();
  while (outgrown_ != nullptr) {
    Array* next = outgrown_->older;
    kProcessMemory.release(outgrown_);
    outgrown_ = next;
  }
}

}  // namespace attrcache::mpi
