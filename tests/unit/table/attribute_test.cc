// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Which sets take a new sequence number from their table. Everything else about set, delete and
// borrow is tested through the C API, in ../c_api.

#include "table/attribute.h"

#include <gtest/gtest.h>

#include "tests/support/recorder.h"

namespace attrcache {
namespace {

class AttributeTest : public ::testing::TestWithParam<int> {
 protected:
  // The slot follows this many others: it is in the table itself, in a leaf of its directory, or in
  // the tree.
  AttributeTest() {
    for (int i = 0; i < GetParam(); ++i) make();
    older = make();
    younger = make();
    set(older, 1);
    set(younger, 2);
  }
  int make() { return support::Recorder::make(universe.kind(), {}); }
  void set(int keyval, intptr_t value, attrcache_tag tag = ATTRCACHE_AS_POINTER) {
    EXPECT_EQ(object.set_as(keyval, value, tag), ATTRCACHE_OK);
  }
  uint64_t number(int keyval) {
    const uint32_t index = id::index(id::of(keyval));
    return meta::sequence(Table::of(&object.table).at_offset(id::offset_at(index))->load_meta());
  }

  support::Universe universe;
  support::Object object{universe.kind()};
  int older, younger;
};

// Otherwise a reader in two steps could combine the value of one set with the tag of another
// (pair_one_swap.h).
TEST_P(AttributeTest, ANumberHasOneTag) {
  uint64_t before = number(younger);
  for (const attrcache_tag tag : {ATTRCACHE_AS_FINT, ATTRCACHE_AS_AINT, ATTRCACHE_AS_POINTER}) {
    set(younger, 3, tag);
    EXPECT_GT(number(younger), before);
    before = number(younger);
    set(younger, 4, tag);
    EXPECT_EQ(number(younger), before);
  }
}

INSTANTIATE_TEST_SUITE_P(Others, AttributeTest, ::testing::Values(0, 10, 100));

}  // namespace
}  // namespace attrcache
