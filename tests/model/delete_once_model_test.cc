// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Keyvals with destructor semantics, whose delete_fn always fails. Whatever races, each value is
// deleted once, is still attached, or was refused by a set; and the keyval ends.

#include "attrcache/attrcache.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

struct Once {
  static constexpr int kValues = 4;

  Once() {
    support::processors = 1;
    expect(attrcache_domain_create(nullptr, &domain) == ATTRCACHE_OK, "a domain is made");
    attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &kind);
    attrcache_callbacks callbacks = {};
    callbacks.copy_fn = ATTRCACHE_DUP_FN;
    callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(&fail);
    callbacks.extra_state = this;
    callbacks.flags = ATTRCACHE_DELETE_ONCE;
    callbacks.destructor = [](void* extra, void*) { ++static_cast<Once*>(extra)->destroyed; };
    expect(attrcache_keyval_create(kind, &callbacks, &keyval) == ATTRCACHE_OK, "a keyval");
    set(1);
  }
  static int fail(void*, int, void* value, void* extra) {
    ++static_cast<Once*>(extra)->gone[reinterpret_cast<intptr_t>(value)];
    return 7;
  }
  void set(int value) {
    int code = 0;
    const int result =
        attrcache_set_as(kind, &table, nullptr, keyval, value, ATTRCACHE_AS_POINTER, &code);
    if (result == ATTRCACHE_ERR_CALLBACK) ++gone[value];  // refused
    expect(result == ATTRCACHE_OK || code == 7, "the failure is returned");
    used[value] = true;
  }
  void erase() {
    int code = 0;
    const int result = attrcache_delete(kind, &table, nullptr, keyval, &code);
    expect(result == ATTRCACHE_OK || code == 7, "the failure is returned");
  }
  // A get finds what was set.
  void get() {
    void* value = nullptr;
    if (attrcache_get(kind, &table, keyval, &value) != ATTRCACHE_OK) return;
    const auto found = reinterpret_cast<intptr_t>(value);
    expect(found > 0 && found < kValues, "a value of some set");
  }
  void finish() {
    void* value = nullptr;
    if (attrcache_get(kind, &table, keyval, &value) == ATTRCACHE_OK) {
      ++gone[reinterpret_cast<intptr_t>(value)];
      attrcache_table_abandon(kind, &table);
    }
    for (int v = 1; v < kValues; ++v) expect(gone[v] == used[v], "each value once");
    expect(attrcache_keyval_free(kind, &keyval) == ATTRCACHE_OK, "freed");
    expect(destroyed == 1, "no value has kept its reference");
    attrcache_delete_all(kind, &table, nullptr, ATTRCACHE_DRAIN, nullptr);
    expect(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, nullptr) == ATTRCACHE_OK,
           "nothing is left");
  }

  attrcache_domain* domain = nullptr;
  attrcache_kind* kind = nullptr;
  attrcache_table table = ATTRCACHE_TABLE_INIT;
  int keyval = 0;
  int destroyed = 0;
  int gone[kValues] = {};
  bool used[kValues] = {};
};

template <typename... Programs>
void run(Programs... programs) {
  run_model({2, 1}, [=] {
    Once once;
    (spawn([&once, programs] { programs(once); }), ...);
    join();
    once.finish();
  });
}

constexpr auto set(int value) {
  return [=](Once& once) { once.set(value); };
}
constexpr auto erase = [](Once& once) { once.erase(); };
constexpr auto get = [](Once& once) { once.get(); };

TEST(DeleteOnce, SetBesideDelete) { run(set(2), erase); }
TEST(DeleteOnce, TwoSets) { run(set(2), set(3)); }
TEST(DeleteOnce, TwoDeletesBesideAGet) { run(erase, erase, get); }

// The borrower finds a value that isn't deleted meanwhile, or none.
TEST(DeleteOnce, BorrowBesideASet) {
  run(set(2), [](Once& once) {
    attrcache_borrowed borrowed = {};
    const int result = attrcache_borrow(once.kind, &once.table, once.keyval, &borrowed);
    if (result == ATTRCACHE_OK) {
      expect(once.gone[1] == 0 || borrowed.value != reinterpret_cast<void*>(intptr_t{1}),
             "a borrowed value isn't deleted");
      attrcache_give_back(&borrowed);
    }
    expect(result >= ATTRCACHE_OK, "found, or absent");
  });
}

}  // namespace
}  // namespace attrcache::model
