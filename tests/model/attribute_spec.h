// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The specification of one attribute (one object, one keyval): what calls on it may return if they
// are made one after the other. Histories of racing calls are checked against it.
//
// Two calls take two steps each. A delete that runs a delete_fn begins, after which borrow and
// copy_all find nothing, and ends, after which get finds nothing either; or it fails, and nothing
// has changed. A set that is refused, because delete_fn fails, attaches its value, and puts the old
// one back (or none, with ATTRCACHE_DELETE_ONCE). In between, only get may run, and set_if_absent;
// they find the new value.

#ifndef ATTRCACHE_TESTS_MODEL_ATTRIBUTE_SPEC_H_
#define ATTRCACHE_TESTS_MODEL_ATTRIBUTE_SPEC_H_

#include "attrcache/attrcache.h"
#include "tests/model/explorer/linearizability.h"

namespace attrcache::model {

struct Call {
  enum Kind : uint8_t {
    kSet,
    kGet,
    kDelete,  // one that runs no delete_fn
    kBorrow,
    kCopied,
    kFree,
    kBegins,  // the first step of a delete that runs one
    kEnds,    // its second step
    kTries,   // the first step of a set that is refused
    kPutsBack,
    kSetsIfAbsent
  } kind;
  uint8_t attribute;  // its number in the model
  uint8_t value;      // set, tries: the new one; get, borrow, copied, begins: the one seen;
                      // sets if absent: the new one if OK, the one seen if PRESENT
  int8_t result;      // the C API's
  uint8_t deletion;   // begins, ends: its number; copied: that of the one up the stack, if any
};

struct Attribute {
  uint8_t value = 0;     // 0: none is attached
  uint8_t deletion = 0;  // the one of the value that has begun, or 0
  uint8_t tried = 0;     // the value of a set that will be refused
  bool freed = false;    // the keyval
  bool gone = false;

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

inline bool perform(Attribute& a, const Call& call) {
  const bool ok = call.result == ATTRCACHE_OK;
  if (call.result == ATTRCACHE_ERR_KEYVAL_STALE) {
    // A freed keyval may be gone as soon as nothing is attached. It need not be gone yet, because
    // the delete_fn of the last value may still be running. It ends in two steps: first nothing
    // can be set any more, then its int is stale. In between, get and delete return that nothing
    // is attached.
    if (!a.freed || a.value != 0) return false;
    a.gone = true;
    return true;
  }
  if (a.gone && (call.kind == Call::kSet || call.kind == Call::kSetsIfAbsent) && ok) return false;
  if (a.tried != 0 && call.kind != Call::kGet && call.kind != Call::kFree &&
      call.kind != Call::kPutsBack && (call.kind != Call::kSetsIfAbsent || ok)) {
    return false;
  }
  switch (call.kind) {
    case Call::kSet:
    case Call::kDelete:
      // A call that failed has changed nothing.
      if (!ok) return true;
      a.value = call.kind == Call::kSet ? call.value : 0;
      a.deletion = 0;
      return true;
    case Call::kGet: {
      const uint8_t seen = a.tried != 0 ? a.tried : a.value;
      return ok ? seen == call.value : seen == 0;
    }
    case Call::kSetsIfAbsent:
      if (call.result == ATTRCACHE_PRESENT)
        return call.value == (a.tried != 0 ? a.tried : a.value) && a.value != 0 && a.deletion == 0;
      if (!ok) return true;
      if (a.value != 0 && a.deletion == 0) return false;
      a.value = call.value;
      a.deletion = 0;
      return true;
    case Call::kBorrow:
      return ok ? a.value == call.value && a.deletion == 0 : a.value == 0 || a.deletion != 0;
    case Call::kCopied:
      return a.value == call.value && (a.deletion == 0 || a.deletion == call.deletion);
    case Call::kFree:
      a.freed = true;
      return true;
    case Call::kBegins:
      if (call.value == 0 && (a.value == 0 || a.deletion != 0))
        return true;  // it may not have begun
      if ((call.value != 0 && a.value != call.value) || a.deletion != 0) return false;
      a.deletion = call.deletion;
      return true;
    case Call::kEnds:
      // Otherwise it was replaced meanwhile, or deleted by another call.
      if (a.deletion == call.deletion) {
        a.deletion = 0;
        if (ok) a.value = 0;
      }
      return true;
    case Call::kTries:
      if (a.value == 0 || a.deletion != 0) return false;
      a.tried = call.value;
      return true;
    case Call::kPutsBack:
      if (a.tried != call.value) return false;
      a.tried = 0;
      if (!ok) a.value = 0;
      return true;
  }
  return false;
}

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_ATTRIBUTE_SPEC_H_
