// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/serving/lifetime.h"

#include <mutex>

#include "mpi/native/native.h"
#include "mpi/objects/process.h"
#include "mpi/serving/begin.h"

namespace attrcache::mpi {
namespace {

// Held where what follows changes, and mpi_users (objects/process.h), so that one thread begins
// anew before the others go on.
constinit std::mutex lifetime_lock;

constinit bool world_counted = false;  // in mpi_users

// (ML1) Whether a life has ended since serving began, and none has begun since. The acquire pairs
// with the release: a thread that doesn't find it set any more finds the anchors' new keyvals.
constinit Atomic<bool> forgotten{false};

// All that follow are called with lifetime_lock held.
void count_users(long change) {
  const long users = mpi_users.load(kRelaxed) + change;
  mpi_users.store(users > 0 ? users : 0, kRelaxed);
}
void part_ended() {
  if (process() != nullptr && !session_lives(0)) forgotten.store(true, kRelease);  // (ML1)
}
void begin_anew_if_forgotten() {
  if (!forgotten.load(kAcquire)) return;  // (ML1)
  begin_anew();
  forgotten.store(false, kRelease);  // (ML1)
}

}  // namespace

constinit thread_local StackPlace LifetimeCall::outermost_;

void LifetimeCall::began() const {
  if (!is_outermost()) return;
  const std::lock_guard held(lifetime_lock);
  count_users(1);
  if (part_ == Part::kWorld) world_counted = true;
  begin_anew_if_forgotten();
}

void LifetimeCall::ended() const {
  if (!is_outermost()) return;
  const std::lock_guard held(lifetime_lock);
  count_users(-1);
  part_ended();
}

void world_ended() {
  const std::lock_guard held(lifetime_lock);
  if (world_counted) count_users(-1);
  world_counted = false;
  part_ended();
}

void notice_further_life() {
  if (!forgotten.load(kAcquire) || !session_lives(0)) return;  // (ML1)
  const std::lock_guard held(lifetime_lock);
  begin_anew_if_forgotten();
}

void lives_already() {
  const std::lock_guard held(lifetime_lock);
  if (mpi_users.load(kRelaxed) != 0) return;
  count_users(1);
  world_counted = initialized() && !finalized();
}

}  // namespace attrcache::mpi
