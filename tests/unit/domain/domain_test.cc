// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "domain/domain.h"

#include <gtest/gtest.h>

#include <string>

namespace attrcache {
namespace {

// What can't be seen through the C API (unit/c_api/domain_test has the rest).
TEST(DomainLayerTest, KindsHaveNames) {
  Domain* domain = nullptr;
  ASSERT_EQ(Domain::create({}, &domain), ATTRCACHE_OK);
  attrcache_kind_options file = {};
  file.name = "file";
  Registry* kind = nullptr;
  EXPECT_EQ(domain->add_kind(file, &kind), ATTRCACHE_OK);
  EXPECT_EQ(domain->add_kind({}, &kind), ATTRCACHE_OK);
  int number = 0;
  for (const char* name : {"communicator", "datatype", "window", "file", "object"}) {
    EXPECT_EQ(domain->kind(number)->kind(), static_cast<unsigned>(number));
    EXPECT_EQ(domain->kind(number++)->name(), std::string(name));
  }
  attrcache_leaks leaks;
  EXPECT_EQ(domain->end(false, &leaks), ATTRCACHE_OK);
}

}  // namespace
}  // namespace attrcache
