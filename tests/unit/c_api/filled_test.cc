// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Structs filled by callers that were compiled with a newer attrcache.h, and sizes that no version
// has.

#include <gtest/gtest.h>

#include <cstddef>

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
void refuses_wrong_sizes(Struct* with, Call call) {
  for (uint32_t small = 0; small < sizeof *with; ++small) {
    with->size = small;
    EXPECT_EQ(call(with), ATTRCACHE_ERR_ARGUMENT) << small;
  }
  for (const uint32_t large : {4097u, ~0u}) {
    with->size = large;
    EXPECT_EQ(call(with), ATTRCACHE_ERR_ARGUMENT) << large;
  }
}

template <typename Struct, typename Call>
void takes_every_size(Struct filled, Call call) {
  EXPECT_EQ(call(&filled), ATTRCACHE_OK);
  refuses_wrong_sizes(&filled, call);
  Later<Struct> later = {filled};
  later.known.size = sizeof(later);
  EXPECT_EQ(call(&later.known), ATTRCACHE_OK);
  later.added = uint64_t{1} << 63;
  EXPECT_EQ(call(&later.known), ATTRCACHE_ERR_UNSUPPORTED);
}

class FilledTest : public ::testing::Test {
 protected:
  support::Recorder recorder;  // outlives the domain, whose end runs destructors
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
  attrcache_callbacks callbacks;
  EXPECT_EQ(attrcache_keyval_describe(kind, keyval, nullptr, &callbacks), ATTRCACHE_OK);
  EXPECT_EQ(callbacks.size, sizeof(callbacks)) << "not what the creator's have";
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
      const auto domain = support::with(of, options);
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

// Calls with a struct to be filled that is as long as the library's, longer, and of no possible
// size.
template <typename Struct, typename Call>
void fills_every_size(Call call) {
  Later<Struct> later;
  later.added = 1;
  EXPECT_EQ(call(&later.known), ATTRCACHE_OK);
  EXPECT_EQ(later.added, 1u) << "not the library's";
  later.known.size = sizeof later;
  EXPECT_EQ(call(&later.known), ATTRCACHE_OK);
  EXPECT_EQ(later.added, 0u) << "unknown to the library";
  refuses_wrong_sizes(&later.known, call);
}

TEST_F(FilledTest, WhatTheLibraryFills) {
  keyval = recorder.keyval(kind);
  support::Object object(kind);
  ASSERT_EQ(object.set(keyval, 7), ATTRCACHE_OK);
  fills_every_size<attrcache_keyval_info>([&](attrcache_keyval_info* info) {
    return attrcache_keyval_describe(kind, keyval, info, nullptr);
  });
  fills_every_size<attrcache_callbacks>([&](attrcache_callbacks* callbacks) {
    return attrcache_keyval_describe(kind, keyval, nullptr, callbacks);
  });
  size_t count = 0;
  fills_every_size<attrcache_keyval_info>(
      [&](attrcache_keyval_info* info) { return attrcache_keyval_list(kind, info, 1, &count); });
  EXPECT_EQ(count, 1u);
  fills_every_size<attrcache_attribute_info>([&](attrcache_attribute_info* info) {
    return attrcache_attribute_list(kind, &object.table, info, 1, &count);
  });
  EXPECT_EQ(count, 1u);
  fills_every_size<attrcache_counters>([&](attrcache_counters* counters) {
    return attrcache_domain_counters(universe.domain(), counters);
  });
  // A domain in use isn't destroyed, whatever the size.
  fills_every_size<attrcache_leaks>([&](attrcache_leaks* leaks) {
    const int result =
        attrcache_domain_destroy(universe.domain(), ATTRCACHE_DESTROY_IF_UNUSED, leaks);
    return result == ATTRCACHE_ERR_BUSY ? int{ATTRCACHE_OK} : result;
  });
}

// The elements of an array are as far apart as the caller's struct is long.
TEST_F(FilledTest, AnArrayOfLaterStructs) {
  const int keyvals[] = {recorder.keyval(kind), recorder.keyval(kind)};
  Later<attrcache_keyval_info> infos[2];
  infos[0].known.size = sizeof infos[0];
  size_t count = 0;
  ASSERT_EQ(attrcache_keyval_list(kind, &infos[0].known, 2, &count), ATTRCACHE_OK);
  EXPECT_EQ(infos[0].known.keyval, keyvals[0]);
  EXPECT_EQ(infos[1].known.keyval, keyvals[1]);
  infos[0].known.size = sizeof(attrcache_keyval_info) + alignof(attrcache_keyval_info) / 2;
  EXPECT_EQ(attrcache_keyval_list(kind, &infos[0].known, 2, &count), ATTRCACHE_ERR_ARGUMENT)
      << "the second would not be aligned";
}

}  // namespace
}  // namespace attrcache
