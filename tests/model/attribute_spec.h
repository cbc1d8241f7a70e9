// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The specification of one attribute (one object, one keyval): what calls on it may answer if they
// are made one after the other. Histories of racing calls are checked against it.

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
    // A freed keyval may be gone as soon as nothing is attached. It need not be gone yet, because
    // the delete_fn of the last value may still be running. It goes in two steps: first nothing can
    // be set any more, then its int is stale. In between get and delete say that nothing is
    // attached.
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
      // They may also say that there is no value, or skip it, if a deletion has begun.
      return call.result != ATTRCACHE_OK || a.value == call.value;
    case Call::kFree:
      a.freed = true;
      return true;
  }
  return false;
}

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_ATTRIBUTE_SPEC_H_
