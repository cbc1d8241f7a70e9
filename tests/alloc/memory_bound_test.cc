// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How much memory tables take beyond their own 64 bytes, unless a test says otherwise.

#include <algorithm>

#include "tests/alloc/allocator.h"
#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

class MemoryBoundTest : public ::testing::Test {
 protected:
  std::vector<int> make(int count) {
    std::vector<int> keyvals;
    for (int i = 0; i < count; ++i) keyvals.push_back(Recorder::make(kind, {}));
    return keyvals;
  }
  // All that an object takes, its table included, with these attributes.
  size_t bytes_with(const std::vector<int>& keyvals) {
    const size_t before = bytes_allocated();
    Object object(kind);
    for (const int keyval : keyvals) EXPECT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
    const size_t taken = bytes_allocated() - before;
    EXPECT_EQ(object.free(), ATTRCACHE_OK);
    EXPECT_EQ(bytes_allocated(), before) << "free gives all of it back";
    return taken + sizeof(attrcache_table);
  }

  Universe universe{&through_hooks()};
  attrcache_kind* kind = universe.kind();
};

TEST_F(MemoryBoundTest, TheFirstThreeAttributesTakeNothing) {
  EXPECT_EQ(bytes_with(make(3)), sizeof(attrcache_table));
}

TEST_F(MemoryBoundTest, MoreTakeLittle) {
  const std::vector<int> keyvals = make(1000);
  const auto first = [&](int count) {
    return std::vector(keyvals.begin(), keyvals.begin() + count);
  };
  EXPECT_LE(bytes_with(first(8)), 256u);
  EXPECT_LE(bytes_with(first(64)), 1488u);
  EXPECT_LE(bytes_with(keyvals), 1000 * 27u);
}

TEST_F(MemoryBoundTest, AsLittleUnderTheLastKeyvalsOfMany) {
  const std::vector<int> keyvals = make(100000);
  EXPECT_LE(bytes_with({keyvals.end() - 1000, keyvals.end()}), 1000 * 27u);
  size_t most = bytes_with({keyvals.back()});
  for (size_t i = 0; i < keyvals.size(); i += 7) most = std::max(most, bytes_with({keyvals[i]}));
  EXPECT_LE(most, 592u) << "a single one";
}

TEST_F(MemoryBoundTest, GetDeleteAndBorrowAllocateNothingAndFreeNeedsNothing) {
  const std::vector<int> keyvals = make(500);
  Object object(kind);
  for (int i = 0; i < 500; i += 3) object.set(keyvals[i], i);
  fail_allocation(0, Failing::kAllFromThere);
  for (int i = 0; i < 500; ++i) {
    (void)object.value(keyvals[i]);
    attrcache_borrowed borrowed = {};
    if (attrcache_borrow(kind, &object.table, keyvals[i], &borrowed) == ATTRCACHE_OK) {
      EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
      EXPECT_EQ(object.set(keyvals[i], 1), ATTRCACHE_OK) << "replacing";
    }
    if (i % 2 == 0) {
      EXPECT_EQ(object.erase(keyvals[i]), ATTRCACHE_OK);
    }
    if (i % 5 == 0) {
      EXPECT_EQ(free_keyval(kind, keyvals[i]), ATTRCACHE_OK);
    }
  }
  EXPECT_FALSE(allocation_failed());
  EXPECT_EQ(object.free(), ATTRCACHE_OK) << "it lists many attributes, or does without a list";
  fail_no_allocation();
}

TEST_F(MemoryBoundTest, ADeletionBesideABorrowAndABorrowWithinADeletionAllocateNothing) {
  Recorder recorder;
  Object object(kind);
  const int held = recorder.keyval(kind), deleted = recorder.keyval(kind);
  object.set(held, 1);
  object.set(deleted, 2);
  attrcache_borrowed borrowed = {};
  EXPECT_EQ(attrcache_borrow(kind, &object.table, held, &borrowed), ATTRCACHE_OK);
  fail_allocation(0, Failing::kAllFromThere);
  EXPECT_EQ(object.erase(deleted), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
  object.set(deleted, 3);
  recorder.on_delete = [&](const Call&) {
    attrcache_borrowed within = {};
    EXPECT_EQ(attrcache_borrow(kind, &object.table, held, &within), ATTRCACHE_OK);
    return attrcache_give_back(&within);
  };
  EXPECT_EQ(object.erase(deleted), ATTRCACHE_OK);
  EXPECT_FALSE(allocation_failed());
  fail_no_allocation();
  recorder.on_delete = nullptr;
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
  free_keyval(kind, held);
  free_keyval(kind, deleted);
}

}  // namespace
}  // namespace attrcache::support
