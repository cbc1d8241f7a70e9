// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <thread>

#include "tests/support/processors.h"
#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// How a domain ends.

// A domain counts references in as many stripes as there are processors.
TEST(DomainTest, AnyNumberOfProcessors) {
  for (unsigned processors = 0; processors <= 130; ++processors) {
    attrcache::support::processors = processors;
    Universe universe;
    Object object(universe.kind());
    const int keyval = Recorder::make(object.kind, {});
    object.set(keyval, 1);
    EXPECT_EQ(object.value(keyval), 1);
  }
}

class DomainEndTest : public ::testing::Test {
 protected:
  int destroy(attrcache_destroy_mode mode) {
    return attrcache_domain_destroy(domain, mode, &leaks);
  }

  Recorder recorder, attached;
  attrcache_domain* domain = Universe().release();
  attrcache_kind* kind = kind_of(domain, ATTRCACHE_COMMUNICATOR);
  attrcache_leaks leaks = {};
};

TEST_F(DomainEndTest, ReportsKeyvalsNeverFreedAndRunsTheirDestructors) {
  recorder.keyval(kind);
  recorder.keyval(kind_of(domain, ATTRCACHE_WINDOW));
  EXPECT_EQ(define(kind, 5), ATTRCACHE_OK);  // is no leak
  free_keyval(kind, recorder.keyval(kind));
  EXPECT_EQ(recorder.destructions, 1);
  EXPECT_EQ(destroy(ATTRCACHE_DESTROY_IF_UNUSED), ATTRCACHE_OK);
  EXPECT_EQ(leaks.keyvals, 2u);
  EXPECT_EQ(leaks.freed_keyvals, 0u);
  EXPECT_EQ(leaks.attributes, 0u);
  EXPECT_EQ(recorder.destructions, 3);
}

TEST_F(DomainEndTest, IfUnusedIsRefusedWhileAttributesAreAttachedAndNothingIsChanged) {
  const int unused = recorder.keyval(kind);
  const int freed = attached.keyval(kind);
  {
    Object object(kind);
    object.set(freed, 1);
    free_keyval(kind, freed);
    EXPECT_EQ(destroy(ATTRCACHE_DESTROY_IF_UNUSED), ATTRCACHE_ERR_BUSY);
    EXPECT_EQ(leaks.keyvals, 1u);
    EXPECT_EQ(leaks.freed_keyvals, 1u);
    EXPECT_EQ(leaks.attributes, 1u);
    EXPECT_EQ(recorder.destructions, 0);
    EXPECT_EQ(object.value(freed), 1);
    EXPECT_EQ(object.value(unused), Object::kAbsent);
  }
  EXPECT_EQ(destroy(ATTRCACHE_DESTROY_IF_UNUSED), ATTRCACHE_OK);
  EXPECT_EQ(attached.destructions, 1);
  EXPECT_EQ(recorder.destructions, 1);
}

TEST_F(DomainEndTest, AnywayAbandonsAttachedValuesAndNeverCallsTheirCallbacks) {
  recorder.keyval(kind);
  const int live = attached.keyval(kind);
  const int freed = attached.keyval(kind);
  attrcache_table table = ATTRCACHE_TABLE_INIT;
  attrcache_set_as(kind, &table, this, live, 1, ATTRCACHE_AS_POINTER, nullptr);
  attrcache_set_as(kind, &table, this, freed, 2, ATTRCACHE_AS_POINTER, nullptr);
  free_keyval(kind, freed);
  EXPECT_EQ(destroy(ATTRCACHE_DESTROY_ANYWAY), ATTRCACHE_OK);
  EXPECT_EQ(leaks.keyvals, 2u);
  EXPECT_EQ(leaks.freed_keyvals, 1u);
  EXPECT_EQ(leaks.attributes, 2u);
  EXPECT_TRUE(attached.deletions.empty());
  EXPECT_EQ(attached.destructions, 0);
  EXPECT_EQ(recorder.destructions, 1);
}

// Tables at many addresses, since these decide in which order deletions are found.
TEST_F(DomainEndTest, AnywayRunsWhatHandedOffDeletionsHandOff) {
  constexpr intptr_t kPairs = 64;
  attrcache_table tables[kPairs][2] = {};
  attrcache_borrowed borrowed[kPairs][2] = {};
  const int keyvals[] = {recorder.keyval(kind), attached.keyval(kind)};
  recorder.on_delete = [&](const Call& call) {
    return attrcache_delete(kind, &tables[call.value][1], this, keyvals[1], nullptr);
  };
  for (intptr_t i = 0; i < kPairs; ++i) {
    for (const int n : {0, 1}) {
      attrcache_set(kind, &tables[i][n], this, keyvals[n], reinterpret_cast<void*>(i), nullptr);
      attrcache_borrow(kind, &tables[i][n], keyvals[n], &borrowed[i][n]);
    }
    EXPECT_EQ(attrcache_delete(kind, &tables[i][0], this, keyvals[0], nullptr), ATTRCACHE_OK);
  }
  EXPECT_TRUE(recorder.deletions.empty());
  EXPECT_EQ(destroy(ATTRCACHE_DESTROY_ANYWAY), ATTRCACHE_OK);
  EXPECT_EQ(attached.deletions.size(), size_t{kPairs});
}

TEST_F(DomainEndTest, ADestructorMayFreeAnotherKeyval) {
  recorder.keyval(kind);  // ends first, since it has the lower index
  const int second = attached.keyval(kind);
  recorder.on_destroy = [&] { EXPECT_EQ(free_keyval(kind, second), ATTRCACHE_OK); };
  EXPECT_EQ(destroy(ATTRCACHE_DESTROY_IF_UNUSED), ATTRCACHE_OK);
  EXPECT_EQ(recorder.destructions, 1);
  EXPECT_EQ(attached.destructions, 1);
}

TEST_F(DomainEndTest, ATableThatIsAsNewMayBeFreedLater) {
  attrcache_table table = ATTRCACHE_TABLE_INIT;
  const int keyval = recorder.keyval(kind);
  attrcache_set_as(kind, &table, this, keyval, 1, ATTRCACHE_AS_POINTER, nullptr);
  EXPECT_EQ(attrcache_delete_all(kind, &table, this, ATTRCACHE_DRAIN, nullptr), ATTRCACHE_OK);
  EXPECT_EQ(destroy(ATTRCACHE_DESTROY_IF_UNUSED), ATTRCACHE_OK);
  for (const auto mode : {ATTRCACHE_STOP_AT_FAILURE, ATTRCACHE_DRAIN}) {
    EXPECT_EQ(attrcache_delete_all(kind, &table, this, mode, nullptr), ATTRCACHE_OK);
    std::thread([&] {  // a new thread has no ordinal, so it takes the slow path
      EXPECT_EQ(attrcache_delete_all(kind, &table, this, mode, nullptr), ATTRCACHE_OK);
    })
        .join();
  }
}

TEST_F(DomainEndTest, ADestructorMayDeleteTheLastAttributeUnderAnotherKeyval) {
  const int first = attached.keyval(kind);
  recorder.keyval(kind_of(domain, ATTRCACHE_WINDOW));  // ends after all communicators'
  attrcache_table table = ATTRCACHE_TABLE_INIT;
  attrcache_set_as(kind, &table, this, first, 1, ATTRCACHE_AS_POINTER, nullptr);
  recorder.on_destroy = [&] {
    EXPECT_EQ(attrcache_delete_all(kind, &table, this, ATTRCACHE_DRAIN, nullptr), ATTRCACHE_OK);
  };
  EXPECT_EQ(destroy(ATTRCACHE_DESTROY_ANYWAY), ATTRCACHE_OK);
  EXPECT_EQ(leaks.attributes, 1u);
  EXPECT_EQ(attached.deletions.size(), 1u);
  EXPECT_EQ(attached.destructions, 1);
}

TEST_F(DomainEndTest, WhatADestructorAttachesIsNotLost) {
  recorder.keyval(kind);
  const int second = attached.keyval(kind);
  attrcache_table table = ATTRCACHE_TABLE_INIT;
  recorder.on_destroy = [&] {
    attrcache_set_as(kind, &table, this, second, 1, ATTRCACHE_AS_POINTER, nullptr);
  };
  EXPECT_EQ(destroy(ATTRCACHE_DESTROY_IF_UNUSED), ATTRCACHE_ERR_BUSY);
  EXPECT_EQ(leaks.attributes, 1u);
  EXPECT_EQ(attrcache_delete_all(kind, &table, this, ATTRCACHE_DRAIN, nullptr), ATTRCACHE_OK);
  EXPECT_EQ(attached.deletions.size(), 1u);
  EXPECT_EQ(destroy(ATTRCACHE_DESTROY_IF_UNUSED), ATTRCACHE_OK);
  EXPECT_EQ(attached.destructions, 1);
}

TEST_F(DomainEndTest, ADestructorThatKeepsMakingKeyvalsDoesNotBlockTheEnd) {
  recorder.keyval(kind);
  recorder.on_destroy = [&] { recorder.keyval(kind); };
  EXPECT_EQ(destroy(ATTRCACHE_DESTROY_IF_UNUSED), ATTRCACHE_OK);
  EXPECT_EQ(recorder.destructions, 16);
}

}  // namespace
}  // namespace attrcache::support
