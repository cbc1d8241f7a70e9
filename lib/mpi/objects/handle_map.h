// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A map from an MPI handle to what the interposer keeps of the object (its anchor, anchor.h). It is
// a hash table with open addressing, and every MPI get reads it.
//
//   find                  wait-free, except that its probe grows while others insert; it writes
//                         nothing and takes no lock; a hit takes about ten instructions
//   insert, erase, clear  rare; a lock serializes them, which is held for a few memory accesses and
//                         the allocator, but never while MPI or the program's code runs
//
// A find whose handle names a live object during the whole call returns that object's entry or
// null, and it returns null only if no insert of the entry came before. This holds because:
//
// * Entries never move within an array.
// * A bucket's handle is written last and erased first. So the two words that a find reads belong
//   together as long as the object lives.
// * When an object is freed, its entry is erased before MPI can reuse the handle. So a handle that
//   was freed and given out again is found with its new entry or not at all.
// * Outgrown arrays stay readable for ever, because a find may still be reading them. Together they
//   are smaller than the current array, except for the rare array that was replaced because erased
//   buckets filled it.

#ifndef ATTRCACHE_MPI_OBJECTS_HANDLE_MAP_H_
#define ATTRCACHE_MPI_OBJECTS_HANDLE_MAP_H_

#include <cstddef>
#include <cstdint>

#include "platform/atomic.h"

namespace attrcache::mpi {

class HandleMap {
 public:
  constexpr HandleMap() = default;
  HandleMap(const HandleMap&) = delete;
  HandleMap& operator=(const HandleMap&) = delete;

  // Null means that the map has no entry for the handle.
  [[gnu::always_inline]] void* find(uintptr_t handle) const {
    const uint64_t key = key_of(handle);
    const Array* array = array_.load(kAcquire);  // (MH1)
    uint64_t offset = hash(handle) & array->mask;
    for (;;) {
      const Bucket& bucket = array->at(offset);
      const uint64_t there = bucket.key.load(kAcquire);  // (MH2)
      if (there == key) [[likely]]
        return bucket.object.load(kRelaxed);  // ordered by MH2
      if (there == kEmpty) return nullptr;
      offset = (offset + sizeof(Bucket)) & array->mask;
    }
  }

  // The same for the hot path. It looks at two buckets only, where nearly all entries are, so false
  // does not mean that there is no entry.
  [[gnu::always_inline]] bool find_at_home(uintptr_t handle, void** object) const {
    const Array* array = home_.load(kAcquire);  // (MH1)
    const Bucket* bucket = &array->at(hash(handle) & array->mask);
    if (bucket->key.load(kAcquire) != key_of(handle)) [[unlikely]] {  // (MH2)
      ++bucket;  // stays in bounds: the array has one more bucket than the mask covers
      if (bucket->key.load(kAcquire) != key_of(handle)) return false;  // (MH2)
    }
    *object = bucket->object.load(kRelaxed);  // ordered by MH2
    return true;
  }

  // Makes find_at_home() find nothing from now on, for ever. Call this before the first insert.
  void hide_from_hot_path() { hidden_.store(true, kRelaxed); }

  // Inserts `object` unless the handle has an entry already. Returns what the map has for the
  // handle afterwards: `object` or the earlier entry. Returns null, with nothing inserted, when out
  // of memory.
  void* insert(uintptr_t handle, void* object);
  void erase(uintptr_t handle);
  void clear();

  // Calls visit(handle, object) for every entry. The lock is held meanwhile, so visit must not
  // insert or erase.
  template <typename Visit>
  void for_each(Visit visit) {
    visit_all(
        [](void* v, uintptr_t handle, void* object) { (*static_cast<Visit*>(v))(handle, object); },
        &visit);
  }

  // Gives all memory back, outgrown arrays included. No other thread may use the map meanwhile.
  // Only tests call this: the interposer's maps live as long as the process.
  void reset();

  size_t size() const { return live_.load(kRelaxed); }

 private:
  struct Bucket {
    Atomic<uint64_t> key;
    Atomic<void*> object;
  };
  static_assert(sizeof(Bucket) == 16);

  struct Array {
    uint64_t mask;      // for byte offsets: (capacity - 1) * sizeof(Bucket)
    Array* older;       // links the outgrown arrays
    Bucket buckets[2];  // really capacity + 1 of them; the last one stays empty

    const Bucket& at(uint64_t offset) const {
      return *reinterpret_cast<const Bucket*>(reinterpret_cast<const char*>(buckets) + offset);
    }
    Bucket& at(uint64_t offset) {
      return *reinterpret_cast<Bucket*>(reinterpret_cast<char*>(buckets) + offset);
    }
  };

  // No handle has these keys: the handles that they stand for (key - 1) are no addresses, and fit
  // no int.
  static constexpr uint64_t kEmpty = 0;
  static constexpr uint64_t kErased = ~uint64_t{0};
  static constexpr uint64_t key_of(uintptr_t handle) { return uint64_t{handle} + 1; }

  // The factor was found by search and fits an instruction. Nearly always it gives different places
  // to handles that are counted up (MPICH) and to pointers at any usual distance from one another.
  // Of a pointer, the low 36 bits count.
  static constexpr uint64_t hash(uintptr_t handle) { return handle * uint64_t{0x40c593c3} >> 8; }

  struct Locked;  // holds the lock for a scope
  void visit_all(void (*visit)(void* context, uintptr_t handle, void* object), void* context);
  bool make_room();
  void put_away(Array* array);
  void publish(Array* array);
  void tidy(Array& array, uint64_t offset);
  static Array* allocate(uint64_t capacity);
  static constexpr uint64_t kInitialCapacity = 64;

  // The array that an empty map starts with: one empty bucket, so that a find needs no null check.
  static constinit Array nothing_;

  Atomic<Array*> array_{&nothing_};
  Atomic<Array*> home_{&nothing_};  // the same array, or none if the map is hidden
  Atomic<bool> hidden_{false};
  Atomic<size_t> live_{0};
  Array* outgrown_ = nullptr;
  size_t erased_ = 0;
  Atomic<uint32_t> lock_{0};
};

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_OBJECTS_HANDLE_MAP_H_
