// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The program that tools/litmus traces. It calls each operation on its common path, and prints the
// contents of memory before each. Of operations of one name, the last one counts. Lines of its
// output:
//
//   region NAME ADDRESS SIZE    memory that threads share
//   op NAME FUNCTION            the next call of FUNCTION is this operation
//   word ADDRESS VALUE          a word of memory before the operation, unless it is 0
//   end                         the operation has returned

#include <attrcache/attrcache.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRegions = 64, kHeap = 1 << 20 };
static struct {
  const char* name;
  char* at;
  size_t size;
} regions[kRegions];
static int region_count;

static void region(const char* name, void* at, size_t size) {
  if (region_count == kRegions) abort();
  regions[region_count].name = name;
  regions[region_count].at = at;
  regions[region_count++].size = size;
}
// Not within an operation, which may make some: stdio's lock would be in its trace.
static void print_regions(void) {
  static int printed;
  for (; printed < region_count; ++printed)
    printf("region %s %llx %zu\n", regions[printed].name,
           (unsigned long long)(uintptr_t)regions[printed].at, regions[printed].size);
}

// The library's memory comes from here, so that all of it is known.
static _Alignas(64) char heap[kHeap];
static size_t used;
static void* allocate(size_t bytes, size_t alignment, void* context) {
  (void)context;
  used = (used + alignment - 1) & ~(alignment - 1);
  if (used + bytes > kHeap) return NULL;
  void* memory = heap + used;
  used += bytes;
  static char names[kRegions][8];
  snprintf(names[region_count], sizeof names[0], "heap%d", region_count);
  region(names[region_count], memory, bytes);
  return memory;
}
static void release(void* memory, void* context) { (void)memory, (void)context; }

static _Alignas(64) attrcache_table table;
static _Alignas(64) int64_t first_data, second_data;  // what values point to
static _Alignas(64) void* result;                     // where get puts the value
static _Alignas(64) int64_t flag;
static _Alignas(64) int64_t ipi, ack;  // the kernel's fence: interrupt, answer

static void before(const char* name, const char* function) {
  print_regions();
  printf("op %s %s\n", name, function);
  for (int r = 0; r < region_count; ++r) {
    for (size_t at = 0; at + 8 <= regions[r].size; at += 8) {
      uint64_t word;
      memcpy(&word, regions[r].at + at, 8);
      if (word == 0) continue;
      printf("word %llx %llx\n", (unsigned long long)(uintptr_t)(regions[r].at + at),
             (unsigned long long)word);
    }
  }
  fflush(stdout);
}
static attrcache_kind* kind;
static int keyval;          // without callbacks
static int deleted_keyval;  // with a delete_fn

static int delete_nothing(void* object, int key, void* value, void* extra_state) {
  (void)object, (void)key, (void)value, (void)extra_state;
  return 0;
}

static void check(int code) {
  if (code == ATTRCACHE_OK) return;
  printf("failed: %s\n", attrcache_strerror(code));
  exit(1);
}
static void after(int code) {
  printf("end\n");
  check(code);
}

// Another thread deletes values that were held: it announces that in a cell of its own. Each waits for
// the other by plain loads: functions for atomics, which a lock calls, would be in the trace.
static int its_turn;
static attrcache_table* where;
static int deleted;
static void* delete_again_and_again(void* argument) {
  for (;;) {
    while (__atomic_load_n(&its_turn, __ATOMIC_ACQUIRE) == 0) sched_yield();
    deleted = attrcache_delete(kind, where, NULL, deleted_keyval, NULL);
    __atomic_store_n(&its_turn, 0, __ATOMIC_RELEASE);
  }
  return argument;
}
static int delete_elsewhere(attrcache_table* from) {
  where = from;
  __atomic_store_n(&its_turn, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&its_turn, __ATOMIC_ACQUIRE) != 0) sched_yield();
  return deleted;
}

// Makes a domain with keyvals. The thread gets its number and borrows for the first time, which takes
// the slow paths; the second borrow shows where its cell is. The clock that advances is another
// table's.
static void make_domain(void) {
  const attrcache_allocator allocator = {allocate, release, NULL};
  attrcache_domain_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.allocator = &allocator;
  attrcache_domain* domain;
  check(attrcache_domain_create(&options, &domain));
  attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &kind);
  check(attrcache_keyval_create(kind, NULL, &keyval));
  attrcache_callbacks callbacks;
  memset(&callbacks, 0, sizeof callbacks);
  callbacks.size = sizeof callbacks;
  callbacks.delete_fn = (attrcache_callback*)delete_nothing;
  check(attrcache_keyval_create(kind, &callbacks, &deleted_keyval));
  static _Alignas(64) attrcache_table other;
  check(attrcache_set_as(kind, &other, NULL, keyval, 1, ATTRCACHE_AS_POINTER, NULL));
  for (int i = 0; i < 2; ++i) {
    static attrcache_borrowed early;
    check(attrcache_borrow(kind, &other, keyval, &early));
    // The first word leads to the cell, whose first says which slot it protects (lib/readers,
    // lib/table/hold.h).
    if (i == 1) {
      char* address;
      memcpy(&address, early.opaque, sizeof address);
      uintptr_t what;
      memcpy(&what, address, sizeof what);
      if (what != (uintptr_t)&other + 16) exit(1);
      region("cell", address, 32);
    }
    check(attrcache_give_back(&early));
  }
  check(attrcache_delete(kind, &other, NULL, keyval, NULL));
  // The other thread deletes for the first time, which takes slow paths, too.
  pthread_t thread;
  if (pthread_create(&thread, NULL, delete_again_and_again, NULL) != 0) exit(1);
  static attrcache_borrowed held;
  check(attrcache_set(kind, &other, NULL, deleted_keyval, NULL, NULL));
  check(attrcache_borrow(kind, &other, deleted_keyval, &held));
  check(attrcache_give_back(&held));
  check(delete_elsewhere(&other));
}

#define DO(name, function, code)        \
  before(name, "attrcache_" #function); \
  after(code)
#define CALL(name, function, ...) DO(name, function, attrcache_##function(__VA_ARGS__))
#define SET(name, value) CALL(name, set, kind, &table, NULL, keyval, value, NULL)
#define SET_IF_ABSENT(name, value, expected)                                                      \
  DO(name, set_if_absent,                                                                         \
     attrcache_set_if_absent(kind, &table, NULL, keyval, (intptr_t)(value), ATTRCACHE_AS_POINTER, \
                             &result) == (expected)                                               \
         ? ATTRCACHE_OK                                                                           \
         : ATTRCACHE_ERR_ARGUMENT)
#define GET(name) CALL(name, get, kind, &table, keyval, &result)
#define DELETE(name) CALL(name, delete, kind, &table, NULL, keyval, NULL)
#define DELETE_ELSEWHERE(name) DO(name, delete, delete_elsewhere(&table))
#define BORROW(name) CALL(name, borrow, kind, &table, keyval, &borrowed)
#define GIVE_BACK(name) CALL(name, give_back, &borrowed)

int main(void) {
  region("table", &table, sizeof table);
  region("data1", &first_data, 8);
  region("data2", &second_data, 8);
  region("result", &result, 8);
  region("flag", &flag, 8);
  region("ipi", &ipi, 8);
  region("ack", &ack, 8);
  make_domain();
  static attrcache_borrowed borrowed;

  SET("attach", &first_data);
  GET("get");
  result = NULL;
  SET("replace", &second_data);
  GET("get_replaced");
  result = NULL;
  CALL("replace_by_aint", set_as, kind, &table, NULL, keyval, 7, ATTRCACHE_AS_AINT, NULL);
  GET("get_aint");
  result = NULL;
  SET("replace_aint", &first_data);
  SET("replace_again", &second_data);
  DELETE("delete");
  SET_IF_ABSENT("attach_if_absent", &first_data, ATTRCACHE_OK);
  SET_IF_ABSENT("find_present", &second_data, ATTRCACHE_PRESENT);
  result = NULL;
  DELETE("delete_again");

  // A value that was held before, under a keyval with a delete_fn: by full readers.
  keyval = deleted_keyval;
  SET("attach_to_hold", &second_data);
  BORROW("first_borrow");
  GIVE_BACK("first_give_back");
  BORROW("full_borrow");
  GIVE_BACK("full_give_back");
  DELETE_ELSEWHERE("full_delete_read");

  // The same by light readers, after some borrows by full ones.
  SET("attach_to_read", &second_data);
  for (int i = 0; i < 40; ++i) {
    BORROW("borrow");
    GIVE_BACK("give_back");
  }
  DELETE_ELSEWHERE("delete_read");

  // The same once more, but each value is held when it is deleted.
  SET("attach_to_leave", &second_data);
  for (int i = 0; i < 2; ++i) {
    BORROW("full_borrow_of_left");
    GIVE_BACK("full_give_back_of_left");
  }
  BORROW("full_hold");
  DELETE_ELSEWHERE("full_leave");
  GIVE_BACK("full_end");
  SET("attach_to_leave_lightly", &second_data);
  for (int i = 0; i < 40; ++i) {
    BORROW("borrow_of_left");
    GIVE_BACK("give_back_of_left");
  }
  BORROW("hold");
  DELETE_ELSEWHERE("leave");
  GIVE_BACK("end");
  print_regions();
  return 0;
}
