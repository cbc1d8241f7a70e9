// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Predefined keyvals with numbers of the runtime's choice: defining, undefining and reading one
// number, and the indices that PER_OBJECT ones share with the keyvals of users.

#include "attrcache/attrcache.h"
#include "keyval/registry.h"
#include "tests/model/explorer/plain.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

constexpr int kNumber = 12;

// What a definition's value points to. Whoever defines writes it before, whoever reads it by get reads
// it: so the explorer finds a race where the value is had and what it points to isn't.
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
  int undefine(int number = kNumber) { return attrcache_keyval_undefine(kind, number); }
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
      expect(result == ATTRCACHE_ERR_KEYVAL_UNKNOWN || result == ATTRCACHE_ERR_KEYVAL_STALE,
             "it isn't defined now");
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
    expect(leaks.freed_keyvals == 0, "undefined ones have ended");
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
  int busy = 0, both = 0;
  run_model({3, 2}, [&] {
    Runtime r;
    int results[2];
    spawn([&] { results[0] = r.define(r.per_kind(0), 0); });
    spawn([&] { results[1] = r.define(r.computed(1), 1); });
    join();
    int succeeded = 0;
    for (const int result : results) {
      succeeded += result == ATTRCACHE_OK;
      busy += result == ATTRCACHE_ERR_BUSY;
      both += result == ATTRCACHE_ERR_ARGUMENT;
    }
    expect(succeeded == 1, "one defines it");
    expect(r.get() == (results[0] == ATTRCACHE_OK ? 0 : 1), "and it is that one's");
    r.finish();
  });
  EXPECT_GT(busy, 0);
  EXPECT_GT(both, 0);
}

// Of two kinds, one after the other; the reader may keep the first while the second comes.
TEST(Definitions, AnotherDefinitionOfANumberAgainstGet) {
  int seen[3] = {};
  run_model({3, 2}, [&] {
    Runtime r;
    r.define(r.per_kind(0), 0);
    spawn([&] {
      expect(r.undefine() == ATTRCACHE_OK, "undefined");
      expect(r.define(r.computed(1), 1) == ATTRCACHE_OK, "defined otherwise");
    });
    spawn([&] { ++seen[r.get() + 1]; });
    join();
    expect(r.get() == 1, "the second");
    r.finish();
  });
  for (const int count : seen) EXPECT_GT(count, 0);
}

// The same definition serves again, with another value.
TEST(Definitions, TheSameDefinitionAgainAgainstGet) {
  int seen[3] = {};
  run_model({3, 2}, [&] {
    Runtime r;
    r.define(r.per_kind(0), 0);
    spawn([&] {
      expect(r.undefine() == ATTRCACHE_OK, "undefined");
      expect(r.define(r.per_kind(1), 1) == ATTRCACHE_OK, "defined again");
    });
    spawn([&] { ++seen[r.get() + 1]; });
    join();
    r.finish();
  });
  for (const int count : seen) EXPECT_GT(count, 0);
}

TEST(Definitions, TwoThatUndefineOneNumber) {
  int stale = 0;
  run_model({3, 2}, [&] {
    Runtime r;
    r.define(Runtime::per_object(kNumber));
    int succeeded = 0;
    for (int t = 0; t < 2; ++t) {
      spawn([&] {
        const int result = r.undefine();
        if (result == ATTRCACHE_OK) ++succeeded;
        stale += result == ATTRCACHE_ERR_KEYVAL_STALE;
        expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_KEYVAL_STALE ||
                   result == ATTRCACHE_ERR_BUSY,
               "once");
      });
    }
    join();
    expect(succeeded == 1, "one undefines it");
    r.finish();
  });
  EXPECT_GT(stale, 0);
}

// The last attribute goes while its keyval does: it ends once, and the domain finds nothing left.
TEST(Definitions, UndefineAgainstTheEndOfTheLastAttribute) {
  run_model({3, 2}, [&] {
    Runtime r;
    r.define(Runtime::per_object(kNumber));
    attrcache_set_predefined(r.kind, &r.table, kNumber, 5);
    spawn([&] { expect(r.undefine() == ATTRCACHE_OK, "undefined"); });
    bool deleted = false;
    spawn([&] {
      const int result = attrcache_delete_predefined(r.kind, &r.table, kNumber);
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_KEYVAL_STALE,
             "deleted, or too late");
      deleted = result == ATTRCACHE_OK;
    });
    join();
    // The next keyval of the index must not be taken for this one where a stripe isn't open yet.
    const References::Counter& stripe =
        r.registry().first_chunk_counters(0)[Registry::kFirstChunkLength - 1];
    expect(!deleted || !References::is_named(stripe), "no name is left over");
    r.finish();
  });
}

TEST(Definitions, UndefineAgainstSet) {
  int attached = 0;
  run_model({3, 2}, [&] {
    Runtime r;
    r.define(Runtime::per_object(kNumber));
    spawn([&] { expect(r.undefine() == ATTRCACHE_OK, "undefined"); });
    spawn([&] {
      const int result = attrcache_set_predefined(r.kind, &r.table, kNumber, 5);
      attached += result == ATTRCACHE_OK;
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_KEYVAL_STALE, "set, or too late");
    });
    join();
    expect(r.define(Runtime::per_object(kNumber)) == ATTRCACHE_OK, "defined again");
    int value = 0;
    expect(attrcache_get_fint(r.kind, &r.table, kNumber, &value) == ATTRCACHE_ABSENT,
           "values of the definition before aren't seen");
    expect(attrcache_set_predefined(r.kind, &r.table, kNumber, 6) == ATTRCACHE_OK,
           "nor do they keep its places");
    r.finish();
  });
  EXPECT_GT(attached, 0);
}

// The index of a definition that is gone is taken by the next, which must find its keyval ended.
TEST(Definitions, AnIndexGoesFromOneDefinitionToTheNext) {
  int same = 0;
  run_model({3, 2}, [&] {
    Runtime r;
    r.define(Runtime::per_object(1));
    const uint32_t before = r.registry().definitions().find(1)->keyval.load(kRelaxed);
    spawn([&] { expect(r.undefine(1) == ATTRCACHE_OK, "undefined"); });
    spawn([&] {
      expect(r.define(Runtime::per_object(2)) == ATTRCACHE_OK, "defined");
      const uint32_t keyval = r.registry().definitions().find(2)->keyval.load(kRelaxed);
      expect(keyval != before, "another keyval");
      same += id::index(keyval) == id::index(before);
      expect(attrcache_set_predefined(r.kind, &r.table, 2, 5) == ATTRCACHE_OK, "set");
      int value = 0;
      expect(attrcache_get_fint(r.kind, &r.table, 2, &value) == ATTRCACHE_OK && value == 5, "got");
    });
    join();
    r.finish();
  });
  EXPECT_GT(same, 0);
}

// The same where another thread has defined the one before, too: what it wrote there is told by the
// index alone.
TEST(Definitions, AnIndexIsGivenBackByWhoHasTakenIt) {
  int same = 0;
  run_model({2, 2}, [&] {
    Runtime r;
    r.registry().definitions().find_or_add(3, nullptr);  // the table of numbers is there
    uint32_t before = 0, keyval = 0;
    spawn([&] {
      expect(r.define(Runtime::per_object(1)) == ATTRCACHE_OK, "defined");
      before = r.registry().definitions().find(1)->keyval.load(kRelaxed);
      expect(r.undefine(1) == ATTRCACHE_OK, "undefined");
    });
    spawn([&] {
      expect(r.define(Runtime::per_object(2)) == ATTRCACHE_OK, "defined");
      keyval = r.registry().definitions().find(2)->keyval.load(kRelaxed);
    });
    join();
    expect(keyval != before, "another keyval");
    same += id::index(keyval) == id::index(before);
    r.finish();
  });
  EXPECT_GT(same, 0);
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
      const uint32_t index = id::index(static_cast<uint32_t>(keyval));
      expect(index == kLast || index == kLast + 1, "the next free one");
      if (index == kLast) ++of_user;
    });
    spawn([&] { expect(r.define(Runtime::per_object(1)) == ATTRCACHE_OK, "defined"); });
    join();
    const uint32_t of_definition =
        id::index(r.registry().definitions().find(1)->keyval.load(kRelaxed));
    const uint32_t of_users = id::index(static_cast<uint32_t>(keyval));
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

// Whoever undefines a number finds the table of numbers that somebody has just made.
TEST(Definitions, TheFirstDefinitionAgainstUndefine) {
  int undefined = 0, unknown = 0;
  run_model({3, 2}, [&] {
    Runtime r;
    spawn([&] {
      const int result = r.define(Runtime::per_object(kNumber));
      expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_BUSY, "defined, or one at a time");
    });
    spawn([&] {
      const int result = r.undefine();
      undefined += result == ATTRCACHE_OK;
      unknown += result != ATTRCACHE_OK;
    });
    join();
    r.finish();
  });
  EXPECT_GT(undefined, 0);
  EXPECT_GT(unknown, 0);
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
