// SPDX-License-Identifier: Apache-2.0
//
// What the storms share: keyvals whose callbacks keep a ledger, and operations that enter in it
// what became of the values they were given.

#ifndef ATTRCACHE_TESTS_STRESS_STORM_H_
#define ATTRCACHE_TESTS_STRESS_STORM_H_

#include "tests/support/fixture.h"
#include "tests/support/ledger.h"
#include "tests/support/threads.h"

namespace attrcache::support {

inline std::atomic<int> overlaps{0};  // of a delete_fn with a copy_fn or borrower of the same value

inline int counting_delete(void*, int, void* value, void*) {
  Ledger::Value& v = *Ledger::at(value);
  v.in_delete = true;
  if (v.users != 0) ++overlaps;
  ++v.deleted;
  return 0;
}

// How moody_delete went in this thread, since it was reset.
struct Moods {
  int calls = 0;
  int failures = 0;
  Ledger::Value* failed = nullptr;  // the last one
};
inline thread_local Moods moods;

// Fails now and then: the value is then restored, or, if others have deleted or replaced it
// meanwhile, left detached.
inline int moody_delete(void* object, int keyval, void* value, void* extra) {
  thread_local Random random(reinterpret_cast<uintptr_t>(&random));
  ++moods.calls;
  const uint32_t dice = random.below(8);
  if (dice % 2 == 0) sched_yield();  // so that others come between
  if (dice >= 6) {
    ++moods.failures;
    moods.failed = Ledger::at(value);
    return 5;
  }
  return counting_delete(object, keyval, value, extra);
}

// Copies to a new value of the ledger in extra_state.
inline int counting_copy(void*, int keyval, void* extra, void* in, void* out, int* flag) {
  Ledger::Value& v = *Ledger::at(in);
  ++v.users;
  if (v.in_delete) ++overlaps;
  Ledger::Value* copy = static_cast<Ledger*>(extra)->make(keyval, nullptr);
  ++copy->handed_in;
  *static_cast<Ledger::Value**>(out) = copy;
  *flag = 1;
  if (v.in_delete) ++overlaps;
  --v.users;
  return 0;
}

template <typename Fn>
attrcache_callback* callback(Fn* fn) {
  return reinterpret_cast<attrcache_callback*>(fn);
}

inline int make_keyval(attrcache_kind* kind, attrcache_callback* copy, attrcache_callback* del,
                       void* extra, void (*destructor)(void*) = nullptr) {
  const attrcache_callbacks callbacks = {copy, del, extra, ATTRCACHE_C, destructor};
  int keyval = ATTRCACHE_KEYVAL_INVALID;
  EXPECT_EQ(attrcache_keyval_create(kind, &callbacks, &keyval), ATTRCACHE_OK);
  return keyval;
}

// Sets a new value, and enters what became of it.
inline int set_new(Ledger& ledger, Object& object, int keyval, int* code = nullptr) {
  Ledger::Value* value = ledger.make(keyval, &object);
  const int result = object.set(keyval, as_value(value), code);
  ++(result == ATTRCACHE_OK ? value->handed_in : value->refused);
  return result;
}

// Reads: a value that is found must be one of that attribute.
inline void check_get(const Object& object, int keyval) {
  void* found = nullptr;
  const int result = object.get(keyval, &found);
  if (result != ATTRCACHE_OK) return;
  const Ledger::Value& value = *Ledger::at(found);
  if (value.keyval != keyval || value.object != &object) ADD_FAILURE() << "out of thin air";
}

}  // namespace attrcache::support

#endif  // ATTRCACHE_TESTS_STRESS_STORM_H_
