// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the stress tests share: callbacks that count in a ledger what happens to each value, and
// operations that record there whether the value they were given was attached or refused.

#ifndef ATTRCACHE_TESTS_STRESS_STORM_H_
#define ATTRCACHE_TESTS_STRESS_STORM_H_

#include "tests/support/fixture.h"
#include "tests/support/ledger.h"
#include "tests/support/threads.h"

namespace attrcache::support {

// How often a value's delete_fn ran while a copy_fn or a borrower was using the same value. The
// library promises that this never happens.
inline std::atomic<int> overlaps{0};

inline int counting_delete(void*, int, void* value, void*) {
  Ledger::Value& v = *Ledger::at(value);
  v.in_delete = true;
  if (v.users != 0) ++overlaps;
  ++v.deleted;
  return 0;
}

// The value for which unreliable_delete has failed in this thread since the thread last reset it.
inline thread_local Ledger::Value* failed_value = nullptr;

// A delete_fn that fails at random. The library then restores the value, unless another thread has
// deleted or replaced it in the meantime: then the value stays detached.
inline int unreliable_delete(void* object, int keyval, void* value, void* extra) {
  thread_local Random random(reinterpret_cast<uintptr_t>(&random));
  const uint32_t choice = random.below(8);
  if (choice % 2 == 0) sched_yield();  // lets other threads run in the middle of the delete_fn
  if (choice >= 6) {
    failed_value = Ledger::at(value);
    return 5;
  }
  return counting_delete(object, keyval, value, extra);
}

// A copy_fn whose copy is a new value in the ledger that extra_state points to.
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

// Sets a new value and records in the ledger whether it was attached or refused.
inline int set_new(Ledger& ledger, Object& object, int keyval, int* code = nullptr) {
  Ledger::Value* value = ledger.make(keyval, &object);
  const int result = object.set(keyval, as_value(value), code);
  ++(result == ATTRCACHE_OK ? value->handed_in : value->refused);
  return result;
}

// The same by set_if_absent: whether something was attached already.
inline bool set_new_if_absent(Ledger& ledger, Object& object, int keyval) {
  Ledger::Value* value = ledger.make(keyval, &object);
  void* present = nullptr;
  const int result = attrcache_set_if_absent(object.kind, &object.table, &object, keyval,
                                             as_value(value), ATTRCACHE_AS_POINTER, &present);
  ++(result == ATTRCACHE_OK ? value->handed_in : value->refused);
  EXPECT_EQ(result == ATTRCACHE_PRESENT, present != nullptr) << attrcache_strerror(result);
  return present != nullptr;
}

// Gets the attribute. A value that is found must have been set on this object under this keyval.
inline void check_get(const Object& object, int keyval) {
  void* found = nullptr;
  const int result = object.get(keyval, &found);
  if (result != ATTRCACHE_OK) return;
  const Ledger::Value& value = *Ledger::at(found);
  if (value.keyval != keyval || value.object != &object) ADD_FAILURE() << "out of thin air";
}

}  // namespace attrcache::support

#endif  // ATTRCACHE_TESTS_STRESS_STORM_H_
