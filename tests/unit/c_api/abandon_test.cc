// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// Two ways to end a table that can't fail: attrcache_table_abandon, and attrcache_delete_all in the
// mode ATTRCACHE_DRAIN_FINALLY: with destructors that attach, and misused. tests/fuzz compares the rest,
// abandon_model_test has what other threads do meanwhile.

class AbandonTest : public ApiTest {
 protected:
  int abandon(Object& of) { return attrcache_table_abandon(of.kind, &of.table); }
};

int never(void*, int, void*, void*) {
  ADD_FAILURE() << "it is given up";
  return 0;
}

// Each keyval's destructor makes another keyval, attaches under it, and frees it; or replaces what it
// has attached, while it holds that. One chain ends; another is endless, and costs a keyval, not the
// table.
TEST_F(AbandonTest, DestructorsThatAttachAgain) {
  struct Chain {
    Object object;
    int left = 0;
    bool hands_off = false;
    attrcache_borrowed held[5] = {};
    static void make(void* extra, void*) {
      auto* self = static_cast<Chain*>(extra);
      if (self->left-- == 0) return;
      Object& object = self->object;
      int keyval = make_keyval(object.kind, nullptr, self->hands_off ? callback(never) : nullptr,
                               self, ATTRCACHE_C, make);
      EXPECT_EQ(object.set(keyval, 1), ATTRCACHE_OK);
      if (self->hands_off) {
        EXPECT_EQ(attrcache_borrow(object.kind, &object.table, keyval, &self->held[self->left]),
                  ATTRCACHE_OK);
        EXPECT_EQ(object.erase(keyval), ATTRCACHE_OK);
      }
      EXPECT_EQ(attrcache_keyval_free(object.kind, &keyval), ATTRCACHE_OK);
    }
  };
  attrcache_domain* const domain = Universe().release();
  Chain chain = {Object(kind_of(domain, 0))};
  for (const int length : {5, 1 << 30, -5}) {
    for (const bool by_abandon : {true, false}) {
      chain.left = std::abs(length);
      chain.hands_off = length < 0;
      Chain::make(&chain, nullptr);
      EXPECT_EQ(by_abandon ? abandon(chain.object) : chain.object.free(ATTRCACHE_DRAIN_FINALLY),
                by_abandon || length <= 5 ? ATTRCACHE_OK : ATTRCACHE_ERR_REATTACHED);
      EXPECT_TRUE(chain.object.all_zero());
      EXPECT_EQ(chain.left == -1, length <= 5);
      for (auto& one : chain.held) attrcache_give_back(&one);
    }
  }
  chain.left = 0;
  attrcache_leaks leaks;
  EXPECT_EQ(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_ANYWAY, &leaks), ATTRCACHE_OK);
  EXPECT_EQ(leaks.attributes, 2u) << "one of each endless chain";
}

TEST_F(AbandonTest, ACopiedTableIsMadeNewAndTheOriginalStays) {
  const int keyval = recorder.keyval(kind);
  for (int i = 0; i < 4; ++i) recorder.keyval(kind);
  const int outside = recorder.keyval(kind);
  for (const bool by_abandon : {true, false}) {
    object.set(keyval, 1);
    object.set(outside, 2);
    Object copied(kind);
    std::memcpy(&copied.table, &object.table, sizeof(copied.table));
    EXPECT_EQ(by_abandon ? abandon(copied) : copied.free(ATTRCACHE_DRAIN_FINALLY),
              ATTRCACHE_ERR_MOVED);
    EXPECT_TRUE(copied.all_zero());
    EXPECT_EQ(object.value(keyval), 1);
    EXPECT_EQ(object.value(outside), 2);
    EXPECT_EQ(object.free(), ATTRCACHE_OK);
  }
}

TEST_F(AbandonTest, AttributesOfAnotherKind) {
  attrcache_kind* const windows = universe.kind(ATTRCACHE_WINDOW);
  for (const bool by_abandon : {true, false}) {
    Object window(windows);
    int of_window = recorder.keyval(windows);
    recorder.keyval(kind);
    const int keyval = recorder.keyval(kind);  // another index
    recorder.deletions.clear();
    window.set(of_window, 1);
    ASSERT_EQ(
        attrcache_set_as(kind, &window.table, &window, keyval, 2, ATTRCACHE_AS_POINTER, nullptr),
        ATTRCACHE_OK);
    // The call's kind is that of the second attribute.
    EXPECT_EQ(by_abandon ? attrcache_table_abandon(kind, &window.table)
                         : attrcache_delete_all(kind, &window.table, &window,
                                                ATTRCACHE_DRAIN_FINALLY, nullptr),
              ATTRCACHE_ERR_KEYVAL_KIND);
    EXPECT_TRUE(window.all_zero());
    EXPECT_EQ(recorder.deleted(), by_abandon ? std::vector<intptr_t>{} : std::vector<intptr_t>{2});
  }
  attrcache_domain* const domain = universe.release();
  attrcache_leaks leaks;
  EXPECT_EQ(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_ANYWAY, &leaks), ATTRCACHE_OK);
  EXPECT_EQ(leaks.attributes, 2u) << "their references were lost";
}

}  // namespace
}  // namespace attrcache::support
