// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/definitions.h"

#include <new>

#include "platform/memory.h"

namespace attrcache {

Definitions::~Definitions() {
  Place* places = places_.load(kRelaxed);  // nobody else is there any more
  if (places == nullptr) return;
  for (unsigned i = 0; i < kPlaces; ++i) {
    for (Definition* d = places[i].latest; d != nullptr;) {
      Definition* const earlier = d->earlier;
      memory_.destroy(d);
      d = earlier;
    }
  }
  memory_.release(places);
}

Definitions::Place* Definitions::find_or_add(int number, int* error) {
  Place* places = places_.load(kAcquire);  // (P4) pairs with P6
  if (Place* place = find_in(places, number)) return place;
  if (places == nullptr) {
    void* memory = memory_.allocate(kPlaces * sizeof(Place));
    if (memory == nullptr) {
      *error = ATTRCACHE_ERR_MEMORY;
      return nullptr;
    }
    auto* made = static_cast<Place*>(memory);
    for (unsigned i = 0; i < kPlaces; ++i) new (&made[i]) Place();
    // (P6) release: the empty places are seen through P4. Acquire if it fails: somebody else's are,
    // here.
    if (places_.compare_exchange_strong(places, made, kRelease, kAcquire)) {
      places = made;
    } else {
      memory_.release(memory);
    }
  }
  // Relaxed: it only has to be right in number.
  if (count_.fetch_add(1, kRelaxed) >= kMaxNumbers) {
    count_.fetch_sub(1, kRelaxed);
    *error = ATTRCACHE_ERR_KEYVALS_EXHAUSTED;
    return nullptr;
  }
  for (unsigned i = first_of(number);; i = after(i)) {
    uint64_t key = 0;
    // (P3) Relaxed: a number hands over nothing but itself, for P6 has published the places.
    if (places[i].key.compare_exchange_strong(key, key_of(number), kRelaxed, kRelaxed)) {
      return &places[i];
    }
    if (key == key_of(number)) {  // another thread was faster
      count_.fetch_sub(1, kRelaxed);
      return &places[i];
    }
  }
}

// (P7) acquire: sees what the last owner did, by P8.
Definitions::Change::Change(Place* place)
    : place_(place), owns_(place->changing.exchange(1, kAcquire) == 0) {}

Definitions::Change::~Change() {
  if (owns_) place_->changing.store(0, kRelease);  // (P8) pairs with P7
}

Definition* Definitions::Change::in_force() const {
  return place_->in_force.load(kRelaxed);  // only owners store it
}

Definition* Definitions::Change::prepare(const attrcache_predefined& predefined,
                                         const Memory& memory) {
  for (Definition* d = place_->latest; d != nullptr; d = d->earlier) {
    if (d->is(predefined)) return d;
  }
  auto* made = memory.make<Definition>();
  if (made == nullptr) return nullptr;
  made->tag = predefined.tag;
  made->where = predefined.where;
  made->copied_by_dup = predefined.copied_by_dup != 0;
  made->compute = predefined.compute;
  made->context = predefined.context;
  made->earlier = place_->latest;
  place_->latest = made;
  return made;
}

void Definitions::Change::put_in_force(Definition* definition) {
  place_->in_force.store(definition, kRelease);  // (P2) pairs with P1
}

}  // namespace attrcache
