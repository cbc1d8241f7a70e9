// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// OpenSSL's ex_data, by libcrypto's public functions: attribute caching of another kind, with keys
// of a class, and functions that are called when an object is made, copied and freed.

#include <openssl/crypto.h>

#include "bench/harness/describe.h"

namespace {

constexpr int kClass = CRYPTO_EX_INDEX_APP;

struct OpensslExData {
  struct Object {
    CRYPTO_EX_DATA data;
    Object() { bench::require(CRYPTO_new_ex_data(kClass, this, &data) == 1, "make an object"); }
    ~Object() { CRYPTO_free_ex_data(kClass, this, &data); }
  };
  using Handle = Object*;
  using Key = int;

  static Handle handle(Object& object) { return &object; }
  static bool create_key(int* key) {
    *key = CRYPTO_get_ex_new_index(kClass, 0, nullptr, nullptr, nullptr, nullptr);
    return *key >= 0;
  }
  static bool free_key(int* key) { return CRYPTO_free_ex_index(kClass, *key) == 1; }
  static bool get(Object* object, int key, void** value) {
    *value = CRYPTO_get_ex_data(&object->data, key);
    return *value != nullptr;
  }
  static bool set(Object* object, int key, void* value) {
    return CRYPTO_set_ex_data(&object->data, key, value) == 1;
  }
  static bool erase(Object* object, int key) { return set(object, key, nullptr); }
  static bool dup_free(Object* object) {
    Object copy;
    return CRYPTO_dup_ex_data(kClass, &copy.data, &object->data) == 1;
  }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  // Creating and freeing an index isn't measured: indices are never reused, so objects would grow
  // without end. Only one thread at a time may set on an object.
  return describe<OpensslExData>("openssl_ex_data", {.share_writes = false, .keyvals = 1000});
}
