// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/recording/living.h"

#include <mutex>
#include <unordered_map>
#include <vector>

#include "mpi/native/native.h"
#include "mpi/objects/process.h"
#include "mpi/recording/keyvals.h"

namespace attrcache::mpi::report {
namespace {

struct Known {
  int kind;
  void* object = nullptr;  // null: the object wasn't used yet, so its handle isn't known
  std::string origin;      // if the object is a duplicate: the name of what was duplicated
  bool ending = false;     // it is being freed, so its table may not be looked at
};

constinit std::mutex lock;
// Never destroyed, because MPI may end after the program's static objects.
std::unordered_map<const void*, Known>& known() {
  static auto& map = *new std::unordered_map<const void*, Known>;
  return map;
}

// Adds one to a counter of each attribute's maker.
void count_each(int kind, const void* anchor, Atomic<uint64_t> Counts::*counter) {
  for (const attrcache_attribute_info& a : attributes(kind, anchor)) {
    if (Maker* maker = maker_of(kind, a.keyval)) (maker->counts.*counter).fetch_add(1, kRelaxed);
  }
}

template <typename Kind>
std::string ask_name(void* object) {
  using GetName = int(typename Kind::Handle, char*, int*);
  static auto* const get = reinterpret_cast<GetName*>(
      find_symbol((std::string("PMPI_") + kKindNames[Kind::kNumber].c + "_get_name").c_str()));
  char name[MPI_MAX_OBJECT_NAME + 1] = "";
  int length = 0;
  if (get == nullptr ||
      get(facts::from_object<typename Kind::Handle>(object), name, &length) != MPI_SUCCESS) {
    return "";
  }
  return name;
}

Object describe(const Known& k, bool ask) {
  Object o = {k.kind, "", false, false};
  if (k.kind >= kMpiKinds) {  // MPI_Finalize ends those that are left
    o.deleted_by_finalize = true;
  } else if (k.object != nullptr) {
    with_kind(k.kind, [&](auto kind) {
      using Kind = decltype(kind);
      const uintptr_t key = facts::to_key(facts::from_object<typename Kind::Handle>(k.object));
      o.predefined = is_predefined<Kind>(key);
      o.deleted_by_finalize = finalize_deletes<Kind>(key);
    });
    if (ask) o.name = name_of(k.kind, k.object);
    if (o.name.empty() && o.predefined && k.kind == kCommunicator)
      o.name = "MPI_COMM_WORLD or _SELF";
  } else if (!k.origin.empty()) {
    o.name = "duplicates of " + k.origin;
  }
  if (o.name.empty()) o.name = std::string(kKindNames[k.kind].word) + "s without a name";
  return o;
}

}  // namespace

std::vector<attrcache_attribute_info> attributes(int kind, const void* anchor) {
  attrcache_kind* const registry = process()->kinds[kind];
  const auto* const table = static_cast<const attrcache_table*>(anchor);
  std::vector<attrcache_attribute_info> list(16);
  size_t count = 0;
  attrcache_attribute_list(registry, table, list.data(), list.size(), &count);
  if (count > list.size()) {
    list.resize(count);
    attrcache_attribute_list(registry, table, list.data(), list.size(), &count);
  }
  list.resize(count < list.size() ? count : list.size());
  return list;
}

std::string name_of(int number, void* object) {
  if (number >= kMpiKinds) return "";
  return with_kind(number, [object](auto kind) { return ask_name<decltype(kind)>(object); });
}

void known_as(int kind, const void* anchor, void* object) {
  if (!counting()) return;
  const std::lock_guard held(lock);
  Known& k = known()[anchor];
  k.kind = kind;
  k.object = object;
  k.ending = false;
}

void duplicated(int kind, void* old_object, const void* anchor) {
  if (!counting()) return;
  count_each(kind, anchor, &Counts::copies);
  std::string origin = name_of(kind, old_object);
  const std::lock_guard held(lock);
  known()[anchor] = {kind, nullptr, std::move(origin)};
}

void ends(int kind, const void* anchor) {
  if (!counting()) return;
  count_each(kind, anchor, &Counts::ends);
  const std::lock_guard held(lock);
  const auto found = known().find(anchor);
  if (found != known().end()) found->second.ending = true;
}

void ended(const void* anchor) {
  if (!counting()) return;
  const std::lock_guard held(lock);
  known().erase(anchor);
}

void for_each_attached(bool ask, const std::function<void(const Object&, int keyval)>& visit) {
  const std::lock_guard held(lock);
  for (const auto& [anchor, k] : known()) {
    if (k.ending) continue;
    const auto list = attributes(k.kind, anchor);
    if (list.empty()) continue;
    const Object object = describe(k, ask);
    for (const attrcache_attribute_info& a : list) visit(object, a.keyval);
  }
}

}  // namespace attrcache::mpi::report
