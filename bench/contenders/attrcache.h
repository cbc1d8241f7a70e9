// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// attrcache through its C API. The file that includes this chooses how it is linked, and which
// functions get and borrow call: those of the C API, or the inner ones that can be inlined.

#ifndef BENCH_CONTENDERS_ATTRCACHE_H_
#define BENCH_CONTENDERS_ATTRCACHE_H_

#include <attrcache/attrcache.h>

#include <cstdint>

#include "bench/harness/describe.h"

namespace bench {

// Makes a domain and returns its kind for communicators.
inline attrcache_kind* make_kind() {
  attrcache_domain* domain;
  require(attrcache_domain_create(nullptr, &domain) == ATTRCACHE_OK, "make a domain");
  attrcache_kind* kind;
  require(attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &kind) == ATTRCACHE_OK, "find it");
  return kind;
}

inline attrcache_kind* the_kind = nullptr;

template <auto kGet, auto kBorrow = attrcache_borrow, auto kGiveBack = attrcache_give_back>
struct Attrcache {
  struct Object {
    alignas(64) attrcache_table table = ATTRCACHE_TABLE_INIT;
    attrcache_kind* kind = the_kind;
    ~Object() { attrcache_delete_all(kind, &table, this, ATTRCACHE_DRAIN, nullptr); }
  };
  using Handle = Object*;
  using Key = int;
  static constexpr bool kRegistersKeys = true;

  static Handle handle(Object& object) { return &object; }
  static bool create_key(int* key) {
    attrcache_callbacks callbacks = {};
    callbacks.copy_fn = ATTRCACHE_DUP_FN;
    return attrcache_keyval_create(the_kind, &callbacks, key) == ATTRCACHE_OK;
  }
  static bool free_key(int* key) { return attrcache_keyval_free(the_kind, key) == ATTRCACHE_OK; }
  [[gnu::always_inline]] static bool get(Object* object, int key, void** value) {
    return kGet(object->kind, &object->table, key, value) == ATTRCACHE_OK;
  }
  [[gnu::always_inline]] static bool borrow(Object* object, int key, void** value) {
    attrcache_borrowed borrowed = {};
    if (kBorrow(object->kind, &object->table, key, &borrowed) != ATTRCACHE_OK) return false;
    *value = borrowed.value;
    return kGiveBack(&borrowed) == ATTRCACHE_OK;
  }
  static bool set(Object* object, int key, void* value) {
    return attrcache_set(object->kind, &object->table, object, key, value, nullptr) == ATTRCACHE_OK;
  }
  static bool erase(Object* object, int key) {
    return attrcache_delete(object->kind, &object->table, object, key, nullptr) == ATTRCACHE_OK;
  }
  static bool dup_free(Object* object) {
    alignas(64) attrcache_table copy = ATTRCACHE_TABLE_INIT;
    attrcache_kind* kind = object->kind;
    return attrcache_copy_all(kind, &object->table, object, &copy, &copy, nullptr) ==
               ATTRCACHE_OK &&
           attrcache_delete_all(kind, &copy, &copy, ATTRCACHE_STOP_AT_FAILURE, nullptr) ==
               ATTRCACHE_OK;
  }
  // This keyval is the first one of another domain, because a runtime makes its predefined keyvals
  // before its users make theirs.
  static Handle predefined(int* key) {
    static Object object{.kind = make_kind()};
    constexpr attrcache_predefined kTagUb = {sizeof(attrcache_predefined),
                                             501,
                                             ATTRCACHE_AS_INT,
                                             ATTRCACHE_PER_KIND,
                                             32767,
                                             nullptr,
                                             nullptr};
    attrcache_keyval_define(object.kind, &kTagUb);  // the first time
    *key = kTagUb.number;
    return &object;
  }
};

template <auto kGet, auto kBorrow = attrcache_borrow, auto kGiveBack = attrcache_give_back>
Contender describe_attrcache(const char* name) {
  the_kind = make_kind();
  return describe<Attrcache<kGet, kBorrow, kGiveBack>>(name);
}

}  // namespace bench

#endif  // BENCH_CONTENDERS_ATTRCACHE_H_
