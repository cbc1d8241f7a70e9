// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "platform/wait.h"

#include <gtest/gtest.h>

#include <thread>

namespace attrcache {
namespace {

TEST(WaitTest, BackoffComesBack) {
  Backoff backoff;
  for (int i = 0; i < 300; ++i) backoff.relax();
}

TEST(WaitTest, PatienceEnds) {
  Patience patience;
  int rounds = 0;
  while (patience.pass()) ++rounds;
  EXPECT_GT(rounds, 0);
  EXPECT_FALSE(patience.pass());
}

TEST(WaitTest, NobodySleepsOnWhatHasChanged) {
  const Atomic<uint32_t> word{7};
  for (int i = 0; i < 1000; ++i) sleep_while(word, 6);
}

// Many sleeps, and a wake after each change: none is missed, or this would never end.
TEST(WaitTest, WhoeverSleepsIsWoken) {
  Atomic<uint32_t> word{0};
  const auto await_turn = [&word](uint32_t turn) {
    for (uint32_t now; (now = word.load(kAcquire)) != turn;) sleep_while(word, now);
  };
  const auto end_turn = [&word] {
    word.fetch_add(1, kAcqRel);
    wake_all(word);
  };
  std::thread other([&] {
    for (uint32_t turn = 1; turn < 2000; turn += 2) {
      await_turn(turn);
      end_turn();
    }
  });
  for (uint32_t turn = 0; turn < 2000; turn += 2) {
    await_turn(turn);
    end_turn();
  }
  await_turn(2000);
  other.join();
}

}  // namespace
}  // namespace attrcache
