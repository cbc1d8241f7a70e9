// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/definitions.h"

namespace attrcache {

Definitions::~Definitions() {
  for (const Atomic<Definition*>& place : places_) {
    // Relaxed: nobody else is there any more.
    if (Definition* const definition = place.load(kRelaxed)) memory_.destroy(definition);
  }
}

int Definitions::add(Definition* definition) {
  for (Atomic<Definition*>& place : places_) {
    Definition* there = nullptr;
    // (P2) release: a reader that finds the definition (P1) sees its content. Acquire if it fails:
    // another one is there, whose number is looked at.
    if (place.compare_exchange_strong(there, definition, kRelease, kAcquire)) return ATTRCACHE_OK;
    if (there->number == definition->number) return ATTRCACHE_ERR_ARGUMENT;
  }
  return ATTRCACHE_ERR_KEYVALS_EXHAUSTED;
}

}  // namespace attrcache
