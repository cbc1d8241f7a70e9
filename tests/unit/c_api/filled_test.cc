// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Structs filled by callers that were compiled with an older or a newer attrcache.h.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "tests/support/recorder.h"

namespace attrcache {
namespace {

// A later version of a struct, with one member more.
template <typename Struct>
struct Later {
  Struct known;
  uint64_t added = 0;
};

template <typename Struct, typename Call>
void takes_every_size(Struct filled, Call call) {
  EXPECT_EQ(call(&filled), ATTRCACHE_OK);
  filled.size = 0;
  EXPECT_EQ(call(&filled), ATTRCACHE_OK) << "as in version 1.0";
  for (const uint32_t bad : {4u, 4097u, ~0u}) {
    filled.size = bad;
    EXPECT_EQ(call(&filled), ATTRCACHE_ERR_ARGUMENT) << bad;
  }
  Later<Struct> later = {filled};
  later.known.size = sizeof(later);
  EXPECT_EQ(call(&later.known), ATTRCACHE_OK);
  later.added = uint64_t{1} << 63;
  EXPECT_EQ(call(&later.known), ATTRCACHE_ERR_UNSUPPORTED);
}

class FilledTest : public ::testing::Test {
 protected:
  support::Universe universe;
  attrcache_kind* const kind = universe.kind();
  int keyval = 0;
};

TEST_F(FilledTest, CallbacksOfEverySize) {
  takes_every_size(attrcache_callbacks{}, [&](const attrcache_callbacks* callbacks) {
    const int result = attrcache_keyval_create(kind, callbacks, &keyval);
    EXPECT_EQ(attrcache_keyval_set_callbacks(kind, keyval, callbacks), result);
    return result;
  });
}

TEST_F(FilledTest, OptionsOfADomainAndItsKinds) {
  const auto create = [](const attrcache_domain_options* options) {
    attrcache_domain* domain = nullptr;
    const int result = attrcache_domain_create(options, &domain);
    EXPECT_EQ(domain == nullptr, result != ATTRCACHE_OK);
    if (domain != nullptr) attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_ANYWAY, nullptr);
    return result;
  };
  takes_every_size(attrcache_domain_options{}, create);
  for (const auto of : {&attrcache_domain_options::communicator,
                        &attrcache_domain_options::datatype, &attrcache_domain_options::window}) {
    takes_every_size(attrcache_kind_options{}, [&](const attrcache_kind_options* options) {
      attrcache_domain_options domain = {};
      domain.*of = options;
      return create(&domain);
    });
  }
  takes_every_size(attrcache_kind_options{}, [&](const attrcache_kind_options* options) {
    attrcache_kind* made;
    return attrcache_kind_register(universe.domain(), options, &made);
  });
}

TEST_F(FilledTest, PredefinedOfEverySize) {
  attrcache_predefined p = {};
  p.where = ATTRCACHE_PER_KIND;
  p.tag = ATTRCACHE_AS_INT;
  takes_every_size(p, [&, number = 500](const attrcache_predefined* given) mutable {
    const_cast<attrcache_predefined*>(given)->number = ++number;
    return attrcache_keyval_define(kind, given);
  });
}

// Members that the caller doesn't know count as zero and aren't read: here they aren't zero.
TEST_F(FilledTest, AnOlderCallerLeavesTheRestAsIsUsual) {
  support::Recorder recorder;
  attrcache_callbacks callbacks = recorder.callbacks();
  callbacks.size = offsetof(attrcache_callbacks, destructor);
  ASSERT_EQ(attrcache_keyval_create(kind, &callbacks, &keyval), ATTRCACHE_OK);
  attrcache_keyval_info info;
  ASSERT_EQ(attrcache_keyval_describe(kind, keyval, &info), ATTRCACHE_OK);
  EXPECT_EQ(info.callbacks.delete_fn, callbacks.delete_fn);
  EXPECT_EQ(info.callbacks.extra_state, &recorder);
  EXPECT_EQ(info.callbacks.destructor, nullptr);
}

}  // namespace
}  // namespace attrcache
