// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"
#include "tests/support/threads.h"

namespace attrcache::support {
namespace {

// ATTRCACHE_TELL, and the other options of a domain that depend on how an MPI is configured.

const auto kTell = with(&attrcache_domain_options::flags, ATTRCACHE_TELL);

class TellTest : public ApiTest {
 protected:
  TellTest() : ApiTest(&kTell) {}
};

TEST_F(TellTest, DeleteTellsWhetherAnythingWasAttached) {
  // Inline, in a leaf, in the tree; with a delete_fn and without.
  for (int i = 0; i < 100; ++i) {
    const int keyval = i % 2 == 0 ? recorder.keyval(kind) : Recorder::make(kind, {});
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_ABSENT);
    EXPECT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_ABSENT);
  }
}

TEST_F(TellTest, TellsOfDeletesUpTheStack) {
  const int keyval = recorder.keyval(kind);
  object.set(keyval, 1);
  recorder.on_delete = [&](const Call&) {
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK) << "it was visible until now";
    EXPECT_EQ(object.erase(keyval), ATTRCACHE_ABSENT);
    return 0;
  };
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
}

TEST_F(TellTest, OnlyTheFirstFreeIsOk) {
  const int keyval = recorder.keyval(kind);
  object.set(keyval, 1);
  int copy = keyval;
  EXPECT_EQ(attrcache_keyval_free(kind, &copy), ATTRCACHE_OK);
  copy = keyval;
  EXPECT_EQ(attrcache_keyval_free(kind, &copy), ATTRCACHE_ABSENT);
  EXPECT_EQ(copy, ATTRCACHE_KEYVAL_INVALID);
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
  copy = keyval;
  EXPECT_EQ(attrcache_keyval_free(kind, &copy), ATTRCACHE_ERR_KEYVAL_STALE);
}

// Of all threads that free one keyval, or delete one attribute, exactly one gets OK.
TEST_F(TellTest, OneOfManyThreadsIsTheFirst) {
  constexpr int kRounds = 3000 / kSlowness;
  std::vector<int> keyvals;
  for (int round = 0; round < kRounds; ++round) {
    keyvals.push_back(Recorder::make(kind, {}));
    object.set(keyvals.back(), 1);
  }
  std::atomic<int> deleted{0}, freed{0};
  run_threads(kThreads, [&](int t) {
    for (int i = 0; i < kRounds; ++i) {
      const int keyval = keyvals[t % 2 == 0 ? i : kRounds - 1 - i];
      int copy = keyval;
      const int free_result = attrcache_keyval_free(kind, &copy);
      if (free_result == ATTRCACHE_OK) ++freed;
      const int result = object.erase(keyval);
      if (result == ATTRCACHE_OK) ++deleted;
    }
  });
  EXPECT_EQ(freed, kRounds);
  EXPECT_EQ(deleted, kRounds);
}

TEST(DomainOptionsTest, BadOnesAreRefused) {
  attrcache_domain* domain = nullptr;
  attrcache_domain_options options = with(&attrcache_domain_options::flags, 4u);
  EXPECT_EQ(attrcache_domain_create(&options, &domain), ATTRCACHE_ERR_ARGUMENT);
  for (const int bytes : {-4, 1, 2, 16}) {
    options = with(&attrcache_domain_options::fint_bytes, bytes);
    EXPECT_EQ(attrcache_domain_create(&options, &domain), ATTRCACHE_ERR_ARGUMENT);
  }
  const attrcache_thread_hooks no_self = {};
  options = with(&attrcache_domain_options::threads, &no_self);
  EXPECT_EQ(attrcache_domain_create(&options, &domain), ATTRCACHE_ERR_ARGUMENT);
  const auto no_form = static_cast<attrcache_handle_form>(7);
  const auto kind = with(&attrcache_kind_options::handle, no_form);
  options = with(&attrcache_domain_options::window, &kind);
  EXPECT_EQ(attrcache_domain_create(&options, &domain), ATTRCACHE_ERR_ARGUMENT);
  Universe universe;
  attrcache_kind* made = nullptr;
  EXPECT_EQ(attrcache_kind_register(universe.domain(), &kind, &made), ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(made, nullptr);
}

// ---- INTEGERs of 8 bytes, LOGICALs as configured ----

int64_t value_seen;
void copy_long(int64_t*, int64_t*, int64_t*, int64_t* in, int64_t* out, int64_t* flag,
               int64_t* ierror) {
  EXPECT_EQ(*flag, 7);
  value_seen = *in;
  *out = *in - 1;
  *flag = *in % 2 == 0 ? 0 : 7;  // an odd value isn't copied
  *ierror = 0;
}
void delete_long(int64_t*, int64_t*, int64_t* value, int64_t*, int64_t* ierror) {
  value_seen = *value;
  *ierror = 0;
}

// Both languages of Fortran behave alike then.
class FortranTypesTest : public ::testing::TestWithParam<attrcache_language> {};

TEST_P(FortranTypesTest, IntegersOf64BitsAndAnotherFalse) {
  attrcache_domain_options options = {};
  options.fint_bytes = 8;
  options.fortran_false = 7;
  if (sizeof(intptr_t) < 8) {
    attrcache_domain* domain = nullptr;
    EXPECT_EQ(attrcache_domain_create(&options, &domain), ATTRCACHE_ERR_UNSUPPORTED);
    GTEST_SKIP() << "an address has no room for an INTEGER of 8 bytes";
  }
  Universe universe(&options);
  attrcache_kind* const kind = universe.kind();
  const int keyval =
      make_keyval(kind, callback(copy_long), callback(delete_long), nullptr, GetParam());
  const int quick = Recorder::make(kind, {});
  const auto wide = static_cast<intptr_t>(-(int64_t{3} << 33));
  Object object(kind), to(kind), none(kind);
  for (int round = 0; round < 2; ++round) {  // set, and replaced
    EXPECT_EQ(object.set_as(keyval, wide, ATTRCACHE_AS_FINT), ATTRCACHE_OK);
    EXPECT_EQ(object.set_as(quick, wide, ATTRCACHE_AS_FINT), ATTRCACHE_OK);
  }
  for (const int k : {keyval, quick}) {
    EXPECT_EQ(object.aint(k), wide);
    EXPECT_EQ(*reinterpret_cast<int64_t*>(object.value(k)), wide);
  }
  EXPECT_EQ(object.copy_to(to), ATTRCACHE_OK);
  EXPECT_EQ(value_seen, wide);
  EXPECT_EQ(to.aint(keyval), wide - 1);
  EXPECT_EQ(to.copy_to(none), ATTRCACHE_OK);
  EXPECT_TRUE(none.all_zero()) << "the flag was .FALSE.";
  EXPECT_EQ(object.free(), ATTRCACHE_OK);
  EXPECT_EQ(value_seen, wide);
}

INSTANTIATE_TEST_SUITE_P(Languages, FortranTypesTest,
                         ::testing::Values(ATTRCACHE_FORTRAN_FINT, ATTRCACHE_FORTRAN_AINT));

}  // namespace
}  // namespace attrcache::support
