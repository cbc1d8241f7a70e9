// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// Listing keyvals and attributes, and the counters of a domain.

class IntrospectionTest : public ApiTest {
 protected:
  std::vector<attrcache_keyval_info> keyvals() {
    size_t count = 0;
    EXPECT_EQ(attrcache_keyval_list(kind, nullptr, 0, &count), ATTRCACHE_OK);
    std::vector<attrcache_keyval_info> infos(count);
    EXPECT_EQ(attrcache_keyval_list(kind, infos.data(), count, &count), ATTRCACHE_OK);
    EXPECT_EQ(count, infos.size());
    return infos;
  }
};

TEST_F(IntrospectionTest, KeyvalsAreListedByIndexWithTheirCallbacksAndCounts) {
  EXPECT_TRUE(keyvals().empty());
  const int a = recorder.keyval(kind), gone = recorder.keyval(kind), freed = recorder.keyval(kind);
  object.set(a, 1);
  object.set(freed, 2);
  free_keyval(kind, gone);
  free_keyval(kind, freed);
  const std::vector<attrcache_keyval_info> infos = keyvals();
  ASSERT_EQ(infos.size(), 2u);
  EXPECT_EQ(infos[0].keyval, a);
  EXPECT_FALSE(infos[0].freed);
  EXPECT_FALSE(infos[0].predefined);
  EXPECT_EQ(infos[0].attributes, 1u);
  attrcache_callbacks callbacks;
  EXPECT_EQ(attrcache_keyval_describe(kind, a, nullptr, &callbacks), ATTRCACHE_OK);
  EXPECT_EQ(callbacks.extra_state, &recorder);
  EXPECT_EQ(callbacks.copy_fn, recorder.callbacks().copy_fn);
  EXPECT_EQ(infos[1].keyval, freed);
  EXPECT_TRUE(infos[1].freed);
  EXPECT_EQ(infos[1].attributes, 1u);
}

TEST_F(IntrospectionTest, AtMostCapacityIsFilled) {
  for (int i = 0; i < 10; ++i) object.set(recorder.keyval(kind), i);
  attrcache_keyval_info infos[4] = {};
  attrcache_attribute_info attributes[4] = {};
  size_t count = 0;
  infos[3].keyval = attributes[3].keyval = 77;
  EXPECT_EQ(attrcache_keyval_list(kind, infos, 3, &count), ATTRCACHE_OK);
  EXPECT_EQ(count, 10u);
  EXPECT_EQ(infos[3].keyval, 77);
  EXPECT_EQ(attrcache_attribute_list(kind, &object.table, attributes, 3, &count), ATTRCACHE_OK);
  EXPECT_EQ(count, 10u);
  EXPECT_EQ(attributes[3].keyval, 77);
  EXPECT_EQ(attributes[2].value, 2);
}

TEST_F(IntrospectionTest, KeyvalsBeyondTheFirstGenerationAreListedAsTheyWereHandedOut) {
  int keyval = 0;
  for (int i = 0; i < 1000; ++i) free_keyval(kind, keyval = recorder.keyval(kind));
  keyval = recorder.keyval(kind);
  EXPECT_NE(keyval & 0x1fe00000, 0) << "a later generation";
  object.set(keyval, 3);
  EXPECT_EQ(object.list().at(0).keyval, keyval);
  EXPECT_EQ(keyvals().at(0).keyval, keyval);
}

TEST_F(IntrospectionTest, Counters) {
  const int a = recorder.keyval(kind), b = recorder.keyval(universe.kind(ATTRCACHE_WINDOW));
  EXPECT_EQ(define(kind, 5), ATTRCACHE_OK);  // isn't counted
  Object window(universe.kind(ATTRCACHE_WINDOW));
  object.set(a, 1);
  window.set(b, 2);
  free_keyval(kind, a);
  attrcache_counters counters = universe.counters();
  EXPECT_EQ(counters.keyvals_created, 2u);
  EXPECT_EQ(counters.keyvals_freed, 1u);
  EXPECT_EQ(counters.keyvals_gone, 0u);
  EXPECT_EQ(counters.attributes, 2u);
  object.erase(a);
  counters = universe.counters();
  EXPECT_EQ(counters.keyvals_gone, 1u);
  EXPECT_EQ(counters.attributes, 1u);
  EXPECT_EQ(counters.reclaimable, 0u) << "with nobody pinned a free completes inside the call";
}

TEST_F(IntrospectionTest, DescribeFromInsideACallback) {
  const int keyval = recorder.keyval(kind);
  object.set(keyval, 1);
  free_keyval(kind, keyval);
  recorder.on_delete = [&](const Call&) {
    attrcache_keyval_info info = {};
    EXPECT_EQ(attrcache_keyval_describe(kind, keyval, &info, nullptr), ATTRCACHE_OK);
    EXPECT_TRUE(info.freed);
    EXPECT_EQ(info.attributes, 1u);
    EXPECT_TRUE(object.list().at(0).deleting);
    return 0;
  };
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  attrcache_keyval_info info = {};
  EXPECT_EQ(attrcache_keyval_describe(kind, keyval, &info, nullptr), ATTRCACHE_ERR_KEYVAL_STALE);
}

TEST(VersionTest, TheHeaderAndTheLibraryAgree) {
  EXPECT_EQ(attrcache_version(), ATTRCACHE_VERSION);
}

}  // namespace
}  // namespace attrcache::support
