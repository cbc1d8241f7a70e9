// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A stopped thread keeps no other thread's call from ending. Each run stops a thread at another
// place within an operation on an attribute, while the test's thread does each operation on that
// attribute. Then the stopped thread goes on, and in the end each value was deleted exactly once.
// If a call doesn't end, the test hangs, and the last name that it printed is the stopped
// operation's.
//
// Neither the library nor the callbacks may take a lock of malloc or of a ledger, so memory and
// values come from arrays.

#include <string_view>

#include "tests/stress/stopping.h"
#include "tests/stress/storm.h"

namespace attrcache::support {
namespace {

// Sanitizers make operations many times longer.
#if defined(__SANITIZE_ADDRESS__)
constexpr long kStride = 101;
#else
constexpr long kStride = 1;
#endif

// ---- What is used ----

struct Value {
  std::atomic<int> deleted, failed, failures;  // failures: how often delete_fn is to fail
  int attached, refused;                       // by its only set
};
constexpr int kValues = 64;
Value values[kValues];
std::atomic<int> values_used;

alignas(64) char memory[1 << 22];
std::atomic<size_t> memory_used;
void* allocate(size_t bytes, size_t, void*) {
  const size_t at = memory_used.fetch_add((bytes + 15) & ~size_t{15});
  return at + bytes <= sizeof(memory) ? memory + at : nullptr;
}

int delete_value(void*, int, void* value, void*) {
  auto& v = *static_cast<Value*>(value);
  if (v.failures > 0) {
    --v.failures;
    ++v.failed;
    return 7;
  }
  ++v.deleted;
  return 0;
}
int copy_nothing(void*, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return 0;
}

attrcache_domain_options options(unsigned flags) {
  static const attrcache_allocator allocator = {&allocate, [](void*, void*) {}, nullptr};
  memory_used = 0;
  for (Value* v = values; v < values + values_used; ++v) {
    v->deleted = v->failed = v->failures = v->attached = v->refused = 0;
  }
  values_used = 0;
  attrcache_domain_options o = {};
  o.flags = flags;
  o.allocator = &allocator;
  return o;
}

struct World {
  attrcache_domain_options given;
  Universe universe{&given};
  attrcache_kind* kind = universe.kind();
  int keyval = make_keyval(kind, callback(copy_nothing), callback(delete_value), nullptr);
  Object object{kind}, another{kind}, copy{kind};
  Object* used = &object;  // by the thread that isn't stopped
  attrcache_borrowed borrowed = {};

  explicit World(unsigned flags) : given(options(flags)) {}
  int set(Object& o) {
    const int n = values_used++;
    if (n >= kValues) std::abort();
    const int result = o.set(keyval, reinterpret_cast<intptr_t>(&values[n]));
    ++(result == ATTRCACHE_OK ? values[n].attached : values[n].refused);
    return result;
  }
  int borrow(Object& o) { return attrcache_borrow(kind, &o.table, keyval, &borrowed); }
  int use(Object& o) {
    attrcache_borrowed mine = {};
    const int result = attrcache_borrow(kind, &o.table, keyval, &mine);
    return result == ATTRCACHE_OK ? attrcache_give_back(&mine) : result;
  }
  int make_use_and_free(Object& o) {
    const attrcache_callbacks none = {};
    int made, result = attrcache_keyval_create(kind, &none, &made);
    if (result != ATTRCACHE_OK || (result = o.set(made, 1)) != ATTRCACHE_OK) return result;
    const int copy_of_it = made;
    result = attrcache_keyval_free(kind, &made);
    return result == ATTRCACHE_OK ? o.erase(copy_of_it) : result;
  }
  // Every value was deleted once; or its delete_fn failed, and a call returned that error, unless
  // the deletion had been handed off.
  void finish() {
    for (Value& v : values) v.failures = 0;
    for (Object* o : {&object, &another, &copy}) EXPECT_EQ(o->free(), ATTRCACHE_OK);
    EXPECT_EQ(universe.counters().attributes, 0u);
    for (const Value* v = values; v < values + values_used; ++v) {
      EXPECT_EQ(v->attached + v->refused, 1);
      EXPECT_LE(v->deleted, v->attached);
      EXPECT_TRUE(v->refused != 0 || v->deleted == 1 || v->failed != 0);
    }
  }
};

// ---- Operations ----

// The state of the value that is attached when the operation begins.
enum class State {
  kUnheld,
  kWasHeld,   // once
  kHeld,      // by the thread that isn't stopped
  kHandedOff  // replaced; its deletion is handed off to the thread that will be stopped
};
struct Operation {
  const char* name;
  int (*run)(World&);
  State state;
  int failures;  // of the first value's delete_fn
};

constexpr auto get = [](World& w) {
  void* value;
  return w.used->get(w.keyval, &value);
};
constexpr auto set = [](World& w) { return w.set(*w.used); };
constexpr auto erase = [](World& w) { return w.used->erase(w.keyval); };
constexpr auto use = [](World& w) { return w.use(*w.used); };
constexpr auto copy_all = [](World& w) { return w.used->copy_to(w.copy); };
constexpr auto delete_all = [](World& w) { return w.used->free(); };
constexpr auto give_back = [](World& w) { return attrcache_give_back(&w.borrowed); };
constexpr auto make_use_and_free = [](World& w) { return w.make_use_and_free(*w.used); };
constexpr auto free_keyval = [](World& w) {
  int variable = w.keyval;
  return attrcache_keyval_free(w.kind, &variable);
};

constexpr Operation kStopped[] = {
    {"get", get, State::kWasHeld, 0},
    {"the first borrow", use, State::kUnheld, 0},
    {"borrow", use, State::kWasHeld, 0},
    {"give_back of a replaced value", give_back, State::kHandedOff, 0},
    {"set over an unheld value", set, State::kUnheld, 0},
    {"set over a value that was held", set, State::kWasHeld, 0},
    {"set over a held value", set, State::kHeld, 0},
    {"set over an unheld value, which fails", set, State::kUnheld, 1},
    {"set over a value that was held, which fails", set, State::kWasHeld, 1},
    {"delete of an unheld value", erase, State::kUnheld, 0},
    {"delete of a value that was held", erase, State::kWasHeld, 0},
    {"delete of a held value", erase, State::kHeld, 0},
    {"delete, which fails", erase, State::kWasHeld, 1},
    {"copy_all", copy_all, State::kWasHeld, 0},
    {"delete_all", delete_all, State::kWasHeld, 0},
    {"delete_all of a held value", delete_all, State::kHeld, 0},
    {"free_keyval", free_keyval, State::kWasHeld, 0},
    {"create, set, free_keyval and delete", make_use_and_free, State::kWasHeld, 0},
};
constexpr struct {
  const char* name;
  int (*run)(World&);
} kMeanwhile[] = {
    {"get", get},
    {"borrow and give_back", use},
    {"set", set},
    {"copy_all", copy_all},
    {"delete", erase},
    {"the list of attributes",
     [](World& w) {
       size_t count;
       return attrcache_attribute_list(w.kind, &w.used->table, nullptr, 0, &count);
     }},
    {"create, set, free_keyval and delete", make_use_and_free},
    {"a set and free of another object",
     [](World& w) {
       const int result = w.set(w.another);
       EXPECT_EQ(w.another.free(), ATTRCACHE_OK);
       return result;
     }},
};
// Does every operation; each run begins with another one.
void do_everything(World& w, const Operation& beside, long run) {
  const auto expect_ended = [&](const char* name, int result, bool may_be_busy) {
    EXPECT_TRUE(result == ATTRCACHE_OK || result == ATTRCACHE_ABSENT ||
                (result == ATTRCACHE_ERR_KEYVAL_STALE && beside.run == +free_keyval) ||
                (result == ATTRCACHE_ERR_CALLBACK && beside.failures != 0) ||
                (result == ATTRCACHE_ERR_BUSY && may_be_busy))
        << name << " beside " << beside.name << ", run " << run << ": "
        << attrcache_strerror(result);
  };
  for (size_t i = 0; i < std::size(kMeanwhile); ++i) {
    const auto& operation = kMeanwhile[(static_cast<size_t>(run) + i) % std::size(kMeanwhile)];
    expect_ended(operation.name, operation.run(w), false);
    // Some operations come while the value is held, and others later.
    if (beside.state == State::kHeld && i == 3) expect_ended("give_back", give_back(w), false);
  }
  // The free comes last: after it, nothing may be attached to the memory until the stopped call,
  // which began earlier, has ended.
  if (w.used == &w.object) expect_ended("delete_all", delete_all(w), true);
}

// Stops a thread within an operation, at the run's place. Returns whether the thread got there.
bool stop_within(const Operation& operation, long run, unsigned flags) {
  World w(flags);
  EXPECT_EQ(set(w), ATTRCACHE_OK);
  if (operation.state != State::kUnheld) {
    EXPECT_EQ(use(w), ATTRCACHE_OK);
  }
  if (operation.state == State::kHeld) {
    EXPECT_EQ(w.borrow(w.object), ATTRCACHE_OK);
  }
  values[0].failures = operation.failures;
  Stopping stopping(run);
  constexpr int kDidNotEnd = 1000;  // no result
  int result = kDidNotEnd;
  std::thread thread([&] {
    // If the value is to be unheld, the operation is the thread's first.
    if (operation.state != State::kUnheld) make_use_and_free(w);
    if (operation.state == State::kHandedOff && w.borrow(w.object) == ATTRCACHE_OK) set(w);
    stopping.within([&] { result = operation.run(w); });
  });
  const bool stopped = stopping.stop(thread);
  // Nobody uses an object that is being freed.
  if (operation.run == +delete_all) w.used = &w.another;
  do_everything(w, operation, run);
  stopping.go_on();
  thread.join();
  EXPECT_NE(result, kDidNotEnd);
  w.finish();
  return stopped;
}

class StoppedStorm : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Readers, StoppedStorm,
                         ::testing::Values(0u, unsigned{ATTRCACHE_FULL_FENCES}));

TEST_P(StoppedStorm, NobodyWaitsForAStoppedThread) {
#if defined(ATTRCACHE_TESTS_UNDER_TSAN)
  GTEST_SKIP() << "the thread would be stopped within ThreadSanitizer's locks";
#endif
#if !defined(__x86_64__) && !defined(ATTRCACHE_TESTS_EMULATED)
  GTEST_SKIP() << "the library must be compiled for this: see stopping.h";
#endif
  if (std::string_view(attrcache_platform()).find("waits for a thread") != std::string_view::npos)
    GTEST_SKIP() << "here a thread that is stopped while it stores a value is waited for";
  long stops = 0;
  for (const Operation& operation : kStopped) {
    const long before = stops;
    std::printf("stopped within %s: ", operation.name);
    std::fflush(stdout);
    stops += stop_within(operation, 0, GetParam());
    for (long run = 1; run <= Stopping::runs(); run += kStride) {
      stops += stop_within(operation, run, GetParam());
    }
    std::printf("%ld times\n", stops - before);
  }
  EXPECT_GT(stops, 1000 / kStride / kSlowness);
}

}  // namespace
}  // namespace attrcache::support
