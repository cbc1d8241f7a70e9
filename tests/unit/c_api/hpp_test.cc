// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "attrcache/attrcache.hpp"

namespace {

using attrcache::Borrowed;
using attrcache::Copied;
using attrcache::Domain;
using attrcache::Keyval;
using attrcache::Kind;
using attrcache::Outcome;
using attrcache::Status;

struct Session {
  std::string name;
  attrcache_table attributes = {};
};

// Counts its live objects.
struct Cache {
  explicit Cache(int* alive, int content = 0) : alive(alive), content(content) { ++*alive; }
  Cache(const Cache& other) : Cache(other.alive, other.content) {}
  ~Cache() { --*alive; }
  int* alive;
  int content;
};

using CacheKeyval = Keyval<Cache, Session>;

class HppTest : public ::testing::Test {
 protected:
  Cache* fresh(int content = 0) { return new Cache(&alive, content); }

  int alive = 0;
  Domain domain = *Domain::create();
  Kind<Session> kind = *domain.add_kind<Session>("session");
  Session a{"a"};
  Session b{"b"};
};

TEST_F(HppTest, GetTellsAbsenceFromNullAndFromErrors) {
  Cache* value = reinterpret_cast<Cache*>(1);
  auto keyval = *CacheKeyval::create(kind);
  EXPECT_EQ(keyval.get(a, value), Status::absent);
  EXPECT_EQ(value, reinterpret_cast<Cache*>(1));
  ASSERT_TRUE(keyval.set(a, nullptr));
  EXPECT_EQ(keyval.get(a, value), Status::ok);
  EXPECT_EQ(value, nullptr);
  const CacheKeyval moved = std::move(keyval);
  EXPECT_EQ(keyval.get(a, value), Status::keyval_invalid);
  EXPECT_EQ(moved.get(a, value), Status::ok);
}

TEST_F(HppTest, LambdasKeepTheirStateUntilTheKeyvalIsGone) {
  auto state = std::make_shared<std::string>();
  int value = 0;
  {
    auto keyval = *Keyval<int, Session>::create(
        kind,
        [state](Session& old, int* v) -> Copied<int> {
          *state += "copy " + old.name + ";";
          return v;
        },
        [state](Session& object, int*) { *state += "delete " + object.name + ";"; });
    EXPECT_EQ(state.use_count(), 3);
    ASSERT_TRUE(keyval.set(a, &value));
    ASSERT_TRUE(kind.copy_all(a, b));
  }
  // The keyval has left its scope, which frees it. Its attributes are still served.
  EXPECT_EQ(state.use_count(), 3);
  ASSERT_TRUE(kind.delete_all(b));
  ASSERT_TRUE(kind.delete_all(a));
  EXPECT_EQ(*state, "copy a;delete b;delete a;");
  EXPECT_EQ(state.use_count(), 1);
}

TEST_F(HppTest, StatelessCallbacksAllocateNothing) {
  auto keyval = *CacheKeyval::create(kind, attrcache::clone, [](Cache* c) { delete c; });
  attrcache_callbacks callbacks;
  ASSERT_EQ(attrcache_keyval_describe(kind.native(), keyval.native(), nullptr, &callbacks),
            ATTRCACHE_OK);
  EXPECT_EQ(callbacks.extra_state, nullptr);
  EXPECT_EQ(callbacks.destructor, nullptr);
}

TEST_F(HppTest, CopiesMaySkipOrFail) {
  int answer = 0, value = 0, deleted = 0;
  auto keyval = *Keyval<int, Session>::create(
      kind,
      [&](int* v) {
        return answer == 0   ? Copied<int>(v)
               : answer == 1 ? Copied<int>::skip()
                             : Copied<int>::fail(42);
      },
      [&](int*) { ++deleted; });
  ASSERT_TRUE(keyval.set(a, &value));
  answer = 1;
  EXPECT_TRUE(kind.copy_all(a, b));
  EXPECT_EQ(keyval.get(b), nullptr);
  answer = 2;
  const Outcome failed = kind.copy_all(a, b);
  EXPECT_EQ(failed.status, Status::callback);
  EXPECT_EQ(failed.callback_code, 42);
  EXPECT_EQ(deleted, 0);
  ASSERT_TRUE(kind.delete_all(a));
}

TEST_F(HppTest, ARefusedValueIsDestroyedUnlessSomebodyHoldsIt) {
  Cache old(&alive, 1);
  std::optional<Borrowed<Cache>> held;
  bool hold = false;
  int number = ATTRCACHE_KEYVAL_INVALID;
  auto keyval = *CacheKeyval::create(kind, attrcache::copy_nothing, [&](Cache* c) {
    if (c != &old) return delete c, 0;
    if (hold) held.emplace(kind.native(), &a.attributes, number);
    return 13;
  });
  number = keyval.native();
  ASSERT_TRUE(keyval.set(a, &old));
  for (const Status status : {Status::callback, Status::ok}) {
    hold = status == Status::ok;  // then the new value stays, and the code is beside the success
    const Outcome out = keyval.set(a, std::make_unique<Cache>(&alive, 2));
    EXPECT_EQ(out.status, status);
    EXPECT_EQ(out.callback_code, 13);
    ASSERT_EQ(alive, 1 + hold);
    EXPECT_EQ(keyval.get(a)->content, 1 + hold);
  }
  held.reset();
  ASSERT_TRUE(keyval.erase(a));
  EXPECT_EQ(alive, 1);
}

int return_it(int* value) { return *value; }
int return_it_noexcept(int* value) noexcept { return *value; }
struct ReturnIt final {
  int operator()(int* value) const { return *value; }
};

// A value is gone with its only delete_fn, whatever that returned. The last three can't be base
// classes.
TEST_F(HppTest, OnceWrapsACallback) {
  int value = 7, calls = 0;
  const auto once = [this](auto function) {
    return *Keyval<int, Session>::create(kind, attrcache::copy_nothing, attrcache::once(function));
  };
  const auto by_lambda = once([&calls](int*) { return ++calls, 7; });
  const auto by_function = once(return_it);
  const auto by_noexcept = once(return_it_noexcept);
  const auto by_final = once(ReturnIt());
  for (const auto* each : {&by_lambda, &by_function, &by_noexcept, &by_final}) {
    ASSERT_TRUE(each->set(a, &value));
    const Outcome out = each->erase(a);
    EXPECT_EQ(out.status, Status::callback);
    EXPECT_EQ(out.callback_code, 7);
    EXPECT_EQ(each->get(a), nullptr);
  }
  EXPECT_EQ(calls, 1);
  ASSERT_TRUE(kind.delete_all(a));  // a fourth attribute takes memory
}

TEST_F(HppTest, ExceptionsOfCallbacksBecomeErrors) {
  int value = 0;
  bool angry = true;
  auto keyval = *Keyval<int, Session>::create(
      kind, [](int*) -> int* { throw std::runtime_error("copy"); },
      [&](int*) {
        if (angry) throw std::runtime_error("delete");
      });
  ASSERT_TRUE(keyval.set(a, &value));
  EXPECT_EQ(kind.copy_all(a, b).callback_code, ATTRCACHE_CALLBACK_THREW);
  EXPECT_EQ(keyval.erase(a).callback_code, ATTRCACHE_CALLBACK_THREW);
  angry = false;
  EXPECT_TRUE(keyval.erase(a));
}

TEST_F(HppTest, ABorrowedValueOutlivesItsDeletionByOthers) {
  auto keyval = *CacheKeyval::create(kind, attrcache::copy_nothing, attrcache::destroy);
  EXPECT_EQ(keyval.borrow(a).status(), Status::absent);
  EXPECT_EQ(keyval.borrow(a).get(), nullptr);
  ASSERT_TRUE(keyval.set(a, fresh(5)));
  if (const auto held = keyval.borrow(a)) {
    std::thread([&] { EXPECT_TRUE(keyval.erase(a)); }).join();
    EXPECT_EQ(keyval.erase(a).status, Status::ok) << "it is gone";
    EXPECT_EQ(keyval.get(a), nullptr);
    EXPECT_EQ(held->content, 5);
    EXPECT_EQ((*held).content, 5);
    EXPECT_EQ(alive, 1);
  } else {
    ADD_FAILURE() << describe(held.status());
  }
  EXPECT_EQ(alive, 0);
}
static_assert(!std::is_copy_constructible_v<Borrowed<int>> &&
              !std::is_move_constructible_v<Borrowed<int>>);
static_assert(!std::is_copy_constructible_v<CacheKeyval> &&
              std::is_nothrow_move_constructible_v<CacheKeyval>);

TEST_F(HppTest, KeyvalsMoveAndAreFreedOnce) {
  auto first = *CacheKeyval::create(kind);
  auto second = *CacheKeyval::create(kind);
  const int number = first.native();
  second = std::move(first);
  EXPECT_EQ(second.native(), number);
  { const CacheKeyval third = std::move(second); }
  EXPECT_EQ(second.native(), ATTRCACHE_KEYVAL_INVALID);
  int kept = first.release();
  EXPECT_EQ(domain.counters().keyvals_freed, 1u);
  EXPECT_EQ(attrcache_keyval_free(kind.native(), &kept), ATTRCACHE_OK);
}

// A Keyval that outlived its domain would be freed in freed memory.
TEST_F(HppTest, ADomainIsNotDestroyedBeforeItsKeyvals) {
  Domain other = *Domain::create();
  auto keyval = *CacheKeyval::create(*other.kind<Session>(ATTRCACHE_WINDOW));
  auto in_use = *CacheKeyval::create(*other.kind<Session>(ATTRCACHE_WINDOW));
  auto* const value = fresh();
  ASSERT_TRUE(in_use.set(a, value));
  { const auto freed = std::move(in_use); }
  attrcache_leaks leaks;
  EXPECT_EQ(other.destroy(&leaks), Status::busy);
  EXPECT_EQ(leaks.keyvals, 1u);
  EXPECT_EQ(leaks.freed_keyvals, 1u);
  EXPECT_EQ(leaks.attributes, 1u);
  ASSERT_TRUE(other.kind<Session>(ATTRCACHE_WINDOW)->delete_all(a));
  delete value;
  EXPECT_EQ(other.destroy(), Status::busy);
  EXPECT_EQ(keyval.free(), Status::ok);
  EXPECT_EQ(other.destroy(&leaks), Status::ok);
  EXPECT_EQ(leaks.keyvals + leaks.freed_keyvals + leaks.attributes, 0u);
  EXPECT_EQ(other.native(), nullptr);
  EXPECT_EQ(other.destroy(), Status::null);
}

TEST_F(HppTest, AFreedKeyvalFails) {
  auto keyval = *CacheKeyval::create(kind, attrcache::copy_nothing, attrcache::destroy);
  ASSERT_TRUE(keyval.set(a, fresh()));
  EXPECT_EQ(keyval.free(), Status::ok);
  Cache* found = nullptr;
  EXPECT_EQ(keyval.get(a, found), Status::keyval_invalid);
  EXPECT_EQ(keyval.set(a, std::make_unique<Cache>(&alive)).status, Status::keyval_invalid);
  EXPECT_EQ(keyval.free(), Status::keyval_invalid);
  ASSERT_TRUE(kind.delete_all(a));
  EXPECT_EQ(alive, 0);
}

// Objects whose table is not a member called `attributes`, and that hide their address.
struct Shy {
  Shy* operator&() = delete;
  const Shy* operator&() const = delete;
  attrcache_table inside = {};
};

}  // namespace

template <>
struct attrcache::TableOf<Shy> {
  static attrcache_table* get(Shy& shy) noexcept { return &shy.inside; }
  static const attrcache_table* get(const Shy& shy) noexcept { return &shy.inside; }
};

namespace {

TEST_F(HppTest, TablesMayBeAnywhereAndObjectsMayHideTheirAddress) {
  const auto shy_kind = *domain.add_kind<Shy>("shy");
  Shy from, to;
  const Shy* copied = nullptr;
  auto keyval = *Keyval<const int, Shy>::create(shy_kind, [&](Shy& old, const int* value) {
    copied = std::addressof(old);
    return value;
  });
  const int value = 3;
  ASSERT_TRUE(keyval.set(from, &value));
  ASSERT_TRUE(shy_kind.copy_all(from, to));
  EXPECT_EQ(copied, std::addressof(from));
  EXPECT_EQ(keyval.get(to), &value);
  ASSERT_TRUE(shy_kind.delete_all(from) && shy_kind.drain(to));
}

// A domain made in C, whose keyvals are other ints, 0 among them.
TEST(HppNumbersTest, AreTheDomainsOwn) {
  for (const uint32_t base : {0u, 0x40000000u, 0x80000000u}) {
    const attrcache_keyval_numbers numbers = {base, base == 0 ? -1 : 0};
    attrcache_domain_options options{};
    options.numbers = &numbers;
    attrcache_domain* native = nullptr;
    ASSERT_EQ(attrcache_domain_create(&options, &native), ATTRCACHE_OK);
    Domain domain(native);
    const auto kind = *domain.kind<Session>(ATTRCACHE_COMMUNICATOR);
    Session a{"a"}, b{"b"};
    int alive = 0;
    {
      auto made = *CacheKeyval::create(kind, attrcache::clone, attrcache::destroy);
      EXPECT_EQ(static_cast<uint32_t>(made.native()), base);
      CacheKeyval keyval(std::move(made));
      EXPECT_EQ(made.native(), numbers.invalid);
      Cache* found = nullptr;
      EXPECT_EQ(made.get(a, found), Status::keyval_invalid);
      EXPECT_EQ(keyval.get(a, found), Status::absent);
      ASSERT_TRUE(keyval.set(a, new Cache(&alive, 6)));
      ASSERT_TRUE(keyval.set(a, new Cache(&alive, 7)));
      EXPECT_EQ(alive, 1);
      ASSERT_NE(keyval.get(a), nullptr);
      EXPECT_EQ(keyval.get(a)->content, 7);
      EXPECT_EQ(keyval.borrow(a)->content, 7);
      ASSERT_TRUE(kind.copy_all(a, b));
      EXPECT_EQ(keyval.get(b, found), Status::ok);
      EXPECT_EQ(found->content, 7);
      EXPECT_NE(found, keyval.get(a));
      ASSERT_TRUE(keyval.erase(a));
      EXPECT_EQ(keyval.get(a, found), Status::absent);
    }
    EXPECT_EQ(domain.counters().keyvals_freed, 1u);
    ASSERT_TRUE(kind.delete_all(b));
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(domain.counters().keyvals_gone, 1u);
  }
}

// Whoever finds nothing makes a value; only one of them is attached.
TEST_F(HppTest, GetOrEmplaceGivesTheOneThatIsThere) {
  auto keyval = *CacheKeyval::create(kind, attrcache::copy_nothing, attrcache::destroy);
  {
    const auto made = keyval.get_or_emplace(a, &alive, 1);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->content, 1);
    const auto found = keyval.get_or_emplace(a, &alive, 2);
    EXPECT_EQ(found.get(), made.get());
    EXPECT_EQ(alive, 1);
    ASSERT_TRUE(keyval.erase(a));
    EXPECT_EQ(made->content, 1) << "it is held";
    EXPECT_EQ(keyval.get_or_emplace(a, &alive, 3)->content, 3);
  }
  EXPECT_EQ(alive, 1);
  Cache* const third = fresh(4);
  EXPECT_EQ(keyval.set_if_absent(a, third), Status::present);
  delete third;
  ASSERT_TRUE(keyval.erase(a));
  EXPECT_EQ(alive, 0);
  const CacheKeyval moved = std::move(keyval);
  EXPECT_EQ(keyval.get_or_emplace(a, &alive, 5).status(), Status::keyval_invalid);
  EXPECT_EQ(alive, 0);
}

TEST_F(HppTest, AnOwnerOfNothingIsRefused) {
  auto keyval = *CacheKeyval::create(kind, attrcache::copy_nothing, attrcache::destroy);
  auto owner = std::make_unique<Cache>(&alive);
  delete owner.release();
  EXPECT_EQ(keyval.set(a, std::move(owner)).status, Status::null);
  Cache* value = nullptr;
  EXPECT_EQ(keyval.get(a, value), Status::absent);
}

// And each has a line of its own, while all other ints share one.
TEST(StatusTest, HasEveryResultOfTheCApi) {
  const Status all[] = {Status::ok,
                        Status::absent,
                        Status::present,
                        Status::null,
                        Status::argument,
                        Status::keyval_invalid,
                        Status::keyval_unknown,
                        Status::keyval_stale,
                        Status::keyval_kind,
                        Status::keyval_predefined,
                        Status::callback,
                        Status::reattached,
                        Status::busy,
                        Status::freed,
                        Status::exists,
                        Status::thread,
                        Status::moved,
                        Status::memory,
                        Status::keyvals_exhausted,
                        Status::kinds_exhausted,
                        Status::unsupported};
  const std::string unknown = attrcache_strerror(-1000);
  std::set<std::string> lines = {unknown};
  for (const Status status : all) EXPECT_TRUE(lines.insert(describe(status)).second);
  EXPECT_EQ(lines.count(""), 0u);
  for (int result = -100; result < 100; ++result) {
    const auto count = std::count(std::begin(all), std::end(all), static_cast<Status>(result));
    EXPECT_EQ(count, attrcache_strerror(result) != unknown) << result;
    EXPECT_STREQ(describe(static_cast<Status>(result)), attrcache_strerror(result));
  }
}

// An object with attrcache::Attributes can't be copied, so that nothing is deleted twice.
struct Careful {
  attrcache::Attributes attributes;
};
static_assert(!std::is_copy_constructible_v<Careful> && !std::is_copy_assignable_v<Careful>);
static_assert(std::is_copy_constructible_v<Session>);
TEST_F(HppTest, ValuesOfNoTypeInAttributes) {
  const Kind<Careful> careful = *domain.add_kind<Careful>("careful");
  auto keyval = *Keyval<void, Careful>::create(careful, attrcache::duplicate);
  Careful one, two;
  ASSERT_TRUE(keyval.set(one, &alive));
  EXPECT_EQ(keyval.get(one), &alive);
  ASSERT_TRUE(careful.copy_all(one, two));
  {
    const auto held = keyval.borrow(two);
    ASSERT_TRUE(held);
    EXPECT_EQ(held.get(), &alive);
  }
  ASSERT_TRUE(careful.delete_all(one) && careful.delete_all(two));
}

template <typename Copy, typename Delete>
concept Fit = requires(Kind<Session> kind, Copy copy, Delete remove) {
  CacheKeyval::create(kind, copy, remove);
};
template <typename Copy>
concept FitsAlone = requires(Kind<Session> kind, Copy copy) {
  CacheKeyval::create(kind, copy);
};
static_assert(!FitsAlone<decltype(attrcache::clone)>, "nobody would delete the copies");
static_assert(!Fit<decltype(attrcache::clone), decltype(attrcache::delete_nothing)>);
static_assert(Fit<decltype(attrcache::clone), decltype(attrcache::destroy)>);
static_assert(FitsAlone<decltype(attrcache::duplicate)>);

template <typename Delete>
concept DuplicatesAnd = requires(Kind<Session> kind, Delete remove) {
  CacheKeyval::create(kind, attrcache::duplicate, remove);
};
static_assert(!DuplicatesAnd<decltype(attrcache::destroy)>, "both objects would delete it");
static_assert(!DuplicatesAnd<std::remove_const_t<decltype(attrcache::destroy)>>);
static_assert(!DuplicatesAnd<decltype(attrcache::once(attrcache::destroy))>);
static_assert(DuplicatesAnd<decltype(attrcache::delete_nothing)>);

}  // namespace
