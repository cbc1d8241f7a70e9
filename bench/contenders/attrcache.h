// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// attrcache through its C API. The file that includes this chooses how it is linked, and which
// functions get and borrow call: those of the C API, or the inner ones that can be inlined.

#ifndef BENCH_CONTENDERS_ATTRCACHE_H_
#define BENCH_CONTENDERS_ATTRCACHE_H_

#include <attrcache/attrcache.h>

#include <cstdint>

#include "bench/contenders/used.h"
#include "bench/harness/describe.h"

namespace bench {

// Makes a domain and returns its kind for communicators.
inline attrcache_kind* make_kind(unsigned flags = 0) {
  attrcache_domain* domain;
  attrcache_domain_options options = {};
  options.size = sizeof options;
  options.flags = flags;
  require(attrcache_domain_create(&options, &domain) == ATTRCACHE_OK, "make a domain");
  attrcache_kind* kind;
  require(attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &kind) == ATTRCACHE_OK, "find it");
  return kind;
}

inline attrcache_kind* the_kind = nullptr;

// The first keyval of a domain of its own; its values are freed (used.h).
inline attrcache_kind* used_kind = nullptr;
inline int used_keyval = 0;
inline int free_used(void*, int, void* value, void*) { return Used::free(value), 0; }

template <auto kGet, auto kBorrow = attrcache_borrow, auto kGiveBack = attrcache_give_back>
struct Attrcache {
  struct Object {
    alignas(64) attrcache_table table = ATTRCACHE_TABLE_INIT;
    attrcache_kind* kind = the_kind;
    ~Object() { attrcache_delete_all(kind, &table, this, ATTRCACHE_DRAIN, nullptr); }
  };

  static bool create_key(int* key) {
    attrcache_callbacks callbacks = {};
    callbacks.copy_fn = ATTRCACHE_DUP_FN;
    return attrcache_keyval_create(the_kind, &callbacks, key) == ATTRCACHE_OK;
  }
  static bool create_calling_key(int* key) {
    attrcache_callbacks callbacks = {};
    attrcache_delete_fn* const nothing = [](void*, int, void*, void*) { return 0; };
    callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(nothing);
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
  static bool set_if_absent(Object* object, int key, void* value, void** present) {
    return attrcache_set_if_absent(object->kind, &object->table, object, key,
                                   reinterpret_cast<intptr_t>(value), ATTRCACHE_AS_POINTER,
                                   present) == ATTRCACHE_OK;
  }
  static void begin_use(Object* object) { object->kind = used_kind; }
  static bool replace(Object* object) { return set(object, used_keyval, Used::make()); }
  [[gnu::always_inline]] static bool use(Object* object) {
    attrcache_borrowed borrowed = {};
    if (kBorrow(object->kind, &object->table, used_keyval, &borrowed) != ATTRCACHE_OK) return false;
    static_cast<const Used*>(borrowed.value)->check();
    return kGiveBack(&borrowed) == ATTRCACHE_OK;
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
  static Object* predefined(int* key) {
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
Contender describe_attrcache(const char* name, unsigned flags = 0) {
  the_kind = make_kind(flags);
  used_kind = make_kind(flags);
  attrcache_callbacks callbacks = {};
  callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(free_used);
  require(attrcache_keyval_create(used_kind, &callbacks, &used_keyval) == ATTRCACHE_OK,
          "create a key");
  return describe<Attrcache<kGet, kBorrow, kGiveBack>>(name);
}

}  // namespace bench

#endif  // BENCH_CONTENDERS_ATTRCACHE_H_
