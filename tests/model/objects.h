// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The fixture of the models of dup and free: an old object and a new one, and keyvals whose
// callbacks record what they were called with.

#ifndef ATTRCACHE_TESTS_MODEL_OBJECTS_H_
#define ATTRCACHE_TESTS_MODEL_OBJECTS_H_

#include <functional>

#include "attrcache/attrcache.h"
#include "keyval/registry.h"
#include "tests/model/run_model.h"

namespace attrcache::model {

// Creates keyvals until one has this index. 0: it isn't free yet.
inline int create_at(attrcache_kind* kind, uint32_t index, const attrcache_callbacks* callbacks) {
  for (uint32_t i = 0; i < 2 * Registry::kRound + index / 2; ++i) {
    int keyval;
    expect(attrcache_keyval_create(kind, callbacks, &keyval) == ATTRCACHE_OK, "a keyval");
    if (id::index(id::of(keyval)) == index) return keyval;
    attrcache_keyval_free(kind, &keyval);
  }
  return 0;
}

enum class Copy { kNot, kDup, kCalled };
enum class Delete { kNoDeleteFn, kCalled };

// Two objects, the old and the new one, and the keyvals of two kinds.
struct Objects {
  static constexpr int kKeys = 18;
  static constexpr intptr_t kCopied = 100;  // what copy_fn adds to a value

  explicit Objects(unsigned stripes = 1) {
    support::processors = stripes;
    expect(attrcache_domain_create(nullptr, &domain) == ATTRCACHE_OK, "a domain is made");
    attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &kind);
    attrcache_kind_of(domain, ATTRCACHE_WINDOW, &other);
  }
  int make(Copy copy, Delete del, attrcache_kind* of) {
    attrcache_callbacks callbacks = {};
    if (copy == Copy::kDup) callbacks.copy_fn = ATTRCACHE_DUP_FN;
    if (copy == Copy::kCalled) callbacks.copy_fn = reinterpret_cast<attrcache_callback*>(&copy_fn);
    if (del == Delete::kCalled) {
      callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(&delete_fn);
    }
    callbacks.extra_state = this;
    callbacks.destructor = [](void* extra, void*) {
      auto& self = *static_cast<Objects*>(extra);
      self.extra.write(0);
      ++self.destroyed;
      if (self.on_destroy != nullptr) self.on_destroy(self);
    };
    int keyval;
    expect(attrcache_keyval_create(of, &callbacks, &keyval) == ATTRCACHE_OK, "a keyval");
    // Opens the stripes, so that every use but a keyval's first is explored.
    Registry& registry = Registry::of(of);
    if (registry.acquire(id::of(keyval)) != stripe::Name::kNone)
      registry.drop(id::of(keyval));  // opens its stripes
    return keyval;
  }
  // Creates the next keyval, which has the next index.
  void key(Copy copy, Delete del) { keys[made++] = make(copy, del, kind); }
  void keys_up_to(int count, Copy copy, Delete del) {
    while (made < count) key(copy, del);
  }
  void set(int k, intptr_t value, int object = 0) {
    expect(attrcache_set_as(kind, &tables[object], nullptr, keys[k], value, ATTRCACHE_AS_POINTER,
                            nullptr) == ATTRCACHE_OK,
           "the set succeeds");
  }
  void erase(int k) {
    expect(attrcache_delete(kind, &tables[0], nullptr, keys[k], nullptr) == ATTRCACHE_OK,
           "the delete succeeds");
  }
  int copy() { return attrcache_copy_all(kind, &tables[0], nullptr, &tables[1], nullptr, nullptr); }
  int erase_all(int object, attrcache_kind* of) {
    return attrcache_delete_all(of, &tables[object], nullptr, ATTRCACHE_STOP_AT_FAILURE, nullptr);
  }
  void free_key(int k) {
    int keyval = keys[k];
    expect(attrcache_keyval_free(kind, &keyval) == ATTRCACHE_OK, "freed");
    ++freed;
  }
  intptr_t value(int object, int k) {
    void* found = nullptr;
    return attrcache_get(kind, &tables[object], keys[k], &found) == ATTRCACHE_OK
               ? reinterpret_cast<intptr_t>(found)
               : 0;
  }
  uint64_t attributes() {
    attrcache_counters counters;
    attrcache_domain_counters(domain, &counters);
    return counters.attributes;
  }
  bool is_as_new(int object) { return model::is_as_new(tables[object]); }
  int times_deleted(intptr_t value) {
    int times = 0;
    for (int d = 0; d < deletions; ++d) times += deleted[d] == value;
    return times;
  }
  // Frees the objects and ends the domain, and checks that every reference was dropped.
  void finish() {
    unsigned attached = 0;
    for (int k = 0; k < made; ++k) attached += (value(0, k) != 0) + (value(1, k) != 0);
    expect(attributes() == attached, "as many references as attributes");
    for (int object = 0; object < 2; ++object) {
      expect(support::counts_are_right(tables[object]), "what is attached is counted");
      expect(erase_all(object, kind) == ATTRCACHE_OK, "the objects are freed");
      expect(is_as_new(object), "a freed object's table is empty");
    }
    expect(attributes() == 0 && destroyed == freed, "every freed keyval is gone");
    expect(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, nullptr) == ATTRCACHE_OK,
           "nothing is left");
  }

  static int copy_fn(void*, int, void*, void* in, void* out, int* flag) {
    *static_cast<void**>(out) = reinterpret_cast<void*>(reinterpret_cast<intptr_t>(in) + kCopied);
    *flag = 1;
    return 0;
  }
  static int delete_fn(void*, int, void* given, void* extra) {
    auto& self = *static_cast<Objects*>(extra);
    const auto value = reinterpret_cast<intptr_t>(given);
    if (const auto call = self.on_delete) call(self, value);
    if (self.failures != 0) return self.failures--;
    self.deleted[self.deletions++] = value;
    return 0;
  }

  attrcache_domain* domain = nullptr;
  attrcache_kind* kind = nullptr;
  attrcache_kind* other = nullptr;
  int keys[kKeys] = {};
  int made = 0;
  alignas(64) attrcache_table tables[2] = {};
  std::function<void(Objects&, intptr_t value)> on_delete;
  std::function<void(Objects&)> on_destroy;
  unsigned copier = 0;  // a thread's ordinal
  int older_seen = 0;
  intptr_t deleted[24] = {};  // the values for which delete_fn was called, in this order
  int deletions = 0;
  int failures = 0;  // how often delete_fn is to fail
  int freed = 0;     // keyvals
  int destroyed = 0;
  Plain<int> extra{1};  // checked by the destructor
};

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_OBJECTS_H_
