// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// liburcu's lock-free hash table, in the quiescent-state flavour.

#include <urcu/rculfhash.h>

#include <cstdlib>

#include "bench/contenders/urcu.h"
#include "bench/harness/describe.h"

namespace {

struct Node {
  cds_lfht_node node;
  rcu_head head;
  int key;
  void* value;
};

Node* whole(cds_lfht_node* node) { return reinterpret_cast<Node*>(node); }
static_assert(offsetof(Node, node) == 0);

void free_later(cds_lfht_node* node) {
  urcu_qsbr_call_rcu(&whole(node)->head, [](rcu_head* head) {
    std::free(reinterpret_cast<char*>(head) - offsetof(Node, head));
  });
}

unsigned long hash(int key) { return static_cast<unsigned long>(key) * 0x9e3779b97f4a7c15; }
int is_key(cds_lfht_node* node, const void* key) {
  return whole(node)->key == *static_cast<const int*>(key);
}

struct UrcuLfht : bench::Urcu {
  struct Object {
    cds_lfht* table =
        cds_lfht_new_flavor(1, 1, 0, CDS_LFHT_AUTO_RESIZE, &urcu_qsbr_flavor, nullptr);
    ~Object() {
      cds_lfht_iter at;
      cds_lfht_node* node;
      cds_lfht_for_each(table, &at, node) {
        cds_lfht_del(table, node);
        free_later(node);
      }
      urcu_qsbr_thread_offline();
      cds_lfht_destroy(table, nullptr);
      urcu_qsbr_thread_online();
    }
  };
  using Handle = Object*;

  static Handle handle(Object& object) { return &object; }
  static bool get(Object* object, int key, void** value) {
    urcu_qsbr_read_lock();
    cds_lfht_node* found = find(object, key);
    if (found != nullptr) *value = __atomic_load_n(&whole(found)->value, __ATOMIC_RELAXED);
    urcu_qsbr_read_unlock();
    return found != nullptr;
  }
  static bool set(Object* object, int key, void* value) {
    urcu_qsbr_read_lock();
    cds_lfht_node* found = find(object, key);
    if (found == nullptr) {
      auto* made = static_cast<Node*>(std::malloc(sizeof(Node)));
      made->key = key;
      made->value = value;
      found = cds_lfht_add_unique(object->table, hash(key), is_key, &key, &made->node);
      if (found != &made->node) std::free(made);
    }
    static_cast<void>(__atomic_exchange_n(&whole(found)->value, value, __ATOMIC_ACQ_REL));
    urcu_qsbr_read_unlock();
    return true;
  }
  static bool erase(Object* object, int key) {
    urcu_qsbr_read_lock();
    cds_lfht_node* found = find(object, key);
    if (found != nullptr && cds_lfht_del(object->table, found) == 0) free_later(found);
    urcu_qsbr_read_unlock();
    return true;
  }

 private:
  static cds_lfht_node* find(Object* object, int key) {
    cds_lfht_iter at;
    cds_lfht_lookup(object->table, hash(key), is_key, &key, &at);
    return cds_lfht_iter_get_node(&at);
  }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<UrcuLfht>("urcu_qsbr_lfht", {.keyvals = 10000});
}
