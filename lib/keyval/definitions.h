// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The predefined keyvals that have numbers of the runtime's choice (attrcache_keyval_define), of one
// kind: from the number to its definition. These numbers are no keyvals of the kind's own range, so
// get comes here only after it has seen that: the way to a keyval's slot isn't longer by it.
//
// A hash table of fixed size, open addressing, in which numbers only ever come. Of each it has the
// definition that is in force, or null. Definitions are kept until the domain ends, because a reader
// holds nothing that would tell when it is done with one; the same definition serves again when its
// number is defined once more.
//
// Who changes a number's definition owns the number meanwhile (`changing`), and whoever finds it owned
// is told BUSY. So nobody waits, and one who is stopped in the middle costs that number only.

#ifndef ATTRCACHE_KEYVAL_DEFINITIONS_H_
#define ATTRCACHE_KEYVAL_DEFINITIONS_H_

#include <cstddef>
#include <cstdint>

#include "attrcache/attrcache.h"
#include "callback/language.h"
#include "platform/atomic.h"
#include "platform/memory.h"

namespace attrcache {

struct Definition {
  attrcache_tag tag;
  attrcache_where where;
  bool copied_by_dup;
  // PER_OBJECT: the keyval inside, under which the values are attached. It is another one each time
  // that the number is defined. Relaxed: published and handed over with the definition.
  Atomic<uint32_t> keyval{0};
  attrcache_compute_fn* compute;
  void* context;
  // PER_KIND: what a slot would keep.
  Atomic<uint64_t> value{0};
  // (P10) release: pairs with P9.
  void put(intptr_t set) { value.store(stored(set, tag), kRelease); }
  const uint64_t* value_address() const { return reinterpret_cast<const uint64_t*>(&value); }
  Definition* earlier = nullptr;  // of the same number; only who owns that looks

  // Whether it is what is asked for, but for what may change.
  bool is(const attrcache_predefined& asked) const {
    return tag == asked.tag && where == asked.where &&
           copied_by_dup == (asked.copied_by_dup != 0) && compute == asked.compute &&
           context == asked.context;
  }
};
static_assert(sizeof(Definition) <= 64, "attrcache.h says what a definition takes");

class Definitions {
 public:
  static constexpr unsigned kMaxNumbers = 48;

  explicit Definitions(const Memory& memory) : memory_(memory) {}
  ~Definitions();
  Definitions(const Definitions&) = delete;
  Definitions& operator=(const Definitions&) = delete;

  // The definition that is in force, or null. Wait-free.
  const Definition* find(int number) const {
    const Place* place = find_place(number);
    // (P1) pairs with P2: its contents are seen.
    return place != nullptr ? place->in_force.load(kAcquire) : nullptr;
  }
  Definition* find(int number) {
    return const_cast<Definition*>(static_cast<const Definitions*>(this)->find(number));
  }

  // Whether the number was ever defined.
  bool knows(int number) const { return find_place(number) != nullptr; }

  // Visits all that are in force: visit(number, definition). Wait-free.
  template <typename Visit>
  void for_each(Visit visit) const;

  class Place;

  // Owns a number while it lives.
  class Change {
   public:
    explicit Change(Place* place);
    ~Change();
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

    bool owns() const { return owns_; }
    Definition* in_force() const;
    // A definition of that kind, an earlier one if there is one. Null: out of memory.
    Definition* prepare(const attrcache_predefined& predefined, const Memory& memory);
    void put_in_force(Definition* definition);

   private:
    Place* const place_;
    const bool owns_;
  };

  // The place of a number; null if it has none. Wait-free.
  Place* find_place(int number) { return find_in(places_.load(kAcquire), number); }  // as P4

  // The same, which is made if need be; null, and *error. Lock-free.
  Place* find_or_add(int number, int* error);

  class Place {
    friend class Definitions;
    friend class Change;
    Atomic<uint64_t> key{0};  // key_of(number), or 0
    Atomic<Definition*> in_force{nullptr};
    Definition* latest = nullptr;  // all there were, linked by `earlier`
    Atomic<uint64_t> changing{0};
  };

 private:
  static constexpr unsigned kPlaces = 64;  // a power of two, more than kMaxNumbers
  static_assert(kPlaces > kMaxNumbers, "a search ends at an empty place");

  static uint64_t key_of(int number) { return static_cast<uint32_t>(number) | uint64_t{1} << 32; }
  // By Fibonacci hashing: the numbers of a runtime are a few ranges of steps of one or more.
  static unsigned first_of(int number) {
    return static_cast<uint32_t>(number) * 0x9e3779b9u >> (32 - 6);
  }
  static unsigned after(unsigned i) { return (i + 1) % kPlaces; }

  static Place* find_in(Place* places, int number) {
    if (places == nullptr) return nullptr;
    for (unsigned i = first_of(number);; i = after(i)) {
      // (P5) Relaxed: whoever knows that the number was defined sees it, and all that P3 passed by
      // before it got there; whoever doesn't may as well be told that it wasn't.
      const uint64_t key = places[i].key.load(kRelaxed);
      if (key == key_of(number)) return &places[i];
      if (key == 0) return nullptr;
    }
  }
  const Place* find_place(int number) const { return find_in(places_.load(kAcquire), number); }

  const Memory& memory_;
  Atomic<Place*> places_{nullptr};
  Atomic<uint64_t> count_{0};
};

template <typename Visit>
void Definitions::for_each(Visit visit) const {
  const Place* places = places_.load(kAcquire);  // as P4
  if (places == nullptr) return;
  for (unsigned i = 0; i < kPlaces; ++i) {
    const Definition* definition = places[i].in_force.load(kAcquire);  // as P1
    if (definition == nullptr) continue;
    visit(static_cast<int>(static_cast<uint32_t>(places[i].key.load(kRelaxed))), *definition);
  }
}

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_DEFINITIONS_H_
