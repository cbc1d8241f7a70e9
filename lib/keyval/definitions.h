// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The predefined keyvals of one kind (attrcache_keyval_define): from a number of the runtime's
// choice to its definition. These numbers are outside the domain's own range of keyvals, so get
// comes here only after it has seen that, and keyvals of that range pay nothing for it.
//
// A list of fixed size, to which definitions are only added: one stays until the domain ends, so a
// reader may use what it has found.

#ifndef ATTRCACHE_KEYVAL_DEFINITIONS_H_
#define ATTRCACHE_KEYVAL_DEFINITIONS_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "callback/language.h"
#include "platform/atomic.h"
#include "platform/memory.h"

namespace attrcache {

// Once added, only its value changes.
struct Definition {
  explicit Definition(const attrcache_predefined& as) : given(as) { put(as.value); }

  const attrcache_predefined given;
  // PER_KIND: what a slot would keep.
  Atomic<uint64_t> value{0};
  // (P3) release: get's load of the value (P4, table/get.cc) sees what it points to.
  void put(intptr_t set) { value.store(stored(set, given.tag), kRelease); }
  const uint64_t* value_address() const { return reinterpret_cast<const uint64_t*>(&value); }
};
static_assert(sizeof(Definition) <= 64, "attrcache.h says what a definition takes");

class Definitions {
 public:
  static constexpr unsigned kMaxNumbers = 48;

  explicit Definitions(const Memory& memory) : memory_(memory) {}
  ~Definitions() {
    for (const Atomic<Definition*>& place : places_) {
      // Relaxed: nobody else is there any more.
      if (Definition* const definition = place.load(kRelaxed)) memory_.destroy(definition);
    }
  }
  Definitions(const Definitions&) = delete;
  Definitions& operator=(const Definitions&) = delete;

  // The number's definition, or null. Wait-free.
  Definition* find(int number) const {
    for (const Atomic<Definition*>& place : places_) {
      // (P1) acquire: the definition's content, stored before P2, is seen.
      Definition* const there = place.load(kAcquire);
      if (there == nullptr || there->given.number == number) return there;
    }
    return nullptr;
  }

  // Adds a definition. EXISTS: its number is defined already. KEYVALS_EXHAUSTED: there are
  // kMaxNumbers others. Lock-free, but for the allocator.
  int add(const attrcache_predefined& predefined) {
    auto* const definition = memory_.make<Definition>(predefined);
    if (definition == nullptr) return ATTRCACHE_ERR_MEMORY;
    int error = ATTRCACHE_ERR_KEYVALS_EXHAUSTED;
    for (Atomic<Definition*>& place : places_) {
      Definition* there = nullptr;
      // (P2) release: a reader that finds the definition (P1) sees its content. Acquire if it
      // fails: another one is there, whose number is looked at.
      if (place.compare_exchange_strong(there, definition, kRelease, kAcquire)) return ATTRCACHE_OK;
      if (there->given.number == predefined.number) {
        error = ATTRCACHE_ERR_EXISTS;
        break;
      }
    }
    memory_.destroy(definition);
    return error;
  }

  // Visits all: visit(definition). Wait-free.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Atomic<Definition*>& place : places_) {
      const Definition* const definition = place.load(kAcquire);  // (P1)
      if (definition != nullptr) visit(*definition);
    }
  }

 private:
  const Memory& memory_;
  Atomic<Definition*> places_[kMaxNumbers] = {};
};

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_DEFINITIONS_H_
