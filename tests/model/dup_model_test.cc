// SPDX-License-Identifier: Apache-2.0
//
// What is attached at every instant is copied: a set that replaces a value without delete_fn in one
// step is no deletion, and must not make copy_all miss the attribute.

#include "attrcache/attrcache.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

TEST(Dup, FindsWhatIsReplacedMeanwhile) {
  run_model({3}, [] {
    attrcache_domain_options options = {};
    options.stripes = 1;
    attrcache_domain* domain = nullptr;
    expect(attrcache_domain_create(&options, &domain) == ATTRCACHE_OK, "a domain is made");
    attrcache_kind* kind = attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR);
    attrcache_callbacks callbacks = {};
    callbacks.copy_fn = ATTRCACHE_DUP_FN;
    int keyval = 0;
    expect(attrcache_keyval_create(kind, &callbacks, &keyval) == ATTRCACHE_OK, "a keyval is made");
    attrcache_table tables[2] = {};
    const auto set = [&](intptr_t value) {
      const int result =
          attrcache_set(kind, &tables[0], nullptr, keyval, value, ATTRCACHE_AS_POINTER, nullptr);
      expect(result == ATTRCACHE_OK, "the set succeeds");
    };
    set(1);
    spawn([&] {
      set(2);
      set(3);
    });
    spawn([&] {
      attrcache_copy_all(kind, &tables[0], nullptr, &tables[1], nullptr, nullptr);
      void* copy = nullptr;
      const int result = attrcache_get(kind, &tables[1], keyval, &copy);
      const auto value = reinterpret_cast<intptr_t>(copy);
      expect(result == ATTRCACHE_OK && value >= 1 && value <= 3, "one of its values is copied");
    });
    join();
    for (attrcache_table& table : tables) {
      attrcache_delete_all(kind, &table, nullptr, ATTRCACHE_STOP_AT_FAILURE, nullptr);
    }
    expect(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, nullptr) == ATTRCACHE_OK,
           "nothing is left");
  });
}

}  // namespace
}  // namespace attrcache::model
