// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The program that tools/litmus traces. It calls each operation on its common path, and prints the
// contents of memory before each. Of operations of one name, the last one counts. Lines of its
// output:
//
//   region NAME ADDRESS SIZE    memory that threads share
//   op NAME FUNCTION            the next call of FUNCTION is this operation
//   word ADDRESS VALUE          a word of memory before the operation, unless it is 0

#include <attrcache/attrcache.h>
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
  printf("region %s %llx %zu\n", name, (unsigned long long)(uintptr_t)at, size);
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
  if (code >= ATTRCACHE_OK) return;
  printf("failed: %s\n", attrcache_strerror(code));
  exit(1);
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
}

// Does an operation on the table; its result may be PRESENT.
#define DO(name, function, ...) \
  (before(name, #function), check(function(kind, &table, __VA_ARGS__)))
#define GIVE_BACK(name) (before(name, "attrcache_give_back"), check(attrcache_give_back(&borrowed)))

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

  DO("attach", attrcache_set, NULL, keyval, &first_data, NULL);
  DO("get", attrcache_get, keyval, &result);
  result = NULL;
  DO("replace", attrcache_set, NULL, keyval, &second_data, NULL);
  DO("get_replaced", attrcache_get, keyval, &result);
  result = NULL;
  DO("replace_by_aint", attrcache_set_as, NULL, keyval, 7, ATTRCACHE_AS_AINT, NULL);
  DO("get_aint", attrcache_get, keyval, &result);
  result = NULL;
  DO("replace_aint", attrcache_set, NULL, keyval, &first_data, NULL);
  DO("replace_again", attrcache_set, NULL, keyval, &second_data, NULL);
  DO("delete", attrcache_delete, NULL, keyval, NULL);
  DO("attach_if_absent", attrcache_set_if_absent, NULL, keyval, (intptr_t)&first_data,
     ATTRCACHE_AS_POINTER, &result);
  DO("find_present", attrcache_set_if_absent, NULL, keyval, (intptr_t)&second_data,
     ATTRCACHE_AS_POINTER, &result);
  result = NULL;
  DO("delete_again", attrcache_delete, NULL, keyval, NULL);

  // A value that was held before, under a keyval with a delete_fn: by full readers.
  keyval = deleted_keyval;
  DO("attach_to_hold", attrcache_set, NULL, keyval, &second_data, NULL);
  DO("first_borrow", attrcache_borrow, keyval, &borrowed);
  GIVE_BACK("first_give_back");
  DO("full_borrow", attrcache_borrow, keyval, &borrowed);
  GIVE_BACK("full_give_back");
  DO("full_delete_read", attrcache_delete, NULL, keyval, NULL);

  // The same by light readers, after some borrows by full ones.
  DO("attach_to_read", attrcache_set, NULL, keyval, &second_data, NULL);
  for (int i = 0; i < 40; ++i) {
    DO("borrow", attrcache_borrow, keyval, &borrowed);
    GIVE_BACK("give_back");
  }
  DO("delete_read", attrcache_delete, NULL, keyval, NULL);

  // The same once more, but each value is held when it is deleted.
  DO("attach_to_leave", attrcache_set, NULL, keyval, &second_data, NULL);
  for (int i = 0; i < 2; ++i) {
    DO("full_borrow_of_left", attrcache_borrow, keyval, &borrowed);
    GIVE_BACK("full_give_back_of_left");
  }
  DO("full_hold", attrcache_borrow, keyval, &borrowed);
  DO("full_leave", attrcache_delete, NULL, keyval, NULL);
  GIVE_BACK("full_end");
  DO("attach_to_leave_lightly", attrcache_set, NULL, keyval, &second_data, NULL);
  for (int i = 0; i < 40; ++i) {
    DO("borrow_of_left", attrcache_borrow, keyval, &borrowed);
    GIVE_BACK("give_back_of_left");
  }
  DO("hold", attrcache_borrow, keyval, &borrowed);
  DO("leave", attrcache_delete, NULL, keyval, NULL);
  GIVE_BACK("end");
  return 0;
}
