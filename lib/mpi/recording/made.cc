// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/recording/made.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "mpi/native/kinds.h"

namespace attrcache::mpi::report {
namespace {

constexpr size_t kMostSites = 4096;

struct State {
  std::mutex lock;  // of what follows
  std::map<std::pair<int, Place>, Site> sites;
  std::unordered_map<uintptr_t, Site*> alive[kMpiKinds];  // by key
  uint64_t most[kMpiKinds] = {};
};
// Never destroyed, because MPI may end after the program's static objects.
State& state() {
  static auto& made = *new State;
  return made;
}

}  // namespace

void object_made(int kind, uintptr_t key) {
  const Place place = find_caller();
  State& s = state();
  const std::lock_guard held(s.lock);
  const auto [object, is_new] = s.alive[kind].try_emplace(key);
  if (!is_new) return;
  std::pair<int, Place> at = {kind, place};
  if (s.sites.size() >= kMostSites && !s.sites.contains(at)) at.second = {};
  Site& site = s.sites.try_emplace(at, Site{kind, at.second}).first->second;
  ++site.made;
  object->second = &site;
  s.most[kind] = std::max(s.most[kind], uint64_t{s.alive[kind].size()});
}

Site* object_freed(int kind, uintptr_t key) {
  State& s = state();
  const std::lock_guard held(s.lock);
  const auto object = s.alive[kind].find(key);
  if (object == s.alive[kind].end()) return nullptr;
  Site* const site = object->second;
  ++site->freed;
  s.alive[kind].erase(object);
  return site;
}

void object_kept(int kind, uintptr_t key, Site* site) {
  State& s = state();
  const std::lock_guard held(s.lock);
  if (s.alive[kind].try_emplace(key, site).second) --site->freed;
}

void for_each_site(const std::function<void(const Site&)>& visit) {
  State& s = state();
  const std::lock_guard held(s.lock);
  for (const auto& [at, site] : s.sites) visit(site);
}

uint64_t most_alive(int kind) {
  State& s = state();
  const std::lock_guard held(s.lock);
  return s.most[kind];
}

}  // namespace attrcache::mpi::report
