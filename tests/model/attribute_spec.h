// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the calls on one attribute (one object, one keyval) may answer, one after the other. It is
// the specification against which histories are checked.

#ifndef ATTRCACHE_TESTS_MODEL_ATTRIBUTE_SPEC_H_
#define ATTRCACHE_TESTS_MODEL_ATTRIBUTE_SPEC_H_

#include "attrcache/attrcache.h"
#include "tests/model/explorer/linearizability.h"

namespace attrcache::model {

struct Call {
  enum Kind : uint8_t { kSet, kGet, kDelete, kBorrow, kCopied, kFree } kind;
  uint8_t attribute;  // which one of the model's
  uint8_t value;      // set: the new one; get, borrow, copied: what was seen
  uint8_t result;     // of the C API
};

struct Attribute {
  uint8_t value = 0;   // 0: none is attached
  bool freed = false;  // the keyval
  bool gone = false;

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

inline bool perform(Attribute& a, const Call& call) {
  if (call.result == ATTRCACHE_ERR_KEYVAL_STALE) {
    // A freed keyval may go once nothing is attached; it need not at once, for the delete_fn of the
    // last value may still be running. And it goes in two steps: first nothing more can be set,
    // then its number is unknown; in between get and delete say that nothing is attached.
    if (!a.freed || a.value != 0) return false;
    a.gone = true;
    return true;
  }
  if (a.gone && call.kind == Call::kSet && call.result == ATTRCACHE_OK) return false;
  switch (call.kind) {
    case Call::kSet:
      // A call that failed has changed nothing.
      if (call.result == ATTRCACHE_OK) a.value = call.value;
      return true;
    case Call::kDelete:
      if (call.result == ATTRCACHE_OK) a.value = 0;
      return true;
    case Call::kGet:
      return call.result == ATTRCACHE_OK ? a.value == call.value : a.value == 0;
    case Call::kBorrow:
    case Call::kCopied:
      // Absent, or skipped, also where a deletion has begun.
      return call.result != ATTRCACHE_OK || a.value == call.value;
    case Call::kFree:
      a.freed = true;
      return true;
  }
  return false;
}

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_ATTRIBUTE_SPEC_H_
