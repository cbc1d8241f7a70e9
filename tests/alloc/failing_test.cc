// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Every allocation fails in turn, in every operation that allocates, at every depth: the call
// returns the right error, changes and leaks nothing, and succeeds once there is memory.

#include <optional>

#include "keyval/registry.h"
#include "tests/alloc/allocator.h"
#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

class FailingTest : public ::testing::TestWithParam<Failing> {
 protected:
  void SetUp() override { blocks_before = blocks_allocated(); }
  void TearDown() override {
    fail_no_allocation();
    EXPECT_EQ(blocks_allocated(), blocks_before) << "leaked";
    EXPECT_EQ(allocated_without_hooks(), 0u);
  }
  // Calls `operation` with the first, second, ... allocation failing, until none does, and
  // `unchanged` after each failure. Returns how many allocations the operation takes. One that tries
  // again may succeed if one allocation alone fails.
  template <typename Operation, typename Unchanged>
  int fail_each(Operation operation, Unchanged unchanged, bool tries_again = false) {
    for (int after = 0; after < 1000; ++after) {
      SCOPED_TRACE(testing::Message() << "allocation " << after << " fails");
      fail_allocation(after, GetParam());
      const int result = operation();
      fail_no_allocation();
      if (!allocation_failed() || (tries_again && result == ATTRCACHE_OK)) {
        EXPECT_EQ(result, ATTRCACHE_OK);
        return after + allocation_failed();
      }
      EXPECT_EQ(result, ATTRCACHE_ERR_MEMORY);
      unchanged();
    }
    ADD_FAILURE() << "never succeeds";
    return -1;
  }

  // The same of a keyval, which can be made after a look at all. A failure uses up nothing.
  int create_failing_each(const Universe& universe, const attrcache_callbacks& callbacks,
                          int* keyval) {
    const attrcache_counters before = universe.counters();
    *keyval = -7;
    return fail_each([&] { return attrcache_keyval_create(universe.kind(), &callbacks, keyval); },
                     [&] {
                       EXPECT_EQ(*keyval, -7);
                       EXPECT_EQ(universe.counters().keyvals_created, before.keyvals_created);
                       EXPECT_EQ(universe.counters().reclaimable, before.reclaimable);
                     },
                     true);
  }

  size_t blocks_before = 0;
};

TEST_P(FailingTest, DomainCreate) {
  attrcache_domain* domain = nullptr;
  const int allocations =
      fail_each([&] { return attrcache_domain_create(&through_hooks(), &domain); },
                [&] {
                  EXPECT_EQ(domain, nullptr);
                  EXPECT_EQ(blocks_allocated(), blocks_before);
                });
  EXPECT_GE(allocations, 4) << "the domain and its three kinds";
  EXPECT_EQ(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, nullptr), ATTRCACHE_OK);
}

TEST_P(FailingTest, BothHooksOrNone) {
  attrcache_allocator allocator = *through_hooks().allocator;
  const auto options = with(&attrcache_domain_options::allocator, &allocator);
  attrcache_domain* domain;
  allocator.release = nullptr;
  EXPECT_EQ(attrcache_domain_create(&options, &domain), ATTRCACHE_ERR_ARGUMENT);
  allocator.release = through_hooks().allocator->release;
  allocator.allocate = nullptr;
  EXPECT_EQ(attrcache_domain_create(&options, &domain), ATTRCACHE_ERR_ARGUMENT);
}

TEST_P(FailingTest, KindRegister) {
  Universe universe{&through_hooks()};
  attrcache_kind* kind = nullptr;
  EXPECT_GE(fail_each([&] { return attrcache_kind_register(universe.domain(), nullptr, &kind); },
                      [&] {
                        EXPECT_EQ(kind, nullptr);
                        attrcache_kind* none = nullptr;
                        EXPECT_EQ(attrcache_kind_of(universe.domain(), 3, &none),
                                  ATTRCACHE_ERR_ARGUMENT);
                      }),
            1);
  EXPECT_EQ(universe.kind(3), kind);
}

TEST_P(FailingTest, KeyvalCreateAtEveryGrowthOfTheRegistry) {
  Recorder recorder;
  Universe universe{&through_hooks()};
  int growths = 0;
  for (int i = 0; i < 3000; ++i) {
    int keyval;
    growths += create_failing_each(universe, recorder.callbacks(), &keyval) != 0;
    EXPECT_EQ(keyval, ATTRCACHE_KEYVAL_MIN + 16 * i) << "no index is lost";
  }
  EXPECT_GE(growths, 5) << "the registry grew meanwhile";
  EXPECT_EQ(recorder.destructions, 0);
}

// Without memory for more indices, those that are free are used.
TEST_P(FailingTest, KeyvalCreateGoesOnWithWhatIsFree) {
  Universe universe{&through_hooks()};
  attrcache_kind* kind = universe.kind();
  const int kept = Recorder::make(kind, {});
  fail_allocation(0, Failing::kAllFromThere);
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(free_keyval(kind, Recorder::make(kind, {})), 0);
  std::vector<int> alive;
  int keyval;
  while (attrcache_keyval_create(kind, nullptr, &keyval) == ATTRCACHE_OK) alive.push_back(keyval);
  EXPECT_EQ(alive.size(), Registry::kFirstChunkLength - 1);
  EXPECT_EQ(attrcache_keyval_create(kind, nullptr, &keyval), ATTRCACHE_ERR_MEMORY);
  EXPECT_EQ(free_keyval(kind, alive.back()), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_keyval_create(kind, nullptr, &keyval), ATTRCACHE_OK);
  fail_no_allocation();
  alive.back() = keyval;
  alive.push_back(kept);
  for (const int each : alive) EXPECT_EQ(free_keyval(kind, each), ATTRCACHE_OK);
}

// While a thread is within introspection, an index that is reused needs a record.
// A domain that ends gives back the records of keyvals that are alive.
TEST_P(FailingTest, KeyvalCreateWhileRecordsWait) {
  Recorder recorder;
  Universe universe{&through_hooks()};
  attrcache_kind* kind = universe.kind();
  std::vector<int> alive;
  for (int i = 0; i < 130; ++i) free_keyval(kind, recorder.keyval(kind));
  const int seen = recorder.keyval(kind);
  Registry::of(kind).visit(id::of(seen), [&](uint64_t, const Record&, const References&) {
    int records = 0;
    for (int i = 0; i < 300; ++i) {
      int keyval;
      const int allocations = create_failing_each(universe, recorder.callbacks(), &keyval);
      EXPECT_LE(allocations, 1);
      records += allocations;
      attrcache_callbacks callbacks;
      EXPECT_EQ(attrcache_keyval_describe(kind, keyval, nullptr, &callbacks), ATTRCACHE_OK);
      EXPECT_EQ(callbacks.extra_state, &recorder);
      if (i % 30 == 0) {
        alive.push_back(keyval);
      } else {
        free_keyval(kind, keyval);
      }
    }
    EXPECT_GE(records, 200);
    // No index was lost: each is alive, or at rest.
    for (const int keyval : alive) {
      EXPECT_LE(id::index(id::of(keyval)), Registry::kRound + alive.size());
    }
  });
  free_keyval(kind, seen);
  EXPECT_EQ(universe.counters().reclaimable, 0u);
  EXPECT_EQ(recorder.destructions, 421);
}

// A definition that fails uses nothing up: all 48 can be made, however many attempts have failed.
TEST_P(FailingTest, PredefinedKeyvalDefine) {
  Universe universe{&through_hooks()};
  Object object(universe.kind());
  void* value;
  for (int number = 1; number <= 48; ++number) {
    fail_allocation(0, GetParam());
    EXPECT_EQ(define(object.kind, 1000 + number), ATTRCACHE_ERR_MEMORY);
    fail_no_allocation();
    EXPECT_EQ(object.get(1000 + number, &value), ATTRCACHE_ERR_KEYVAL_UNKNOWN);
    fail_each([&] { return define(object.kind, number); },
              [&] { EXPECT_EQ(object.get(number, &value), ATTRCACHE_ERR_KEYVAL_UNKNOWN); });
  }
  EXPECT_EQ(define(object.kind, 49), ATTRCACHE_ERR_KEYVALS_EXHAUSTED);
}

TEST_P(FailingTest, SetAtEveryDepth) {
  Recorder recorder;
  Universe universe{&through_hooks()};
  attrcache_kind* kind = universe.kind();
  std::vector<int> keyvals;
  for (int i = 0; i < 32800; ++i) keyvals.push_back(recorder.keyval(kind));
  Object object(kind);
  // With a new tree for each index, and with one tree that grows.
  for (const bool fresh : {true, false}) {
    for (const size_t index : {0, 2, 3, 7, 8, 63, 64, 127, 128, 2047, 2048, 32767, 32768, 32799}) {
      const uint64_t attributes = universe.counters().attributes;
      const size_t listed = object.list().size();
      const int allocations =
          fail_each([&] { return object.set(keyvals[index], static_cast<intptr_t>(index)); },
                    [&] {
                      EXPECT_EQ(object.value(keyvals[index]), Object::kAbsent);
                      EXPECT_EQ(object.list().size(), listed);
                    });
      // Checked once for all failures, since the counters visit every keyval: none keeps a reference.
      EXPECT_EQ(universe.counters().attributes, attributes + 1);
      EXPECT_GE(allocations, fresh && index >= 3 ? 1 : 0);
      EXPECT_EQ(object.value(keyvals[index]), static_cast<intptr_t>(index));
      if (fresh) {
        EXPECT_EQ(object.free(), ATTRCACHE_OK);
      }
    }
  }
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
  EXPECT_EQ(recorder.deletions.size(), 28u);
}

// If another thread may hold the value, its deletion may have to be left, which takes memory.
TEST_P(FailingTest, SetAndDeleteOfAValueThatWasRead) {
  for (const bool sets : {false, true}) {
    Recorder recorder;
    Universe universe{&through_hooks()};
    attrcache_kind* kind = universe.kind();
    const int keyval = recorder.keyval(kind);
    Object object(kind);
    object.set(keyval, 1);
    attrcache_borrowed borrowed = {};
    EXPECT_EQ(attrcache_borrow(kind, &object.table, keyval, &borrowed), ATTRCACHE_OK);
    EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
    const int allocations =
        fail_each([&] { return sets ? object.set(keyval, 2) : object.erase(keyval); },
                  [&] {
                    EXPECT_EQ(object.value(keyval), 1);
                    EXPECT_TRUE(recorder.deletions.empty());
                  });
    EXPECT_EQ(allocations, 1);
    EXPECT_EQ(recorder.deleted(), std::vector<intptr_t>{1});
  }
}

// To a new object, and to one that has memory.
TEST_P(FailingTest, CopyAll) {
  for (const bool has_memory : {false, true}) {
    Recorder recorder;
    Universe universe{&through_hooks()};
    attrcache_kind* kind = universe.kind();
    Object from(kind), to(kind);
    constexpr int kCount = 200;
    int only_new = 0;  // the keyval of an attribute that only the new object has
    for (int i = 0; i < kCount; ++i) {
      const int keyval = i % 2 == 0 ? recorder.keyval(kind) : [&] {
        attrcache_callbacks callbacks = recorder.callbacks();
        callbacks.copy_fn = ATTRCACHE_DUP_FN;
        return Recorder::make(kind, callbacks);
      }();
      if (i % 5 != 1) {
        from.set(keyval, i);
      } else if (i == 6) {
        only_new = keyval;
      }
    }
    const size_t attached = from.list().size();
    const size_t copied = attached + (has_memory ? 1 : 0);
    bool done_without = false;
    const int allocations = fail_each(
        [&] {
          recorder.copies.clear();
          recorder.deletions.clear();
          int result = has_memory ? to.set(only_new, 6) : ATTRCACHE_OK;
          if (result == ATTRCACHE_OK) result = from.copy_to(to);
          if (result != ATTRCACHE_OK || !allocation_failed()) return result;
          // A dup allocates a list of what it copies; without one it takes longer, but succeeds.
          EXPECT_FALSE(done_without) << "two allocations failed unnoticed";
          done_without = true;
          EXPECT_EQ(to.list().size(), copied);
          EXPECT_EQ(to.free(), ATTRCACHE_OK);
          return static_cast<int>(ATTRCACHE_ERR_MEMORY);
        },
        [&] {
          EXPECT_TRUE(to.all_zero()) << "new is left empty";
          EXPECT_EQ(from.list().size(), attached) << "old is untouched";
          EXPECT_EQ(universe.counters().attributes, attached);
          // All that copy_fn had made was deleted, on the new object only.
          EXPECT_GE(recorder.deletions.size(), recorder.copies.size());
          for (const Call& call : recorder.deletions) EXPECT_EQ(call.object, &to);
        });
    EXPECT_EQ(done_without, GetParam() == Failing::kOne);
    EXPECT_GE(allocations, has_memory ? 9 : 2);
    EXPECT_EQ(to.list().size(), copied);
  }
}

// A call that promises not to allocate, or has nothing to store, works without memory; so does the
// end of a domain.
TEST_P(FailingTest, ReportsAndEndsNeedNoMemory) {
  Recorder recorder;
  attrcache_domain* const domain = Universe(&through_hooks()).release();
  attrcache_kind* const kind = kind_of(domain, ATTRCACHE_COMMUNICATOR);
  std::vector<int> keyvals;
  for (int i = 0; i < 300; ++i) keyvals.push_back(recorder.keyval(kind));
  std::optional<Object> object(kind), empty(kind), to(kind);  // which end before their domain
  for (const int keyval : keyvals) object->set(keyval, keyval);
  std::vector<attrcache_attribute_info> attributes(300);
  std::vector<attrcache_keyval_info> infos(300);
  attrcache_counters counters;
  attrcache_leaks leaks;
  size_t count = 0;

  fail_allocation(0, Failing::kAllFromThere);
  EXPECT_EQ(attrcache_attribute_list(kind, &object->table, attributes.data(), 300, &count),
            ATTRCACHE_OK);
  EXPECT_EQ(count, 300u);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(attributes[i].keyval, keyvals[i]);
  EXPECT_EQ(attrcache_keyval_list(kind, infos.data(), 300, &count), ATTRCACHE_OK);
  EXPECT_EQ(count, 300u);
  EXPECT_EQ(attrcache_keyval_describe(kind, keyvals[7], infos.data(), nullptr), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_domain_counters(domain, &counters), ATTRCACHE_OK);
  EXPECT_EQ(empty->copy_to(*to), ATTRCACHE_OK);
  EXPECT_EQ(object->set(keyvals[299], 5), ATTRCACHE_OK) << "replacing";
  EXPECT_EQ(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, &leaks),
            ATTRCACHE_ERR_BUSY);
  EXPECT_EQ(leaks.attributes, 300u);
  EXPECT_EQ(object->free(ATTRCACHE_DRAIN), ATTRCACHE_OK);
  for (int i = 0; i < 150; ++i) EXPECT_EQ(free_keyval(kind, keyvals[i]), ATTRCACHE_OK);
  for (std::optional<Object>* o : {&object, &empty, &to}) o->reset();
  EXPECT_EQ(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_IF_UNUSED, &leaks), ATTRCACHE_OK);
  fail_no_allocation();
  EXPECT_EQ(recorder.deletions.size(), 301u);
  EXPECT_EQ(recorder.destructions, 300);
}

INSTANTIATE_TEST_SUITE_P(Failures, FailingTest,
                         ::testing::Values(Failing::kOne, Failing::kAllFromThere));

}  // namespace
}  // namespace attrcache::support
