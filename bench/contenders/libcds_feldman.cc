// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// libcds' wait-free multi-level array map by Feldman, with dynamic hazard pointers. It has the
// smallest size that the library allows: 16 places in the head and in each array below.

#include <cds/container/feldman_hashmap_dhp.h>
#include <cds/gc/dhp.h>
#include <cds/init.h>

#include "bench/contenders/counted_keys.h"
#include "bench/harness/describe.h"

namespace {

// libcds itself. It must be terminated after the last map, thread and key of the process.
struct Library {
  Library() { cds::Initialize(); }
  ~Library() { cds::Terminate(); }
};
struct Collector {
  Library first;
  cds::gc::DHP collector;
};
Collector& collector() {
  static Collector it;
  return it;
}

// The value of a node. Several threads use a node at once, so it is read and written atomically.
struct Value {
  explicit Value(void* value = nullptr) : value(value) {}
  void* value;
};

struct LibcdsFeldman : bench::CountedKeys {
  using Map = cds::container::FeldmanHashMap<cds::gc::DHP, int, Value>;
  struct Object {
    Map map{4, 4};
  };
  using Handle = Map*;
  static constexpr long kBytes = sizeof(Object) + 16 * sizeof(void*);  // with the head
  struct Thread {
    Thread() {
      collector();
      cds::threading::Manager::attachThread();
    }
    ~Thread() { cds::threading::Manager::detachThread(); }
  };

  static Handle handle(Object& object) { return &object.map; }
  static bool get(Map* map, int key, void** value) {
    return map->find(key, [value](Map::value_type& found) {
      *value = __atomic_load_n(&found.second.value, __ATOMIC_RELAXED);
    });
  }
  static bool set(Map* map, int key, void* value) {
    auto store = [value](Map::value_type& found) {
      static_cast<void>(__atomic_exchange_n(&found.second.value, value, __ATOMIC_ACQ_REL));
    };
    while (!map->find(key, store)) {
      if (map->insert(key, value)) break;
    }
    return true;
  }
  static bool erase(Map* map, int key) { return map->erase(key); }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<LibcdsFeldman>("libcds_feldman_map", {.keyvals = 100000, .objects = 100000});
}
