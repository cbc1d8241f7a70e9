// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// An array of pointers under liburcu, in its memb flavour. Readers need no fence. A writer that needs
// more room replaces the array by a bigger one.

#include <urcu.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "bench/contenders/used.h"
#include "bench/harness/describe.h"

namespace {

struct Array {
  rcu_head head;
  int size;
  void* values[];
};

struct UrcuArray : bench::CountedKeys {
  struct Thread {
    Thread() { rcu_register_thread(); }
    ~Thread() { rcu_unregister_thread(); }
  };

  struct Object {
    Array* array = nullptr;
    std::mutex mutex;
    bench::Used* used = nullptr;
    ~Object() {
      std::free(array);
      std::free(used);
    }
  };

  static bool get(Object* object, int key, void** value) {
    rcu_read_lock();
    const Array* array = rcu_dereference(object->array);
    *value = array != nullptr && key < array->size ? rcu_dereference(array->values[key]) : nullptr;
    rcu_read_unlock();
    return *value != nullptr;
  }
  // The value is alive up to the unlock.
  static bool borrow(Object* object, int key, void** value) { return get(object, key, value); }
  static bool set(Object* object, int key, void* value) {
    const std::lock_guard hold(object->mutex);
    if (object->array == nullptr || key >= object->array->size) grow(object, key + 1);
    publish(&object->array->values[key], value);
    return true;
  }
  static bool use(Object* object) {
    rcu_read_lock();
    rcu_dereference(object->used)->check();
    rcu_read_unlock();
    return true;
  }
  static bool replace(Object* object) {
    bench::Used* const old =
        __atomic_exchange_n(&object->used, bench::Used::make(), __ATOMIC_ACQ_REL);
    if (old != nullptr) {
      static_assert(sizeof(rcu_head) == sizeof old->link);
      call_rcu(reinterpret_cast<rcu_head*>(old->link),
               [](rcu_head* head) { bench::Used::free(head); });
    }
    return true;
  }
  static bool erase(Object* object, int key) {
    const std::lock_guard hold(object->mutex);
    publish<void>(&object->array->values[key], nullptr);
    return true;
  }

 private:
  // Does what rcu_assign_pointer does, which clang doesn't compile as C++.
  template <class T>
  static void publish(T** place, T* value) {
    __atomic_store_n(place, value, __ATOMIC_RELEASE);
  }

  static void grow(Object* object, int size) {
    Array* old = object->array;
    auto* array = static_cast<Array*>(std::calloc(1, sizeof(Array) + size * sizeof(void*)));
    array->size = size;
    if (old != nullptr) std::memcpy(array->values, old->values, old->size * sizeof(void*));
    publish(&object->array, array);
    if (old != nullptr) {
      call_rcu(&old->head, [](rcu_head* head) { std::free(head); });
    }
  }
};
static_assert(offsetof(Array, head) == 0);

}  // namespace

bench::Contender bench::make_contender(int*, char**) { return describe<UrcuArray>("urcu_array"); }
