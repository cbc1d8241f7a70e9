// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "domain/domain.h"

#include <gtest/gtest.h>

#include <string>

namespace attrcache {
namespace {

// What can't be seen through the C API (unit/c_api/domain_test tests the rest): names, limits, and
// what a domain's end does to each sort of keyval.

class DomainLayerTest : public ::testing::Test {
 protected:
  DomainLayerTest() { EXPECT_EQ(Domain::create({}, &domain), ATTRCACHE_OK); }
  ~DomainLayerTest() override {
    attrcache_leaks leaks;
    if (domain == nullptr) return;
    EXPECT_EQ(domain->end(true, &leaks), ATTRCACHE_OK);
  }

  static void count_end(void* ends) { ++*static_cast<int*>(ends); }
  uint32_t make(int kind, int* ends) {
    int keyval;
    EXPECT_EQ(domain->kind(kind)->create(
                  {nullptr, nullptr, ends, ATTRCACHE_C, count_end, nullptr, nullptr}, &keyval),
              ATTRCACHE_OK);
    return static_cast<uint32_t>(keyval);
  }
  static void free(Registry* kind, uint32_t keyval) {
    auto variable = static_cast<int>(keyval);
    EXPECT_EQ(kind->free(&variable), ATTRCACHE_OK);
  }

  int ends = 0;  // outlives the domain, whose end runs destructors
  Domain* domain = nullptr;
};

TEST_F(DomainLayerTest, ThreeKindsAreThereAndNamed) {
  const char* const names[] = {"communicator", "datatype", "window"};
  for (int kind = 0; kind < 3; ++kind) {
    ASSERT_NE(domain->kind(kind), nullptr);
    EXPECT_EQ(domain->kind(kind)->kind(), static_cast<unsigned>(kind));
    EXPECT_EQ(domain->kind(kind)->name(), std::string(names[kind]));
  }
  for (const int number : {-1, 3, 15, 16, 1000}) EXPECT_EQ(domain->kind(number), nullptr);
}

TEST_F(DomainLayerTest, KindsAreAddedInOrderUntilThereAreSixteen) {
  Registry* kind = nullptr;
  attrcache_kind_options file = {};
  file.name = "file";
  EXPECT_EQ(domain->add_kind(file, &kind), ATTRCACHE_OK);
  EXPECT_EQ(kind, domain->kind(3));
  EXPECT_EQ(kind->name(), std::string("file"));
  for (unsigned number = 4; number < id::kMaxKinds; ++number) {
    EXPECT_EQ(domain->add_kind({}, &kind), ATTRCACHE_OK);
    EXPECT_EQ(kind->kind(), number);
    EXPECT_EQ(kind->name(), std::string("object"));
  }
  Registry* const last = kind;
  EXPECT_EQ(domain->add_kind({}, &kind), ATTRCACHE_ERR_KINDS_EXHAUSTED);
  EXPECT_EQ(kind, last) << "an error changes nothing";
}

TEST_F(DomainLayerTest, StripesArePowersOfTwoUpToSixtyFour) {
  for (const unsigned stripes : {3u, 128u, ~0u}) {
    attrcache_domain_options options = {};
    options.stripes = stripes;
    Domain* other;
    EXPECT_EQ(Domain::create(options, &other), ATTRCACHE_ERR_ARGUMENT) << stripes;
  }
}

TEST_F(DomainLayerTest, CountersSumOverKinds) {
  const uint32_t comm = make(0, &ends);
  const uint32_t win = make(2, &ends);
  make(2, &ends);
  ASSERT_TRUE(domain->kind(0)->acquire(comm));
  ASSERT_TRUE(domain->kind(2)->acquire(win));
  free(domain->kind(2), win);
  attrcache_counters counters;
  domain->read_counters(&counters);
  EXPECT_EQ(counters.keyvals_created, 3u);
  EXPECT_EQ(counters.keyvals_freed, 1u);
  EXPECT_EQ(counters.keyvals_gone, 0u);
  EXPECT_EQ(counters.attributes, 2u);
  domain->kind(0)->drop(comm);
  domain->kind(2)->drop(win);
  domain->read_counters(&counters);
  EXPECT_EQ(counters.keyvals_gone, 1u);
  EXPECT_EQ(counters.attributes, 0u);
}

TEST_F(DomainLayerTest, TheEndRunsDestructorsButNotOfAbandonedKeyvals) {
  int unused = 0, freed = 0, abandoned = 0;
  make(0, &unused);
  const uint32_t freed_in_use = make(1, &freed);
  const uint32_t in_use = make(2, &abandoned);
  ASSERT_TRUE(domain->kind(1)->acquire(freed_in_use));
  ASSERT_TRUE(domain->kind(2)->acquire(in_use));
  free(domain->kind(1), freed_in_use);

  attrcache_leaks leaks;
  EXPECT_EQ(domain->end(false, &leaks), ATTRCACHE_ERR_BUSY);
  EXPECT_EQ(leaks.keyvals, 2u);
  EXPECT_EQ(leaks.freed_keyvals, 1u);
  EXPECT_EQ(leaks.attributes, 2u);
  EXPECT_EQ(unused, 0) << "nothing is changed";

  EXPECT_EQ(domain->end(true, &leaks), ATTRCACHE_OK);
  domain = nullptr;
  EXPECT_EQ(leaks.attributes, 2u);
  EXPECT_EQ(unused, 1);
  EXPECT_EQ(freed, 0);
  EXPECT_EQ(abandoned, 0);
}

}  // namespace
}  // namespace attrcache
