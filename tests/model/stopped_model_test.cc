// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Threads that stop for ever, at any step of a call. Whatever they leave behind, the others go on:
// with every other attribute, object and keyval, and with a get of the very same one.

#include <utility>

#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

constexpr int kFirst = 1;     // the value of the attribute that the stopped call is about
constexpr int kOtherKey = 2;  // of another attribute of that object
constexpr int kOtherObject = 3;
constexpr int kNext = 4;  // replaces kFirst
constexpr int kNew = 5;   // replaces one of the others

// Object 0 has an attribute under each of two keyvals, object 1 one under the first. All are known
// to be read.
void prepare(Fixture& f, Fixture::Callbacks callbacks) {
  f.make_key(callbacks);
  f.make_key(callbacks);
  f.set(0, 0, kFirst);
  f.set(0, 1, kOtherKey);
  f.set(1, 0, kOtherObject);
  for (const auto& [object, key] : {std::pair{0, 0}, {0, 1}, {1, 0}}) {
    attrcache_borrowed borrowed = {};
    if (f.borrow(object, key, &borrowed)) f.give_back(&borrowed);
  }
}

void borrow_and_give_back(Fixture& f, int object, int key) {
  attrcache_borrowed borrowed = {};
  if (f.borrow(object, key, &borrowed)) f.give_back(&borrowed);
}

// What must not be held up. A dup, in which a thread may stop, is about the other key's attribute,
// too.
enum class About { kOneKey, kAllKeys };
void use_others(Fixture& f, About stopped = About::kOneKey) {
  f.get(0, 0);
  if (stopped == About::kOneKey) {
    borrow_and_give_back(f, 0, 1);
    expect(f.set(0, 1, kNew) == ATTRCACHE_OK, "an attribute under another keyval is replaced");
    expect(f.erase(0, 1) == ATTRCACHE_OK, "and deleted");
  }
  borrow_and_give_back(f, 1, 0);
  expect(f.erase(1, 0) == ATTRCACHE_OK, "an attribute of another object is deleted");
}

void run_with_one_who_stops(Bound bound, void (*threads)(Fixture&)) {
  const auto program = [threads] {
    Fixture fixture;
    threads(fixture);
    join();
    fixture.finish();
  };
  run_model(bound, program, true);
}

TEST(Stopped, WhoReplaces) {
  run_with_one_who_stops({1, 0}, [](Fixture& f) {
    prepare(f, Fixture::kDelete);
    spawn([&f] { f.set(0, 0, kNext); });
    spawn([&f] { use_others(f); });
  });
}

TEST(Stopped, WhoReplacesWhatAnotherThreadBorrows) {
  run_with_one_who_stops({1, 0}, [](Fixture& f) {
    prepare(f, Fixture::kDelete);
    spawn([&f] { f.set(0, 0, kNext); });
    spawn([&f] { borrow_and_give_back(f, 0, 0); });
    spawn([&f] { use_others(f); });
  });
}

TEST(Stopped, WhoDeletes) {
  run_with_one_who_stops({1, 0}, [](Fixture& f) {
    prepare(f, Fixture::kDelete);
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { use_others(f); });
  });
}

// Also as it waits for the set.
TEST(Stopped, WhoBorrows) {
  run_with_one_who_stops({1, 0}, [](Fixture& f) {
    prepare(f, Fixture::kDelete);
    spawn([&f] { borrow_and_give_back(f, 0, 0); });
    spawn([&f] { f.set(0, 0, kNext); });
    spawn([&f] { use_others(f); });
  });
}

// A dup is about all attributes of the object.
TEST(Stopped, WhoCopies) {
  run_with_one_who_stops({1, 0}, [](Fixture& f) {
    prepare(f, Fixture::kCopy);
    spawn([&f] { f.copy(0, 2); });
    spawn([&f] { f.erase(0, 0); });
    spawn([&f] { use_others(f, About::kAllKeys); });
  });
}

// Makes a keyval, uses it on an object, and frees it before its attribute is deleted, or after
// that.
void make_use_and_free(Fixture& f, int object, bool before) {
  const attrcache_callbacks none = {};
  int keyval;
  expect(attrcache_keyval_create(f.kind(), &none, &keyval) == ATTRCACHE_OK, "a keyval is made");
  const int number = keyval;
  attrcache_table& table = f.table(object);
  expect(attrcache_set(f.kind(), &table, nullptr, number, 1, ATTRCACHE_AS_POINTER, nullptr) ==
             ATTRCACHE_OK,
         "it is used");
  if (before) expect(attrcache_keyval_free(f.kind(), &keyval) == ATTRCACHE_OK, "it is freed");
  expect(attrcache_delete(f.kind(), &table, nullptr, number, nullptr) == ATTRCACHE_OK,
         "its attribute is deleted");
  if (!before)
    expect(attrcache_keyval_free(f.kind(), &keyval) == ATTRCACHE_OK, "it is freed at last");
}

TEST(Stopped, WhoMakesUsesAndFreesAKeyval) {
  run_with_one_who_stops({1, 1}, [](Fixture& f) {
    prepare(f, Fixture::kDelete);
    spawn([&f] { make_use_and_free(f, 0, true); });
    spawn([&f] {
      make_use_and_free(f, 1, false);
      use_others(f);
    });
  });
}

}  // namespace
}  // namespace attrcache::model
