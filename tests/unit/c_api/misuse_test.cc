// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// Misuse returns the right error, changes nothing and loses nothing.

class MisuseTest : public ApiTest {
 protected:
  // Checks the result of every operation that takes a keyval.
  void expect_everywhere(int bad, int error) {
    SCOPED_TRACE(bad);
    void* value = this;
    int fint = 77;
    intptr_t aint = 77;
    attrcache_borrowed borrowed = {};
    attrcache_keyval_info info = {};
    const attrcache_callbacks callbacks = {};
    int variable = bad;
    EXPECT_EQ(object.get(bad, &value), error);
    EXPECT_EQ(attrcache_get_fint(kind, &object.table, bad, &fint), error);
    EXPECT_EQ(attrcache_get_aint(kind, &object.table, bad, &aint), error);
    EXPECT_EQ(value, this);
    EXPECT_EQ(fint, 77);
    EXPECT_EQ(aint, 77);
    EXPECT_EQ(object.set(bad, 1), error);
    EXPECT_EQ(object.set_if_absent(bad, 1, &value), error);
    EXPECT_EQ(value, this);
    EXPECT_EQ(object.erase(bad), error);
    EXPECT_EQ(attrcache_borrow(kind, &object.table, bad, &borrowed), error);
    EXPECT_EQ(attrcache_keyval_set_callbacks(kind, bad, &callbacks), error);
    EXPECT_EQ(attrcache_set_predefined(kind, bad, 1), error);
    EXPECT_EQ(attrcache_keyval_describe(kind, bad, &info, nullptr), error);
    EXPECT_EQ(attrcache_keyval_free(kind, &variable), error);
    EXPECT_EQ(variable, bad);
  }

  int keyval = recorder.keyval(kind);
};

TEST_F(MisuseTest, KeyvalUnknownOrInvalid) {
  expect_everywhere(keyval + 16, ATTRCACHE_ERR_KEYVAL_UNKNOWN);
  expect_everywhere(ATTRCACHE_KEYVAL_INVALID, ATTRCACHE_ERR_KEYVAL_INVALID);
  object.set(keyval, 1);
  expect_everywhere(ATTRCACHE_KEYVAL_INVALID, ATTRCACHE_ERR_KEYVAL_INVALID);
  object.erase(keyval);
  free_keyval(kind, keyval);  // index 0 has been used and is gone
  expect_everywhere(ATTRCACHE_KEYVAL_INVALID, ATTRCACHE_ERR_KEYVAL_INVALID);
}

// Ints that differ from a keyval in one bit, or in the three bits that mark keyvals. None of them
// was ever handed out.
std::vector<int> ints_like(int keyval) {
  std::vector<int> ints = {-1, 1, 2, 15, 16, 0x64400000, INT32_MIN, INT32_MAX};
  for (unsigned bit = 0; bit < 32; ++bit) ints.push_back(keyval ^ static_cast<int>(1u << bit));
  for (unsigned top = 0; top < 8; ++top) {
    if (top != 2) ints.push_back(static_cast<int>((keyval & 0x1fffffffu) | top << 29));
  }
  return ints;
}

int error_of(int bad) {
  const auto bits = static_cast<unsigned>(bad);
  if (bad == ATTRCACHE_KEYVAL_INVALID) return ATTRCACHE_ERR_KEYVAL_INVALID;
  const bool marked = bits >> 29 == 2;
  const unsigned kind = bits & 15;  // of three that there are
  return marked && (kind == 1 || kind == 2) ? ATTRCACHE_ERR_KEYVAL_KIND
                                            : ATTRCACHE_ERR_KEYVAL_UNKNOWN;
}

// Tries these ints while something is attached in each possible way, while nothing is attached, and
// when the keyval is gone. Keyvals with a delete_fn and without one take different paths.
TEST_F(MisuseTest, IntsThatResembleAKeyval) {
  for (const bool no_callbacks : {false, true}) {
    Universe fresh;
    Object other(fresh.kind());
    const int used = no_callbacks ? Recorder::make(other.kind, {}) : recorder.keyval(other.kind);
    const auto check_all = [&](const char* when) {
      for (const int bad : ints_like(used)) {
        SCOPED_TRACE(testing::Message() << std::hex << bad << " " << when);
        const size_t attached = other.list().size();
        void* value = this;
        attrcache_borrowed borrowed = {};
        EXPECT_EQ(other.get(bad, &value), error_of(bad));
        EXPECT_EQ(value, this);
        EXPECT_EQ(other.set(bad, 1), error_of(bad));
        EXPECT_EQ(other.erase(bad), error_of(bad));
        EXPECT_EQ(attrcache_borrow(other.kind, &other.table, bad, &borrowed), error_of(bad));
        EXPECT_EQ(free_keyval(other.kind, bad), error_of(bad));
        EXPECT_EQ(other.list().size(), attached);
      }
    };
    check_all("unattached");
    for (const attrcache_tag tag :
         {ATTRCACHE_AS_POINTER, ATTRCACHE_AS_INT, ATTRCACHE_AS_FINT, ATTRCACHE_AS_AINT}) {
      other.set_as(used, 5, tag);
      check_all("attached");
    }
    other.erase(used);
    check_all("deleted");
    free_keyval(other.kind, used);
    check_all("gone");
  }
}

// None of these ints finds a hidden value: one that was deleted while its delete_fn runs.
TEST_F(MisuseTest, IntsThatResembleTheKeyvalOfAHiddenValue) {
  object.set(keyval, 5);
  recorder.on_delete = [&](const Call&) {
    object.erase(keyval);
    for (unsigned top = 0; top < 8; ++top) {
      if (top == 2) continue;
      const int bad = static_cast<int>((keyval & 0x1fffffffu) | top << 29);
      void* value = nullptr;
      EXPECT_LT(object.get(bad, &value), ATTRCACHE_OK) << std::hex << bad;
    }
    return 0;
  };
  EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
}

TEST_F(MisuseTest, KeyvalFreedAndGone) {
  free_keyval(kind, keyval);
  expect_everywhere(keyval, ATTRCACHE_ERR_KEYVAL_STALE);
  // The same when the index has been reused by another keyval, which has an attribute here.
  int successor = 0;
  for (int i = 0; i < 1000; ++i) {
    successor = recorder.keyval(kind);
    if ((successor & 0x1ffff0) == (keyval & 0x1ffff0)) break;
    free_keyval(kind, successor);
  }
  ASSERT_EQ(successor & 0x1ffff0, keyval & 0x1ffff0);
  expect_everywhere(keyval, ATTRCACHE_ERR_KEYVAL_STALE);
  object.set(successor, 8);
  expect_everywhere(keyval, ATTRCACHE_ERR_KEYVAL_STALE);
  EXPECT_EQ(object.value(successor), 8) << "another's attribute is never touched";
}

TEST_F(MisuseTest, KeyvalOfAnotherKind) {
  const int other = recorder.keyval(universe.kind(ATTRCACHE_DATATYPE));
  expect_everywhere(other, ATTRCACHE_ERR_KEYVAL_KIND);
  object.set(keyval, 1);
  expect_everywhere(other, ATTRCACHE_ERR_KEYVAL_KIND);
}

// All ways to read agree where a value is found through another kind of its domain.
TEST_F(MisuseTest, AnotherKindWhereAValueIsFound) {
  attrcache_kind* const window = kind_of(universe.domain(), ATTRCACHE_WINDOW);
  ASSERT_EQ(object.set(keyval, 5), ATTRCACHE_OK);
  void* value = nullptr;
  int fint = 0;
  intptr_t aint = 0;
  attrcache_borrowed borrowed = {};
  EXPECT_EQ(attrcache_get(window, &object.table, keyval, &value), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_get_fint(window, &object.table, keyval, &fint), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_get_aint(window, &object.table, keyval, &aint), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_borrow(window, &object.table, keyval, &borrowed), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_give_back(&borrowed), ATTRCACHE_OK);
  EXPECT_EQ(reinterpret_cast<intptr_t>(value), 5);
  EXPECT_EQ(fint, 5);
  EXPECT_EQ(aint, 5);
}

TEST_F(MisuseTest, NullPointers) {
  attrcache_domain* const domain = universe.domain();
  void* value;
  int i;
  intptr_t a;
  size_t n;
  attrcache_borrowed b = {};
  attrcache_keyval_info info;
  attrcache_counters counters;
  attrcache_kind* k;
  attrcache_table* const t = &object.table;
  constexpr int kNull = ATTRCACHE_ERR_NULL;
  constexpr auto kPointer = ATTRCACHE_AS_POINTER;
  object.set(keyval, 1);
  const int absent = recorder.keyval(kind);

  EXPECT_EQ(attrcache_domain_create(nullptr, nullptr), kNull);
  EXPECT_EQ(attrcache_domain_destroy(nullptr, ATTRCACHE_DESTROY_ANYWAY, nullptr), kNull);
  EXPECT_EQ(attrcache_kind_of(nullptr, 0, &k), kNull);
  EXPECT_EQ(attrcache_kind_of(domain, 0, nullptr), kNull);
  EXPECT_EQ(attrcache_kind_register(nullptr, nullptr, &k), kNull);
  EXPECT_EQ(attrcache_kind_register(domain, nullptr, nullptr), kNull);
  EXPECT_EQ(attrcache_keyval_create(nullptr, nullptr, &i), kNull);
  EXPECT_EQ(attrcache_keyval_create(kind, nullptr, nullptr), kNull);
  const attrcache_callbacks callbacks = {};
  EXPECT_EQ(attrcache_keyval_set_callbacks(nullptr, keyval, &callbacks), kNull);
  EXPECT_EQ(attrcache_keyval_set_callbacks(kind, keyval, nullptr), kNull);
  EXPECT_EQ(attrcache_keyval_free(nullptr, &keyval), kNull);
  EXPECT_EQ(attrcache_keyval_free(kind, nullptr), kNull);
  EXPECT_EQ(attrcache_set_as(nullptr, t, this, keyval, 1, kPointer, nullptr), kNull);
  EXPECT_EQ(attrcache_set_as(kind, nullptr, this, keyval, 1, kPointer, nullptr), kNull);
  EXPECT_EQ(attrcache_set_if_absent(nullptr, t, this, keyval, 1, kPointer, &value), kNull);
  EXPECT_EQ(attrcache_set_if_absent(kind, nullptr, this, keyval, 1, kPointer, &value), kNull);
  EXPECT_EQ(attrcache_get(kind, nullptr, keyval, &value), kNull);
  EXPECT_EQ(attrcache_get(kind, t, keyval, nullptr), kNull);
  EXPECT_EQ(attrcache_get(nullptr, t, absent, &value), kNull);
  EXPECT_EQ(attrcache_get_fint(nullptr, t, keyval, &i), kNull);
  EXPECT_EQ(attrcache_get_fint(kind, nullptr, keyval, &i), kNull);
  EXPECT_EQ(attrcache_get_fint(kind, t, keyval, nullptr), kNull);
  EXPECT_EQ(attrcache_get_aint(nullptr, t, keyval, &a), kNull);
  EXPECT_EQ(attrcache_get_aint(kind, nullptr, keyval, &a), kNull);
  EXPECT_EQ(attrcache_get_aint(kind, t, keyval, nullptr), kNull);
  EXPECT_EQ(attrcache_delete(nullptr, t, this, keyval, nullptr), kNull);
  EXPECT_EQ(attrcache_delete(kind, nullptr, this, keyval, nullptr), kNull);
  EXPECT_EQ(attrcache_copy_all(nullptr, t, this, t, this, nullptr), kNull);
  EXPECT_EQ(attrcache_copy_all(kind, nullptr, this, t, this, nullptr), kNull);
  EXPECT_EQ(attrcache_copy_all(kind, t, this, nullptr, this, nullptr), kNull);
  EXPECT_EQ(attrcache_delete_all(nullptr, t, this, ATTRCACHE_DRAIN, nullptr), kNull);
  EXPECT_EQ(attrcache_delete_all(kind, nullptr, this, ATTRCACHE_DRAIN, nullptr), kNull);
  const auto deleted = [](void*, int, int) {};
  EXPECT_EQ(attrcache_delete_each(nullptr, t, this, ATTRCACHE_DRAIN, deleted, nullptr), kNull);
  EXPECT_EQ(attrcache_delete_each(kind, nullptr, this, ATTRCACHE_DRAIN, deleted, nullptr), kNull);
  EXPECT_EQ(attrcache_delete_each(kind, t, this, ATTRCACHE_DRAIN, nullptr, nullptr), kNull);
  EXPECT_EQ(
      attrcache_delete_each(kind, t, this, static_cast<attrcache_delete_mode>(3), deleted, nullptr),
      ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(attrcache_table_abandon(nullptr, t), kNull);
  EXPECT_EQ(attrcache_table_abandon(kind, nullptr), kNull);
  EXPECT_EQ(attrcache_borrow(nullptr, t, keyval, &b), kNull);
  EXPECT_EQ(attrcache_borrow(kind, nullptr, keyval, &b), kNull);
  EXPECT_EQ(attrcache_borrow(kind, t, keyval, nullptr), kNull);
  EXPECT_EQ(attrcache_give_back(nullptr), kNull);
  EXPECT_EQ(attrcache_set_predefined(nullptr, keyval, 1), kNull);
  EXPECT_EQ(attrcache_keyval_list(nullptr, nullptr, 0, &n), kNull);
  EXPECT_EQ(attrcache_keyval_list(kind, nullptr, 1, &n), kNull);
  EXPECT_EQ(attrcache_keyval_list(kind, nullptr, 0, nullptr), kNull);
  EXPECT_EQ(attrcache_keyval_describe(nullptr, keyval, &info, nullptr), kNull);
  EXPECT_EQ(attrcache_keyval_describe(kind, keyval, nullptr, nullptr), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_attribute_list(nullptr, t, nullptr, 0, &n), kNull);
  EXPECT_EQ(attrcache_attribute_list(kind, nullptr, nullptr, 0, &n), kNull);
  EXPECT_EQ(attrcache_attribute_list(kind, t, nullptr, 1, &n), kNull);
  EXPECT_EQ(attrcache_attribute_list(kind, t, nullptr, 0, nullptr), kNull);
  EXPECT_EQ(attrcache_domain_counters(nullptr, &counters), kNull);
  EXPECT_EQ(attrcache_domain_counters(domain, nullptr), kNull);
  EXPECT_EQ(object.value(keyval), 1);
  EXPECT_TRUE(recorder.deletions.empty());
}

TEST_F(MisuseTest, ArgumentsOutOfRange) {
  attrcache_callbacks callbacks = {};
  const auto expect_refused = [&] {
    int made = -7;
    EXPECT_EQ(attrcache_keyval_create(kind, &callbacks, &made), ATTRCACHE_ERR_ARGUMENT);
    EXPECT_EQ(made, -7);
    EXPECT_EQ(attrcache_keyval_set_callbacks(kind, keyval, &callbacks), ATTRCACHE_ERR_ARGUMENT);
  };
  for (const int language : {-1, 4, 99}) {
    callbacks.language = static_cast<attrcache_language>(language);
    expect_refused();
  }
  callbacks.language = ATTRCACHE_C;
  callbacks.flags = 2 * ATTRCACHE_DELETE_ONCE;
  expect_refused();
  callbacks.flags = 0;
  callbacks.delete_fn = ATTRCACHE_DUP_FN;
  expect_refused();
  object.set(keyval, 1);
  for (const int number : {-1, 4, 99}) {
    const auto tag = static_cast<attrcache_tag>(number);
    EXPECT_EQ(object.set_as(keyval, 2, tag), ATTRCACHE_ERR_ARGUMENT);
    EXPECT_EQ(object.set_if_absent(keyval, 2, nullptr, tag), ATTRCACHE_ERR_ARGUMENT);
  }
  for (const int mode : {-1, 3}) {
    EXPECT_EQ(object.free(static_cast<attrcache_delete_mode>(mode)), ATTRCACHE_ERR_ARGUMENT);
    EXPECT_EQ(attrcache_domain_destroy(universe.domain(), static_cast<attrcache_destroy_mode>(mode),
                                       nullptr),
              ATTRCACHE_ERR_ARGUMENT);
  }
  EXPECT_EQ(object.copy_to(object), ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(object.value(keyval), 1);
}

// Whatever touches the slots of a table that isn't aligned would crash.
TEST_F(MisuseTest, ATableThatIsNotAligned) {
  alignas(16) unsigned char bytes[sizeof(attrcache_table) + 8] = {};
  auto* const table = reinterpret_cast<attrcache_table*>(bytes + 8);
  EXPECT_EQ(attrcache_set(kind, table, nullptr, keyval, bytes, nullptr), ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(attrcache_set_as(kind, table, nullptr, keyval, 1, ATTRCACHE_AS_AINT, nullptr),
            ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(attrcache_set_if_absent(kind, table, nullptr, keyval, 1, ATTRCACHE_AS_POINTER, nullptr),
            ATTRCACHE_ERR_ARGUMENT);
  ASSERT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
  EXPECT_EQ(attrcache_copy_all(kind, &object.table, &object, table, table, nullptr),
            ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(attrcache_table_move(kind, &object.table, table), ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(object.value(keyval), 1);
}

TEST_F(MisuseTest, KindsExhausted) {
  attrcache_kind* made = nullptr;
  for (int number = 3; number < 16; ++number) {
    ASSERT_EQ(attrcache_kind_register(universe.domain(), nullptr, &made), ATTRCACHE_OK);
    EXPECT_EQ(universe.kind(number), made);
    Recorder::make(made, {});
  }
  made = nullptr;
  EXPECT_EQ(attrcache_kind_register(universe.domain(), nullptr, &made),
            ATTRCACHE_ERR_KINDS_EXHAUSTED);
  EXPECT_EQ(made, nullptr);
  for (const int number : {16, -1})
    EXPECT_EQ(attrcache_kind_of(universe.domain(), number, &made), ATTRCACHE_ERR_ARGUMENT);
  EXPECT_EQ(made, nullptr);
}

}  // namespace
}  // namespace attrcache::support
