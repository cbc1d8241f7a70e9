// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// get without a lock, and one small lock in each object (locked_object.h).

#include "bench/contenders/locked_object.h"

#include "bench/contenders/counted_keys.h"
#include "bench/contenders/used.h"
#include "bench/harness/describe.h"

namespace {

struct Locked : bench::CountedKeys {
  using Object = bench::LockedObject;
  using Handle = Object*;

  static Handle handle(Object& object) { return &object; }
  static bool get(Object* object, int key, void** value) { return object->get(key, value); }
  static bool borrow(Object* object, int key, void** value) {
    Object::Held held;
    if (!object->borrow(key, &held)) return false;
    *value = held.value;
    return object->give_back(held) == 0;
  }
  static bool set(Object* object, int key, void* value) { return object->set(key, value) == 0; }
  static bool set_if_absent(Object* object, int key, void* value, void** present) {
    return object->set_if_absent(key, value, present);
  }
  static bool erase(Object* object, int key) { return object->erase(key) == 0; }
  static bool dup_free(Object* object) {
    Object copy;
    return object->copy_to(copy) == 0;
  }

  // A key that the harness doesn't use, for values that are freed.
  static constexpr int kUsed = 100;
  static bool replace(Object* object) { return object->set(kUsed, bench::Used::make()) == 0; }
  static bool use(Object* object) {
    Object::Held held;
    if (!object->borrow(kUsed, &held)) return false;
    static_cast<bench::Used*>(held.value)->check();
    return object->give_back(held) == 0;
  }
};

int free_used(void*, int, void* value, void*) {
  bench::Used::free(value);
  return 0;
}

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  bench::LockedObject::define(Locked::kUsed, {nullptr, free_used, nullptr});
  return describe<Locked>("locked_object");
}
