// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A user-level thread that migrates to another process of the same program, with its domain and its
// objects at the same addresses, as AMPI's ranks do: what it has there is what it had.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tests/support/recorder.h"

namespace attrcache {
namespace {

constexpr int kKeyvals = 40;

// What migrates. It is in memory that both processes share, so nothing need be copied.
struct Rank {
  attrcache_thread thread;
  attrcache_domain* domain;
  attrcache_kind* kind;
  attrcache_table table, copy;
  attrcache_borrowed held;  // the first attribute of `table`, from one process to the next
  bool holds;
  int keyvals[kKeyvals];
  int deleted, copied;
  size_t used;
  alignas(64) char heap[1 << 20];
};

void* allocate(size_t bytes, size_t alignment, void* context) {
  auto* const rank = static_cast<Rank*>(context);
  const size_t begin = (rank->used + alignment - 1) / alignment * alignment;
  if (begin + bytes > sizeof(rank->heap)) return nullptr;
  rank->used = begin + bytes;
  return rank->heap + begin;
}
void release(void*, void*) {}
attrcache_thread* self(void* context) { return &static_cast<Rank*>(context)->thread; }

int count_copy(void*, int, void* rank, void* in, void* out, int* flag) {
  ++static_cast<Rank*>(rank)->copied;
  *static_cast<void**>(out) = in;
  *flag = 1;
  return 0;
}
int count_deletion(void*, int, void*, void* rank) { return ++static_cast<Rank*>(rank)->deleted, 0; }

#define NEED(condition) \
  if (!(condition)) return __LINE__

int begin(Rank& rank) {
  const attrcache_thread_hooks hooks = {self, &rank};
  const attrcache_allocator heap = {allocate, release, &rank};
  attrcache_domain_options options = {};
  options.threads = &hooks;
  options.allocator = &heap;
  NEED(attrcache_domain_create(&options, &rank.domain) == ATTRCACHE_OK);
  NEED(attrcache_kind_of(rank.domain, ATTRCACHE_COMMUNICATOR, &rank.kind) == ATTRCACHE_OK);
  attrcache_callbacks callbacks = {};
  callbacks.copy_fn = reinterpret_cast<attrcache_callback*>(count_copy);
  callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(count_deletion);
  callbacks.extra_state = &rank;
  for (int& keyval : rank.keyvals) {
    NEED(attrcache_keyval_create(rank.kind, &callbacks, &keyval) == ATTRCACHE_OK);
    NEED(attrcache_set(rank.kind, &rank.table, nullptr, keyval, &keyval, nullptr) == 0);
  }
  return 0;
}

int borrow(Rank& rank) {
  NEED(attrcache_borrow(rank.kind, &rank.table, rank.keyvals[0], &rank.held) == ATTRCACHE_OK);
  rank.holds = true;
  return 0;
}

// Replaces the value that is held: it is deleted when it is given back, not before.
int replace_held(Rank& rank) {
  rank.deleted = 0;
  void* const value = rank.held.value;
  NEED(attrcache_set(rank.kind, &rank.table, nullptr, rank.keyvals[0], value, nullptr) == 0);
  NEED(rank.deleted == 0);
  NEED(attrcache_give_back(&rank.held) == ATTRCACHE_OK);
  NEED(rank.deleted == 1);
  rank.holds = false;
  return 0;
}

// Finds all values, replaces them, and makes a copy, which the next process frees.
int use(Rank& rank) {
  if (rank.holds) NEED(replace_held(rank) == 0);
  NEED(borrow(rank) == 0 && replace_held(rank) == 0);
  rank.deleted = rank.copied = 0;
  NEED(attrcache_delete_all(rank.kind, &rank.copy, nullptr, ATTRCACHE_STOP_AT_FAILURE, nullptr) ==
       0);
  NEED(rank.deleted == 0 || rank.deleted == kKeyvals);
  rank.deleted = 0;
  for (int& keyval : rank.keyvals) {
    void* value;
    NEED(attrcache_get(rank.kind, &rank.table, keyval, &value) == ATTRCACHE_OK && value == &keyval);
    NEED(attrcache_set(rank.kind, &rank.table, nullptr, keyval, value, nullptr) == ATTRCACHE_OK);
  }
  NEED(rank.deleted == kKeyvals);
  NEED(attrcache_copy_all(rank.kind, &rank.table, nullptr, &rank.copy, nullptr, nullptr) == 0);
  NEED(rank.copied == kKeyvals);
  // A keyval more, and one less, which the attributes keep alive.
  int freed = rank.keyvals[3];
  void* value;
  NEED(attrcache_keyval_free(rank.kind, &freed) == ATTRCACHE_OK);
  NEED(attrcache_get(rank.kind, &rank.copy, rank.keyvals[3], &value) == ATTRCACHE_OK);
  NEED(attrcache_keyval_create(rank.kind, nullptr, &freed) == ATTRCACHE_OK);
  return 0;
}

int use_and_borrow(Rank& rank) {
  NEED(use(rank) == 0 && borrow(rank) == 0);
  return 0;
}

int end(Rank& rank) {
  NEED(replace_held(rank) == 0);
  rank.deleted = 0;
  for (attrcache_table* table : {&rank.table, &rank.copy}) {
    NEED(attrcache_delete_all(rank.kind, table, nullptr, ATTRCACHE_STOP_AT_FAILURE, nullptr) == 0);
  }
  NEED(rank.deleted == 2 * kKeyvals);
  attrcache_leaks leaks = {};
  leaks.size = sizeof leaks;
  NEED(attrcache_domain_destroy(rank.domain, ATTRCACHE_DESTROY_IF_UNUSED, &leaks) == ATTRCACHE_OK);
  return 0;
}

// So that this thread has the number that selects its records, and a thread begun later another one.
void use_the_library() {
  support::Universe universe;
  support::Object object{universe.kind()};
  EXPECT_EQ(object.set(support::Recorder::make(universe.kind(), {}), 1), ATTRCACHE_OK);
}

// A process that does the steps that it is sent, and sends back the line of what failed, or 0. If
// `in_a_thread`, a second thread does them, for which the library has another record.
class Process {
 public:
  explicit Process(Rank& rank, bool in_a_thread) {
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) abort();
    child_ = fork();
    if (child_ == 0) {
      close(to[1]);
      const auto work = [&] {
        int (*step)(Rank&);
        while (read(to[0], &step, sizeof step) == sizeof step) {
          const int line = step(rank);
          if (write(from[1], &line, sizeof line) != sizeof line) break;
        }
      };
      if (in_a_thread) {
        use_the_library();
        std::thread(work).join();
      } else {
        work();
      }
      _exit(0);
    }
    close(to[0]), close(from[1]);
    to_ = to[1], from_ = from[0];
  }
  ~Process() {
    close(to_), close(from_);
    waitpid(child_, nullptr, 0);
  }
  int operator()(int (*step)(Rank&)) {
    int line = -1;
    if (write(to_, &step, sizeof step) != sizeof step) return -1;
    return read(from_, &line, sizeof line) == sizeof line ? line : -1;
  }

 private:
  pid_t child_;
  int to_, from_;
};

TEST(OtherProcessTest, TheDomainGoesOnThere) {
  void* const shared =
      mmap(nullptr, sizeof(Rank), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& rank = *static_cast<Rank*>(shared);
  {
    Process here(rank, false), there(rank, true);  // neither has used the library before
    EXPECT_EQ(here(begin), 0);
    for (int i = 0; i < 5; ++i) {
      // Held in this process alone, and from one to the next.
      EXPECT_EQ(there(use), 0);
      EXPECT_EQ(here(use), 0);
      EXPECT_EQ(there(use_and_borrow), 0);
      EXPECT_EQ(here(use_and_borrow), 0);
    }
    EXPECT_EQ(there(end), 0);
  }
  munmap(shared, sizeof(Rank));
}

}  // namespace
}  // namespace attrcache
