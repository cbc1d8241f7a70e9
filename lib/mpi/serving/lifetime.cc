// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/serving/lifetime.h"

#include <mutex>

#include "mpi/native/native.h"
#include "mpi/serving/begin.h"

namespace attrcache::mpi {
namespace {

// How many sessions are alive, and one more for MPI_Init, or for a beginning that wasn't seen.
constinit std::mutex lock;
constinit long users = 0;

constinit thread_local int depth = 0;

}  // namespace

LifetimeCall::LifetimeCall() { ++depth; }
LifetimeCall::~LifetimeCall() { --depth; }

void LifetimeCall::began() const {
  if (depth > 1) return;
  const std::lock_guard held(lock);
  if (users++ == 0) begin_anew();
}

void LifetimeCall::session_ended() const {
  if (depth > 1) return;
  const std::lock_guard held(lock);
  if (users > 0) --users;
}

void notice_further_life() {
  if (facts::kSeesSessions || initialized()) return;
  static const bool has_sessions = find_symbol_in_libraries("PMPI_Session_init") != nullptr;
  if (!has_sessions) return;
  const std::lock_guard held(lock);
  if (anchors_are_forgotten()) begin_anew();
}

void lives_already() {
  const std::lock_guard held(lock);
  if (users == 0) users = 1;
}

}  // namespace attrcache::mpi
