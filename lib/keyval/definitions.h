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
#include "keyval/id.h"
#include "platform/atomic.h"
#include "platform/memory.h"

namespace attrcache {

// Once added, only its value changes.
struct Definition {
  explicit Definition(const attrcache_predefined& p)
      : number(p.number), tag(p.tag), where(p.where), compute(p.compute), context(p.context) {
    put(p.value);
  }

  const int number;
  const attrcache_tag tag;
  const attrcache_where where;
  attrcache_compute_fn* const compute;
  void* const context;
  // PER_KIND: what a slot would keep.
  Atomic<uint64_t> value{0};
  // (P3) release: get's load of the value (P4, table/get_predefined.cc) sees what it points to.
  void put(intptr_t set) { value.store(stored(set, tag), kRelease); }
  const uint64_t* value_address() const { return reinterpret_cast<const uint64_t*>(&value); }
};
static_assert(sizeof(Definition) <= 64, "attrcache.h says what a definition takes");

class Definitions {
 public:
  static constexpr unsigned kMaxNumbers = 48;

  explicit Definitions(const Memory& memory) : memory_(memory) {}
  ~Definitions();
  Definitions(const Definitions&) = delete;
  Definitions& operator=(const Definitions&) = delete;

  // The number's definition, or null. Wait-free.
  const Definition* find(int number) const {
    for (const Atomic<Definition*>& place : places_) {
      // (P1) acquire: the definition's content, stored before P2, is seen.
      const Definition* const there = place.load(kAcquire);
      if (there == nullptr || there->number == number) return there;
    }
    return nullptr;
  }
  Definition* find(int number) {
    return const_cast<Definition*>(static_cast<const Definitions*>(this)->find(number));
  }

  // Adds a definition, which then belongs to this. ARGUMENT: its number is defined already.
  // KEYVALS_EXHAUSTED: there are kMaxNumbers others. Lock-free.
  int add(Definition* definition);

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
