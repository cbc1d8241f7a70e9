// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Every condition under which dup and free must not copy or delete an attribute at once
// (lib/table/dup.cc, free.cc), as far as a single thread can show it. dup_free_model_test.cc tests
// the races.

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/model/objects.h"

namespace attrcache::model {
namespace {

// Runs one thread, then frees the objects.
template <typename Body>
void alone(Body body) {
  run_model({}, [=] {
    Objects o;
    body(o);
    o.finish();
  });
}

// ---- All conditions but what callbacks do ----

// A keyval, and what happened to it after it was used.
struct Type {
  Copy copy;
  Delete del;
  bool freed;
};
constexpr Type kTypes[] = {
    {Copy::kDup, Delete::kNoDeleteFn, false},    {Copy::kDup, Delete::kCalled, false},
    {Copy::kCalled, Delete::kNoDeleteFn, false}, {Copy::kCalled, Delete::kCalled, false},
    {Copy::kNot, Delete::kNoDeleteFn, false},    {Copy::kNot, Delete::kCalled, false},
    {Copy::kDup, Delete::kNoDeleteFn, true},     {Copy::kDup, Delete::kCalled, true},
    {Copy::kCalled, Delete::kCalled, true},      {Copy::kNot, Delete::kNoDeleteFn, true}};

// An object's attributes, set in this order, are copied; then both objects are freed, one of them
// first. Each callback comes in its turn, the youngest attribute's first: its delete_fn, and its
// keyval's destructor after the last use. It finds what is older, and nothing that is younger.
void copy_and_free(const std::vector<int>& set, const std::vector<Type>& types, int first) {
  Objects o;
  for (int k = 0; k <= *std::max_element(set.begin(), set.end()); ++k) {
    const auto at = std::find(set.begin(), set.end(), k);
    const Type type = at != set.end() ? types[at - set.begin()] : kTypes[0];
    o.key(type.copy, type.del);
  }
  o.set(set.back(), 99);  // and is the youngest when it is replaced
  for (const int k : set) o.set(k, k + 1);
  o.deletions = 0;
  std::vector<size_t> of[2];  // an object's attributes
  for (size_t i = 0; i < set.size(); ++i) {
    if (types[i].freed) o.free_key(set[i]);
    of[0].push_back(i);
    if (types[i].copy != Copy::kNot) of[1].push_back(i);
  }
  const auto value = [&](int object, size_t i) {
    const bool made = object == 1 && types[i].copy == Copy::kCalled;
    return intptr_t{set[i] + 1} + (made ? Objects::kCopied : 0);
  };
  expect(o.copy() == ATTRCACHE_OK && o.deletions == 0, "copied, and nothing deleted");
  for (const size_t i : of[1]) expect(o.value(1, set[i]) == value(1, i), "each is copied");
  expect(o.attributes() == of[0].size() + of[1].size(), "as many references as attributes");
  expect(!of[1].empty() || o.is_as_new(1), "nothing copied: the new table is as new");
  for (const int object : {first, 1 - first}) {
    std::vector<std::pair<intptr_t, size_t>> expected, seen;  // 0 or a value; what is attached
    for (size_t n = of[object].size(); n-- > 0;) {
      const size_t i = of[object][n];
      const bool last = object != first || (object == 0 && types[i].copy == Copy::kNot);
      if (types[i].del == Delete::kCalled) expected.push_back({value(object, i), n + 1});
      if (types[i].freed && last) expected.push_back({0, n});
    }
    const auto look = [&](intptr_t deleted) {
      size_t attached = 0;
      for (size_t n = 0; n < of[object].size(); ++n) {
        if (o.value(object, set[of[object][n]]) == 0) continue;
        expect(attached++ == n, "all that is older is attached");
      }
      seen.push_back({deleted, attached});
    };
    o.on_delete = [&](Objects&, intptr_t deleted) { look(deleted); };
    o.on_destroy = [&](Objects&) { look(0); };
    expect(o.erase_all(object, o.kind) == ATTRCACHE_OK && seen == expected, "each in its turn");
    o.on_delete = nullptr;
    o.on_destroy = nullptr;
  }
  o.finish();
}

// In the object itself, the first leaf, a leaf, the tree; all of one type but one or two.
TEST(AtOnce, AnyTwoAmongOthers) {
  const std::vector<int> places[] = {
      {0, 1, 2},           {0, 4}, {9, 0, 1}, {0, 70}, {10, 9}, {0, 4, 9, 17, 64, 70, 71, 72},
      {9, 0, 70, 4, 64, 1}};
  for (const std::vector<int>& set : places) {
    for (const Type& others : {kTypes[0], kTypes[1], kTypes[3]}) {
      for (size_t one = 0; one < set.size(); ++one) {
        for (size_t two = one + 1; two < set.size(); ++two) {
          for (const Type& first : kTypes) {
            for (const Type& second : kTypes) {
              std::vector<Type> types(set.size(), others);
              types[one] = first;
              types[two] = second;
              const Result result = explore({}, [&] { copy_and_free(set, types, one % 2); });
              ASSERT_TRUE(result.ok())
                  << set.size() << " attributes, of these " << one << " is " << &first - kTypes
                  << ", " << two << " is " << &second - kTypes;
            }
          }
        }
      }
    }
  }
}

// ---- What callbacks do ----

TEST(AtOnce, CopyToAnObjectWithAttributes) {
  alone([](Objects& o) {
    o.keys_up_to(5, Copy::kDup, Delete::kCalled);
    o.set(0, 1);
    o.set(0, 5, 1);
    expect(o.copy() == ATTRCACHE_OK && o.value(1, 0) == 1, "copied");
    expect(o.deletions == 1 && o.deleted[0] == 5, "what was there is deleted");
  });
}

// Calls with another kind than the object's, whose keyvals have the same indices; or which has none.
void calls_with_another_kind(Copy copy, bool has_keyvals) {
  alone([=](Objects& o) {
    o.key(copy, Delete::kNoDeleteFn);
    if (has_keyvals) o.make(copy, Delete::kNoDeleteFn, o.other);
    o.set(0, 1);
    expect(attrcache_copy_all(o.other, &o.tables[0], nullptr, &o.tables[1], nullptr, nullptr) ==
               ATTRCACHE_ERR_KEYVAL_KIND,
           "copy_all");
    expect(o.erase_all(0, o.other) == ATTRCACHE_ERR_KEYVAL_KIND, "delete_all");
    expect(attrcache_set_as(o.other, &o.tables[0], nullptr, o.keys[0], 2, ATTRCACHE_AS_POINTER,
                            nullptr) == ATTRCACHE_ERR_KEYVAL_KIND,
           "set that replaces");
    expect(attrcache_delete(o.other, &o.tables[0], nullptr, o.keys[0], nullptr) ==
               ATTRCACHE_ERR_KEYVAL_KIND,
           "delete");
    expect(attrcache_set_as(o.other, &o.tables[1], nullptr, o.keys[0], 2, ATTRCACHE_AS_POINTER,
                            nullptr) == ATTRCACHE_ERR_KEYVAL_KIND,
           "set that attaches");
    expect(o.value(0, 0) == 1 && o.attributes() == 1, "nothing has changed");
  });
}
TEST(AtOnce, AnotherKind) {
  for (const Copy copy : {Copy::kDup, Copy::kNot}) {
    for (const bool has_keyvals : {true, false}) calls_with_another_kind(copy, has_keyvals);
  }
}

// A copy_fn replaces an attribute that is copied after its own, by DUP_FN: the new value is copied,
// and the attribute isn't there before. What is then attached to the new object is the youngest.
TEST(AtOnce, CopyFnsFindWhatThoseBeforeHaveDone) {
  alone([](Objects& o) {
    o.keys_up_to(1, Copy::kDup, Delete::kCalled);
    o.keys_up_to(2, Copy::kCalled, Delete::kCalled);
    o.keys_up_to(3, Copy::kDup, Delete::kCalled);
    o.set(1, 1);
    o.set(0, 2);
    o.on_copy = [](Objects& self) {
      self.on_copy = nullptr;
      expect(self.value(1, 0) == 0, "copied in order");
      for (const intptr_t value : {3, 4, 5}) self.set(0, value);
    };
    expect(o.copy() == ATTRCACHE_OK && o.value(1, 0) == 5, "copied");
    o.set(2, 6, 1);
    o.deletions = 0;
    expect(o.erase_all(1, o.kind) == ATTRCACHE_OK && o.deletions == 3, "freed");
    const intptr_t youngest_first[] = {6, 5, 1 + Objects::kCopied};
    for (int d = 0; d < 3; ++d) expect(o.deleted[d] == youngest_first[d], "the youngest first");
  });
}

// A delete_fn that attaches something to the object that is being freed: where nothing is, and in
// the place of its own value.
TEST(AtOnce, DeleteThatAttaches) {
  for (const int at : {0, 1, 2, 9}) {
    alone([=](Objects& o) {
      o.keys_up_to(10, Copy::kCalled, Delete::kCalled);
      o.set(0, 1);
      o.set(1, 2);
      o.older_seen = at;
      o.on_delete = [](Objects& self, intptr_t) {
        self.on_delete = nullptr;
        attrcache_set_as(self.kind, &self.tables[0], nullptr, self.keys[self.older_seen], 3,
                         ATTRCACHE_AS_POINTER, nullptr);
      };
      expect(o.erase_all(0, o.kind) == ATTRCACHE_OK, "freed");
      expect(o.is_as_new(0) && o.attributes() == 0, "nothing is left");
      expect(o.deletions == 3 && o.times_deleted(3) == 1, "each is deleted");
    });
  }
}

// A set's own delete_fn ends the object. That deletes the value that the set has attached, and the
// set returns OK; otherwise its caller would delete the value once more. Nor does the set touch
// what delete_fn has attached to the same memory since.
TEST(AtOnce, FreeWithinTheDeleteFnOfASet) {
  for (const int failures : {0, 1}) {
    alone([=](Objects& o) {
      o.key(Copy::kNot, Delete::kCalled);
      o.set(0, 1);
      o.on_delete = [=](Objects& self, intptr_t value) {
        if (value != 1) return;
        expect(self.erase_all(0, self.kind) == ATTRCACHE_OK && self.times_deleted(2) == 1, "freed");
        self.set(0, 3);
        self.set(0, 2);  // with the same number as before
        self.failures = failures;
      };
      o.set(0, 2);
      expect(o.erase_all(0, o.kind) == ATTRCACHE_OK && o.times_deleted(2) == 2,
             "the new value was attached");
      expect(o.times_deleted(1) == 1 - failures && o.times_deleted(3) == 1, "each once");
    });
  }
}

}  // namespace
}  // namespace attrcache::model
