// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/serving/lifetime.h"

#include <mutex>

#include "mpi/native/native.h"
#include "mpi/objects/process.h"
#include "mpi/serving/begin.h"

namespace attrcache::mpi {
namespace {

// Held where mpi_users (objects/process.h) changes, so that one thread begins anew before the
// others go on.
constinit std::mutex lifetime_lock;

constinit thread_local int nested = 0;

void end_one() {
  const std::lock_guard held(lifetime_lock);
  const long users = mpi_users.load(kRelaxed);
  if (users > 0) mpi_users.store(users - 1, kRelaxed);
}

}  // namespace

LifetimeCall::LifetimeCall() { ++nested; }
LifetimeCall::~LifetimeCall() { --nested; }

void LifetimeCall::began() const {
  if (nested > 1) return;
  const std::lock_guard held(lifetime_lock);
  const long users = mpi_users.load(kRelaxed);
  mpi_users.store(users + 1, kRelaxed);
  if (users == 0) begin_anew();
}

void LifetimeCall::session_ended() const {
  if (nested == 1) end_one();
}

void world_ends() { end_one(); }

void notice_further_life() {
  if (facts::kSeesSessions || (initialized() && !ending())) return;
  static const bool has_sessions = find_symbol_in_libraries("PMPI_Session_init") != nullptr;
  if (!has_sessions) return;
  const std::lock_guard held(lifetime_lock);
  if (anchors_are_forgotten()) begin_anew();
}

void lives_already() {
  const std::lock_guard held(lifetime_lock);
  if (mpi_users.load(kRelaxed) == 0) mpi_users.store(1, kRelaxed);
}

}  // namespace attrcache::mpi
