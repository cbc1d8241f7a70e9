// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Predefined keyvals: defining and reading one number, and the indices that PER_OBJECT ones share
// with the keyvals of users.

#include "attrcache/attrcache.h"
#include "keyval/registry.h"
#include "tests/model/explorer/plain.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

constexpr int kNumber = 12;

// What a definition's value points to. Whoever defines writes it before, whoever reads it by get
// reads it: so the explorer finds a race where the value is had and what it points to isn't.
struct Cell {
  Plain<int> content;
};

struct Runtime {
  attrcache_domain* domain = nullptr;
  attrcache_kind* kind = nullptr;
  alignas(64) attrcache_table table = {};
  Cell cells[4];

  Runtime() {
    attrcache_domain_options options = {};
    options.stripes = 1;
    expect(attrcache_domain_create(&options, &domain) == ATTRCACHE_OK, "a domain is made");
    kind = attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR);
  }
  Registry& registry() const { return *reinterpret_cast<Registry*>(kind); }

  attrcache_predefined per_kind(int cell) {
    attrcache_predefined p = {};
    p.number = kNumber;
    p.tag = ATTRCACHE_AS_POINTER;
    p.where = ATTRCACHE_PER_KIND;
    p.value = reinterpret_cast<intptr_t>(&cells[cell]);
    return p;
  }
  attrcache_predefined computed(int cell) {
    attrcache_predefined p = {};
    p.number = kNumber;
    p.tag = ATTRCACHE_AS_POINTER;
    p.where = ATTRCACHE_COMPUTED;
    p.compute = [](const attrcache_table*, void* context) -> const void* { return context; };
    cell_address[cell] = &cells[cell];
    p.context = &cell_address[cell];
    return p;
  }
  static attrcache_predefined per_object(int number) {
    attrcache_predefined p = {};
    p.number = number;
    p.tag = ATTRCACHE_AS_INT;
    p.where = ATTRCACHE_PER_OBJECT;
    return p;
  }
  int define(attrcache_predefined p, int cell) {
    cells[cell].content.write(cell);
    return define(p);
  }
  int define(attrcache_predefined p) { return attrcache_keyval_define(kind, &p); }
  int put(int cell) {
    cells[cell].content.write(cell);
    return attrcache_set_predefined(kind, nullptr, kNumber,
                                    reinterpret_cast<intptr_t>(&cells[cell]));
  }
  // The number of the cell that get finds; or -1.
  int get() {
    void* value = nullptr;
    const int result = attrcache_get(kind, &table, kNumber, &value);
    if (result != ATTRCACHE_OK) {
      expect(result == ATTRCACHE_ERR_KEYVAL_UNKNOWN, "it isn't defined yet");
      return -1;
    }
    auto* cell = static_cast<Cell*>(value);
    expect(cell >= cells && cell < cells + 4, "a value that was given");
    expect(cell->content.read() == cell - cells, "and what it points to");
    return static_cast<int>(cell - cells);
  }
  void finish() {
    expect(attrcache_delete_all(kind, &table, nullptr, ATTRCACHE_DRAIN, nullptr) == ATTRCACHE_OK,
           "the object is freed");
    attrcache_leaks leaks;
    expect(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, &leaks) == ATTRCACHE_OK,
           "no reference is left");
    expect(leaks.freed_keyvals == 0, "none of another thread's definition is left");
  }

  void* cell_address[4] = {};
};

TEST(Definitions, DefineAgainstGetAndSet) {
  int defined = 0, changed = 0;
  run_model({3, 2}, [&] {
    Runtime r;
    spawn([&] { expect(r.define(r.per_kind(0), 0) == ATTRCACHE_OK, "defined"); });
    spawn([&] {
      const int seen = r.get();
      if (seen == 0) ++defined;
      if (seen == 1) ++changed;
    });
    spawn([&] {
      const int result = r.put(1);
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_NULL, "defined or not");
    });
    join();
    r.finish();
  });
  EXPECT_GT(defined, 0);
  EXPECT_GT(changed, 0);
}

TEST(Definitions, TwoThatDefineOneNumber) {
  run_model({3, 2}, [&] {
    Runtime r;
    int results[2];
    spawn([&] { results[0] = r.define(r.per_kind(0), 0); });
    spawn([&] { results[1] = r.define(r.computed(1), 1); });
    join();
    expect((results[0] == ATTRCACHE_OK) != (results[1] == ATTRCACHE_OK), "one defines it");
    expect(results[0] + results[1] == ATTRCACHE_ERR_ARGUMENT, "and the other is told so");
    expect(r.get() == (results[0] == ATTRCACHE_OK ? 0 : 1), "it is that one's");
    r.finish();
  });
}

// The same of the last number that a kind can have: its second definition is told that it is
// defined, not that there is no place; and nothing is left of the keyval that it had made.
TEST(Definitions, TwoThatDefineTheLastNumber) {
  int undone = 0;
  run_model({2, 2}, [&] {
    Runtime r;
    for (int number = 100; number < 147; ++number) {
      attrcache_predefined p = r.per_kind(0);
      p.number = number;
      expect(r.define(p) == ATTRCACHE_OK, "a filler");
    }
    int results[2];
    for (int t = 0; t < 2; ++t) {
      spawn([&r, &results, t] { results[t] = r.define(Runtime::per_object(kNumber)); });
    }
    join();
    expect(results[0] + results[1] == ATTRCACHE_ERR_ARGUMENT, "one, and the other is told so");
    const Registry::Counts counts = r.registry().counts();
    expect(counts.created - counts.gone == 1, "one keyval");
    undone += counts.gone == 1;
    expect(r.define(Runtime::per_object(1)) == ATTRCACHE_ERR_KEYVALS_EXHAUSTED, "full");
    expect(attrcache_set_predefined(r.kind, &r.table, kNumber, 5) == ATTRCACHE_OK, "set");
    r.finish();
  });
  EXPECT_GT(undone, 0);
}

// Users' keyvals have their numbers at once, or are told that there is none yet.
TEST(Definitions, PerObjectAgainstItsUse) {
  int set = 0;
  run_model({3, 2}, [&] {
    Runtime r;
    spawn([&] { expect(r.define(Runtime::per_object(kNumber)) == ATTRCACHE_OK, "defined"); });
    spawn([&] {
      const int result = attrcache_set_predefined(r.kind, &r.table, kNumber, 5);
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_KEYVAL_UNKNOWN, "set, or unknown");
      int value = 0;
      const int got = attrcache_get_fint(r.kind, &r.table, kNumber, &value);
      expect(result != ATTRCACHE_OK || (got == ATTRCACHE_OK && value == 5), "and got");
      set += result == ATTRCACHE_OK;
    });
    join();
    r.finish();
  });
  EXPECT_GT(set, 0);
}

// The last index of the first chunk: a user's new keyval and a definition both come to it.
TEST(Definitions, AnIndexIsAUsersOrADefinitions) {
  int of_user = 0, definitions = 0;
  run_model({2, 2}, [&] {
    Runtime r;
    int keyval;
    for (uint32_t i = 0; i + 1 < Registry::kFirstChunkLength; ++i) {
      expect(attrcache_keyval_create(r.kind, nullptr, &keyval) == ATTRCACHE_OK, "a filler");
    }
    constexpr uint32_t kLast = Registry::kFirstChunkLength - 1;
    spawn([&] {
      expect(attrcache_keyval_create(r.kind, nullptr, &keyval) == ATTRCACHE_OK, "made");
      const uint32_t index = id::index(id::of(keyval));
      expect(index == kLast || index == kLast + 1, "the next free one");
      if (index == kLast) ++of_user;
    });
    spawn([&] { expect(r.define(Runtime::per_object(1)) == ATTRCACHE_OK, "defined"); });
    join();
    const uint32_t of_definition = id::index(r.registry().definitions().find(1)->keyval);
    const uint32_t of_users = id::index(id::of(keyval));
    expect((of_users == kLast) != (of_definition == kLast), "one of the two has it");
    expect(of_users != of_definition, "never both");
    definitions += of_definition == kLast;
    r.finish();
  });
  EXPECT_GT(of_user, 0);
  EXPECT_GT(definitions, 0);
}

// Whoever lists keyvals finds the chunk of an index that a definition has just taken.
TEST(Definitions, TheFirstDefinitionAgainstIntrospection) {
  int listed = 0;
  run_model({3, 2}, [&] {
    Runtime r;
    spawn([&] { r.define(Runtime::per_object(kNumber)); });
    spawn([&] {
      attrcache_keyval_info info[2];
      size_t count = 0;
      expect(attrcache_keyval_list(r.kind, info, 2, &count) == ATTRCACHE_OK, "listed");
      expect(count <= 1, "at most the one");
      expect(count == 0 || info[0].keyval == kNumber, "under its number");
      listed += count == 1;
      attrcache_counters counters;
      attrcache_domain_counters(r.domain, &counters);
    });
    join();
    attrcache_counters counters;
    attrcache_domain_counters(r.domain, &counters);
    expect(counters.keyvals_created == 1, "counted");
    r.finish();
  });
  EXPECT_GT(listed, 0);
}

// A kind that another thread has just registered is read through all kinds of the domain.
TEST(Definitions, ANewKindAgainstCounters) {
  run_model({3, 2}, [&] {
    Runtime r;
    spawn([&] {
      attrcache_kind* kind;
      int keyval;
      expect(attrcache_kind_register(r.domain, nullptr, &kind) == ATTRCACHE_OK, "registered");
      expect(attrcache_keyval_create(kind, nullptr, &keyval) == ATTRCACHE_OK, "made");
    });
    spawn([&] {
      attrcache_counters counters;
      expect(attrcache_domain_counters(r.domain, &counters) == ATTRCACHE_OK, "counted");
      expect(counters.keyvals_created <= 1, "at most the one");
    });
    join();
    r.finish();
  });
}

// The same by who uses a number that this kind doesn't know, and another one may.
TEST(Definitions, ANewKindAgainstAnUnknownNumber) {
  int of_another = 0;
  run_model({3, 2}, [&] {
    Runtime r;
    spawn([&] {
      attrcache_kind* kind;
      expect(attrcache_kind_register(r.domain, nullptr, &kind) == ATTRCACHE_OK, "registered");
      const attrcache_predefined p = Runtime::per_object(kNumber);
      expect(attrcache_keyval_define(kind, &p) == ATTRCACHE_OK, "defined");
    });
    spawn([&] {
      void* value;
      const int result = attrcache_get(r.kind, &r.table, kNumber, &value);
      expect(result == ATTRCACHE_ERR_KEYVAL_UNKNOWN || result == ATTRCACHE_ERR_KEYVAL_KIND,
             "of another kind, or of none yet");
      of_another += result == ATTRCACHE_ERR_KEYVAL_KIND;
    });
    join();
    r.finish();
  });
  EXPECT_GT(of_another, 0);
}

}  // namespace
}  // namespace attrcache::model
