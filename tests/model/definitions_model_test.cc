// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Predefined keyvals: defining, changing and reading one number.

#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

constexpr int kNumber = 12;

// A definition's value is one of the fixture's. The defining thread writes its body before it
// defines; a thread that gets the value reads it. So the explorer finds a race if get finds the
// value too early.
struct Numbers : Fixture {
  int define(attrcache_kind* kind, int value) {
    values[value].body.write(value);
    attrcache_predefined p = {};
    p.number = kNumber;
    p.tag = ATTRCACHE_AS_POINTER;
    p.where = ATTRCACHE_PER_KIND;
    p.value = reinterpret_cast<intptr_t>(&values[value]);
    return attrcache_keyval_define(kind, &p);
  }
  attrcache_kind* new_kind() {
    attrcache_kind* kind;
    expect(attrcache_kind_register(domain(), nullptr, &kind) == ATTRCACHE_OK, "registered");
    return kind;
  }
  int put(int value) {
    values[value].body.write(value);
    return attrcache_set_predefined(kind(), kNumber, reinterpret_cast<intptr_t>(&values[value]));
  }
  // The value that get finds, which must have a body; or 0.
  int get() {
    void* found = nullptr;
    const int result = attrcache_get(kind(), &table(0), kNumber, &found);
    if (result != ATTRCACHE_OK) {
      expect(result == ATTRCACHE_ERR_KEYVAL_UNKNOWN, "it isn't defined yet");
      return 0;
    }
    const auto value = static_cast<int>(static_cast<Value*>(found) - values);
    expect(value > 0 && value <= kValues, "a value that was defined");
    expect(values[value].body.read() == value, "and what it points to");
    return value;
  }
};

TEST(Definitions, DefineAgainstGetAndSet) {
  const auto define = [](Numbers& n) { expect(n.define(n.kind(), 1) == ATTRCACHE_OK, "defined"); };
  const auto get = [](Numbers& n) {
    const int seen = n.get();
    reaches("defined", seen == 1);
    reaches("changed", seen == 2);
  };
  const auto put = [](Numbers& n) {
    const int result = n.put(2);
    expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_KEYVAL_UNKNOWN, "defined or not");
  };
  run_race<Numbers>({3, 2}, nothing, define, get, put);
}

TEST(Definitions, TwoDefinitionsOfOneNumber) {
  run_model({3, 2}, [&] {
    Numbers r;
    int results[2];
    for (int i = 0; i < 2; ++i) {
      spawn([&r, &results, i] { results[i] = r.define(r.kind(), i + 1); });
    }
    join();
    expect((results[0] == ATTRCACHE_OK) != (results[1] == ATTRCACHE_OK), "one defines it");
    expect(results[0] + results[1] == ATTRCACHE_ERR_EXISTS, "and the other gets an error");
    expect(r.get() == (results[0] == ATTRCACHE_OK ? 1 : 2), "get finds the one that succeeded");
    r.finish();
  });
}

// A kind that another thread has just registered is read through all kinds of the domain.
TEST(Definitions, ANewKindAgainstCounters) {
  const auto make_kind = [](Numbers& n) {
    int keyval;
    expect(attrcache_keyval_create(n.new_kind(), nullptr, &keyval) == ATTRCACHE_OK, "made");
  };
  const auto count = [](Numbers& n) {
    attrcache_counters counters;
    expect(attrcache_domain_counters(n.domain(), &counters) == ATTRCACHE_OK, "counted");
    expect(counters.keyvals_created <= 1, "at most one");
  };
  run_race<Numbers>({3, 2}, nothing, make_kind, count);
}

// The same by a thread that uses a number unknown to this kind, which another kind may know.
TEST(Definitions, ANewKindAgainstAnUnknownNumber) {
  const auto make_kind = [](Numbers& n) {
    expect(n.define(n.new_kind(), 1) == ATTRCACHE_OK, "defined");
  };
  const auto get = [](Numbers& n) {
    void* value;
    const int result = attrcache_get(n.kind(), &n.table(0), kNumber, &value);
    expect(result == ATTRCACHE_ERR_KEYVAL_UNKNOWN || result == ATTRCACHE_ERR_KEYVAL_KIND,
           "of another kind, or of none yet");
    reaches("of another", result == ATTRCACHE_ERR_KEYVAL_KIND);
  };
  run_race<Numbers>({3, 2}, nothing, make_kind, get);
}

}  // namespace
}  // namespace attrcache::model
