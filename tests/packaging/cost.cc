// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Pairs of functions, by the C++ API (cxx_*) and by the C API (capi_*), that must compile to the
// same code. cost_test.sh compares them.

#include "attrcache/attrcache.hpp"

namespace {
struct Session {
  long before;
  attrcache_table attributes;
};
using Keyval = attrcache::Keyval<int, Session>;

// What a C program keeps to work in any domain, including the int that attrcache_get_renumbered takes.
struct InC {
  attrcache_kind* kind;
  attrcache_keyval_numbers numbers;
  int keyval;
  int for_get;
};
static_assert(sizeof(Keyval) == sizeof(InC));
}  // namespace

extern "C" {

int* cxx_get(const Keyval& keyval, const Session& session) { return keyval.get(session); }
int* capi_get(const InC& keyval, const Session& session) {
  void* value = nullptr;
  attrcache_get_renumbered(keyval.kind, &session.attributes, keyval.for_get, &value);
  return static_cast<int*>(value);
}

bool cxx_get_status(const Keyval& keyval, const Session& session, int*& value) {
  return keyval.get(session, value) == attrcache::Status::ok;
}
bool capi_get_status(const InC& keyval, const Session& session, int*& value) {
  void* found = nullptr;
  const int result =
      attrcache_get_renumbered(keyval.kind, &session.attributes, keyval.for_get, &found);
  if (result == ATTRCACHE_OK) value = static_cast<int*>(found);
  return result == ATTRCACHE_OK;
}

bool cxx_set(const Keyval& keyval, Session& session, int* value) {
  return static_cast<bool>(keyval.set(session, value));
}
bool capi_set(const InC& keyval, Session& session, int* value) {
  int code = 0;
  return attrcache_set(keyval.kind, &session.attributes, &session, keyval.keyval, value, &code) ==
         ATTRCACHE_OK;
}

bool cxx_delete(const Keyval& keyval, Session& session) {
  return static_cast<bool>(keyval.erase(session));
}
bool capi_delete(const InC& keyval, Session& session) {
  int code = 0;
  return attrcache_delete(keyval.kind, &session.attributes, &session, keyval.keyval, &code) ==
         ATTRCACHE_OK;
}

int cxx_borrow(const Keyval& keyval, Session& session) {
  const auto held = keyval.borrow(session);
  return held ? *held : -1;
}
int capi_borrow(const InC& keyval, Session& session) {
  attrcache_borrowed borrowed = {};
  const int result = attrcache_borrow(keyval.kind, &session.attributes, keyval.keyval, &borrowed);
  if (result != ATTRCACHE_OK) return -1;
  const int value = *static_cast<int*>(borrowed.value);
  attrcache_give_back(&borrowed);
  return value;
}

}  // extern "C"
