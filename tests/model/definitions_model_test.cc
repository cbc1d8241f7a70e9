// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Predefined keyvals: defining, changing and reading one number.

#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

constexpr int kNumber = 12;

// What a definition's value points to. The defining thread writes it before it defines; a thread
// that gets the value reads it. So the explorer finds a race if get finds the value too early.
struct Cell {
  Plain<int> content;
};

struct Runtime {
  attrcache_domain* domain = nullptr;
  attrcache_kind* kind = nullptr;
  alignas(64) attrcache_table table = {};
  Cell cells[4];

  Runtime() {
    support::processors = 1;
    expect(attrcache_domain_create(nullptr, &domain) == ATTRCACHE_OK, "a domain is made");
    attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &kind);
  }

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
  int define(attrcache_predefined p, int cell) {
    cells[cell].content.write(cell);
    return define(p);
  }
  int define(attrcache_predefined p) { return attrcache_keyval_define(kind, &p); }
  int put(int cell) {
    cells[cell].content.write(cell);
    return attrcache_set_predefined(kind, kNumber, reinterpret_cast<intptr_t>(&cells[cell]));
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
    expect(cell >= cells && cell < cells + 4, "a value that was defined");
    expect(cell->content.read() == cell - cells, "and what it points to");
    return static_cast<int>(cell - cells);
  }
  void finish() {
    expect(attrcache_delete_all(kind, &table, nullptr, ATTRCACHE_DRAIN, nullptr) == ATTRCACHE_OK,
           "the object is freed");
    expect(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, nullptr) == ATTRCACHE_OK,
           "no reference is left");
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
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_KEYVAL_UNKNOWN, "defined or not");
    });
    join();
    r.finish();
  });
  EXPECT_GT(defined, 0);
  EXPECT_GT(changed, 0);
}

TEST(Definitions, TwoDefinitionsOfOneNumber) {
  run_model({3, 2}, [&] {
    Runtime r;
    int results[2];
    spawn([&] { results[0] = r.define(r.per_kind(0), 0); });
    spawn([&] { results[1] = r.define(r.computed(1), 1); });
    join();
    expect((results[0] == ATTRCACHE_OK) != (results[1] == ATTRCACHE_OK), "one defines it");
    expect(results[0] + results[1] == ATTRCACHE_ERR_EXISTS, "and the other gets an error");
    expect(r.get() == (results[0] == ATTRCACHE_OK ? 0 : 1), "get finds the one that succeeded");
    r.finish();
  });
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
      expect(counters.keyvals_created <= 1, "at most one");
    });
    join();
    r.finish();
  });
}

// The same by a thread that uses a number unknown to this kind, which another kind may know.
TEST(Definitions, ANewKindAgainstAnUnknownNumber) {
  int of_another = 0;
  run_model({3, 2}, [&] {
    Runtime r;
    spawn([&] {
      attrcache_kind* kind;
      expect(attrcache_kind_register(r.domain, nullptr, &kind) == ATTRCACHE_OK, "registered");
      const attrcache_predefined p = r.per_kind(0);
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
