// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The options of a domain that concern all its kinds.
//
// Internally all keyvals are in one range, that of id.h. The ints that users see, their numbers,
// are these XOR a mask, which is 0 unless the domain has a range of its own. The C API translates
// where an int comes in or goes out, callbacks and introspection included.

#ifndef ATTRCACHE_KEYVAL_SETTINGS_H_
#define ATTRCACHE_KEYVAL_SETTINGS_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "callback/executor.h"
#include "platform/atomic.h"
#include "platform/memory.h"

namespace attrcache {

class Registry;

struct DomainSettings {
  uint32_t mask = 0;
  int invalid = ATTRCACHE_KEYVAL_INVALID;
  bool tells_absence = false;  // ATTRCACHE_TELL
  bool full_fences = false;    // ATTRCACHE_FULL_FENCES
  CallingConvention convention;
  Memory memory;
  const Atomic<Registry*>* kinds = nullptr;  // all of the domain, id::kMaxKinds of them
};

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_SETTINGS_H_
