// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Frees beside other threads' delete_fns, which may use the object until they return
// (lib/table/free.cc): while one does, a free is BUSY, and touches nothing. And who runs what was
// handed off to holders.

#include "platform/atomic.h"
#include "tests/model/race.h"

namespace attrcache::model {
namespace {

Atomic<int> begun;

// The owner may free the object only where all calls on it have ended, or are within a delete_fn.
constexpr auto free_once_begun = [](Fixture& f) {
  if (begun.load(kAcquire) != 0) f.erase_all(0);
};
constexpr auto try_twice_once_begun = [](Fixture& f) {
  if (begun.load(kAcquire) == 0) return;
  if (f.erase_all(0) != ATTRCACHE_OK) f.erase_all(0);
};

attrcache_borrowed held[2];
constexpr auto give_back_first = [](Fixture& f) { f.give_back(&held[0]); };
constexpr auto give_back_second = [](Fixture& f) { f.give_back(&held[1]); };
void hold(Fixture& f, unsigned thread, int key, attrcache_borrowed* by) {
  as_thread(thread, [&] { expect(f.borrow(0, key, by), "there is a value to hold"); });
}

// What thread 1 does within the delete_fn of value 1, which has the last key.
template <auto kDoes>
void within(Fixture& f, int value) {
  if (value != 1 || now().thread != 1) return;
  begun.store(1, kRelease);
  kDoes(f);
}
// Keys with delete_fns, and on object 0 a value under each: 1 under the last, which is the oldest.
template <auto kDoes>
void prepare(Fixture& f, int keys) {
  begun.store(0, kRelaxed);
  held[0] = held[1] = {};
  for (int k = 0; k < keys; ++k) f.make_key(Fixture::kDelete);
  for (int k = keys; k-- > 0;) f.set(0, k, keys - k);
  f.keys[static_cast<size_t>(keys - 1)].on_delete = within<kDoes>;
}
constexpr auto erase_second = [](Fixture& f) { f.erase(0, 1); };

// Thread 2 holds value 2, which the free finds, and the delete_fn takes away.
template <auto kDoes>
void held_value_is_not_lost() {
  race(
      {{2, 1}}, [](Fixture& f) { prepare<kDoes>(f, 2), hold(f, 2, 0, &held[0]); }, free_once_begun,
      erase_second, give_back_first);
}
TEST(FreeModelTest, DeleteWithinADeleteFnOfWhatIsHeld) {
  held_value_is_not_lost<[](Fixture& f) { f.erase(0, 0); }>();
}
TEST(FreeModelTest, SetWithinADeleteFnOverWhatIsHeld) {
  held_value_is_not_lost<[](Fixture& f) { f.set(0, 0, 3); }>();
}
TEST(FreeModelTest, SetIfAbsentWithinADeleteFnWhereAValueIsHeld) {
  held_value_is_not_lost<[](Fixture& f) { f.set_if_absent(0, 0, 3); }>();
}
// The same within a delete_fn that was handed off.
TEST(FreeModelTest, DeleteWithinAHandedOffDeleteFnOfWhatIsHeld) {
  const auto begin = [](Fixture& f) {
    prepare<[](Fixture& f) { f.erase(0, 0); }>(f, 2);
    hold(f, 1, 1, &held[0]);
    hold(f, 2, 0, &held[1]);
    f.set(0, 1, 3);
  };
  race({{2, 1}}, begin, free_once_begun, give_back_first, give_back_second);
}

// The delete_fn borrows after the free has looked for holders.
TEST(FreeModelTest, BorrowWithinADeleteFn) {
  const auto begin = [](Fixture& f) {
    prepare<[](Fixture& f) { f.use(0, 1); }>(f, 3);
    f.use(0, 1);
    f.use(0, 0);
  };
  race({{3, 1}}, begin, free_once_begun, [](Fixture& f) { f.erase(0, 2); });
}

// The delete_fn attaches something where the free has looked already: in order, and at once.
TEST(FreeModelTest, SetWithinADeleteFnBehindTheFree) {
  const auto begin = [](Fixture& f) {
    prepare<[](Fixture& f) { f.set(0, 0, 3); }>(f, 2);
    f.erase(0, 0);
  };
  race({{3, 1}}, begin, try_twice_once_begun, erase_second);
}

// A free that fails within a delete_fn forgets nothing of what that set may still do.
TEST(FreeModelTest, AfterAFreeThatFailedWithinADeleteFn) {
  const auto begin = [](Fixture& f) {
    prepare<[](Fixture&) {}>(f, 2);
    hold(f, 2, 0, &held[0]);
    f.keys[1].on_delete = [](Fixture& f, int value) {
      if (value == 1 && f.erase_all(0) != ATTRCACHE_OK) begun.store(1, kRelease);
    };
  };
  const auto free = [](Fixture& f) {
    if (begun.load(kAcquire) == 0 || f.erase_all(0) != ATTRCACHE_OK) return;
    reaches("freed afterwards", true);
    f.values[1].body.read();  // a race, unless its deletion has ended
  };
  race(
      {{3, 1}}, begin, free, [](Fixture& f) { f.set(0, 1, 3); }, give_back_first);
}

// A free runs no deletion that was handed off to a holder who has let go, but hasn't looked yet.
TEST(FreeModelTest, LeavesToAHolderWhatIsTheHolders) {
  const auto begin = [](Fixture& f) {
    prepare<[](Fixture&) {}>(f, 1);
    f.keys[0].on_delete = [](Fixture&, int value) {
      expect(value != 1 || now().thread == 1, "the holder runs it");
    };
    hold(f, 1, 0, &held[0]);
    f.set(0, 0, 2);
  };
  race(
      {{2, 0}}, begin, [](Fixture& f) { f.erase_all(0); }, give_back_first);
}

// A borrow whose attempts were handed two deletions, the first of which frees the object.
TEST(FreeModelTest, WithinADeletionThatWasHandedToABorrow) {
  static bool freed;
  const auto begin = [](Fixture& f) {
    prepare<[](Fixture&) {}>(f, 1);
    freed = false;
    f.use(0, 0);
    f.keys[0].on_delete = [](Fixture& f, int) {
      if (now().thread != 1) return;
      expect(!freed, "the object of a delete_fn is there");
      if (begun.load(kAcquire) == 0) return;
      freed = f.erase_all(0) == ATTRCACHE_OK;
      if (freed) f.set(0, 0, 3);  // another object, at the same address
    };
  };
  const auto replace_and_erase = [](Fixture& f) {
    f.set(0, 0, 2);
    f.use(0, 0);
    f.erase(0, 0);
    begun.store(1, kRelease);
  };
  const auto borrow = [](Fixture& f) {
    const bool held_it = f.borrow(0, 0, &held[0]);
    reaches("freed within a borrow", freed);
    expect(!held_it || !freed, "a borrow finds nothing on an object that was freed");
    if (held_it) f.give_back(&held[0]);
  };
  race({{3, 0}}, begin, replace_and_erase, borrow);
}

// A borrow that was handed a deletion, within which its thread borrows into the same.
TEST(FreeModelTest, BorrowIntoTheSameWithinADeletionThatWasHandedToABorrow) {
  static bool borrowed;
  const auto begin = [](Fixture& f) {
    prepare<[](Fixture& f) { borrowed = f.borrow(0, 0, &held[0]); }>(f, 2);
    borrowed = false;
    f.use(0, 1);
  };
  const auto borrow = [](Fixture& f) {
    const bool held_it = f.borrow(0, 1, &held[0]);
    reaches("borrowed within a borrow", borrowed);
    expect(!held_it || !borrowed, "a borrow doesn't lose what is in use");
    if (held_it) f.give_back(&held[0]);  // within which the delete_fn may run, too
    if (borrowed) f.give_back(&held[0]);
  };
  race(
      {{3, 0}}, begin, [](Fixture& f) { f.set(0, 1, 3); }, borrow);
}

}  // namespace
}  // namespace attrcache::model
