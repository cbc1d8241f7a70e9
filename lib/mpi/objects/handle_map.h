// SPDX-License-Identifier: Apache-2.0
//
// From a handle to what the interposer keeps of its object: a hash table with open addressing, read
// by every MPI get.
//
//   find     wait-free but for growth of its probe; no write, no lock; about ten instructions on a
//   hit insert, erase, clear   rare; serialized by a lock that is held for a few memory accesses
//   and the
//            allocator, never across anything of MPI's or the user's
//
// Guaranteed to a find whose handle names a live object during the whole call: it returns that
// object's entry, or null; null only if no insert of it came before. Entries never move within an
// array, a slot is written handle last and erased handle first, so the two words that a find reads
// belong together as long as the object lives. A handle that was freed and given out again is found
// with its new entry or not at all, since the free erased the old one before MPI could reuse the
// handle. Arrays that were outgrown stay readable for ever: together they are smaller than the
// current one, but for the rare array that was given up because erased slots filled it.

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

  // False: it isn't there.
  [[gnu::always_inline]] bool find(uintptr_t handle, void** object) const {
    const uint64_t key = key_of(handle);
    const Array* array = array_.load(kAcquire);  // (H1)
    uint64_t offset = hash(handle) & array->mask;
    for (;;) {
      const Slot& slot = array->at(offset);
      const uint64_t there = slot.key.load(kAcquire);  // (H2)
      if (there == key) [[likely]] {
        *object = slot.object.load(kRelaxed);  // ordered by H2
        return true;
      }
      if (there == kEmpty) return false;
      offset = (offset + sizeof(Slot)) & array->mask;
    }
  }

  // The same for the hot path: looks at two places only, where nearly all are.
  [[gnu::always_inline]] bool find_near(uintptr_t handle, void** object) const {
    const Array* array = array_.load(kAcquire);  // (H1)
    const Slot* slot = &array->at(hash(handle) & array->mask);
    if (slot->key.load(kAcquire) != key_of(handle)) [[unlikely]] {  // (H2)
      ++slot;  // there is one more slot than the mask can name
      if (slot->key.load(kAcquire) != key_of(handle)) return false;  // (H2)
    }
    *object = slot->object.load(kRelaxed);  // ordered by H2
    return true;
  }

  // The same as find; null: it isn't there.
  void* find(uintptr_t handle) const {
    void* object;
    return find(handle, &object) ? object : nullptr;
  }

  // How many places a find looks at, for tests.
  unsigned distance(uintptr_t handle) const;

  // What is in the map under `handle` afterwards: `object`, or what was there before; null when out
  // of memory (then nothing is).
  void* insert(uintptr_t handle, void* object);
  void erase(uintptr_t handle);
  void clear();

  // Calls visit(handle, object) for every entry, with the lock held: it must not use the map.
  template <typename Visit>
  void for_each(Visit visit) {
    visit_all(
        [](void* v, uintptr_t handle, void* object) { (*static_cast<Visit*>(v))(handle, object); },
        &visit);
  }

  // Gives all memory back, outgrown arrays included. Nobody may use the map at the same time. The
  // interposer's maps live as long as the process and never need it.
  void reset();

  size_t size() const { return live_.load(kRelaxed); }

 private:
  struct Slot {
    Atomic<uint64_t> key;
    Atomic<void*> object;
  };
  static_assert(sizeof(Slot) == 16);

  struct Array {
    uint64_t mask;  // of byte offsets: (capacity - 1) * sizeof(Slot)
    Array* older;   // among those that nothing is added to any more
    Slot slots[2];  // capacity + 1: the last one stays empty

    const Slot& at(uint64_t offset) const {
      return *reinterpret_cast<const Slot*>(reinterpret_cast<const char*>(slots) + offset);
    }
    Slot& at(uint64_t offset) {
      return *reinterpret_cast<Slot*>(reinterpret_cast<char*>(slots) + offset);
    }
  };

  // No handle has these keys: their predecessors are no addresses and don't fit an int.
  static constexpr uint64_t kEmpty = 0;
  static constexpr uint64_t kErased = ~uint64_t{0};
  static constexpr uint64_t key_of(uintptr_t handle) { return uint64_t{handle} + 1; }

  // A factor that fits an instruction, found by search: handles that are counted up (MPICH), and
  // pointers any usual distance apart, get places of their own nearly always. Of a pointer, the low
  // 36 bits count.
  static constexpr uint64_t hash(uintptr_t handle) { return handle * uint64_t{0x40c593c3} >> 8; }

  struct Held;  // the lock, while it is held
  void visit_all(void (*visit)(void* context, uintptr_t handle, void* object), void* context);
  bool make_room();
  void put_away(Array* array);
  void tidy(Array& array, uint64_t offset);
  static Array* allocate(uint64_t capacity);
  static constexpr uint64_t kInitialCapacity = 64;

  // An array of one empty slot, so that a find needs no null check.
  static constinit Array nothing_;

  Atomic<Array*> array_{&nothing_};
  Atomic<size_t> live_{0};
  Array* outgrown_ = nullptr;
  size_t erased_ = 0;
  Atomic<uint32_t> lock_{0};
};

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_OBJECTS_HANDLE_MAP_H_
