// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What attrcache's operations cost on both sides of thresholds in the numbers of keyvals,
// attributes, borrows and stripes, through the shared C API. A contender that is only counted
// (harness/count.cc). A row of many attributes, borrows or keyvals says what one of them costs.
//
// In a row that ends in _among, the object also has attributes at the indices 0 and 100,000.

#include <attrcache/attrcache.h>
#include <valgrind/callgrind.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/harness/operation.h"
#include "tests/support/processors.h"

namespace {

constexpr long kFar = 100000;

void require(int result) {
  if (result == ATTRCACHE_OK) return;
  std::fprintf(stderr, "attrcache_costs: %s\n", attrcache_strerror(result));
  std::abort();
}

int make_keyval(attrcache_kind* kind, const attrcache_callbacks& callbacks) {
  int keyval;
  require(attrcache_keyval_create(kind, &callbacks, &keyval));
  return keyval;
}

// A domain's communicators, and keyvals of them: keyvals[i] has index i in a new domain.
struct Kind {
  explicit Kind(unsigned stripes = 2) {
    attrcache::support::processors = stripes;
    require(attrcache_domain_create(nullptr, &domain));
    attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &kind);
  }
  ~Kind() { attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_ANYWAY, nullptr); }

  void make_keyvals(long upto, const attrcache_callbacks& callbacks) {
    while (static_cast<long>(keyvals.size()) < upto)
      keyvals.push_back(make_keyval(kind, callbacks));
  }

  attrcache_domain* domain;
  attrcache_kind* kind;
  std::vector<int> keyvals;
};

attrcache_callbacks duplicating() {
  attrcache_callbacks callbacks = {};
  callbacks.copy_fn = ATTRCACHE_DUP_FN;
  return callbacks;
}

int copy(void*, int, void*, void* in, void* out, int* flag) {
  *static_cast<void**>(out) = in;
  *flag = 1;
  return 0;
}
int erase(void*, int, void*, void*) { return 0; }

attrcache_callbacks calling() {
  attrcache_callbacks callbacks = {};
  callbacks.copy_fn = reinterpret_cast<attrcache_callback*>(copy);
  callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(erase);
  return callbacks;
}

struct Object {
  explicit Object(Kind& of) : domain(of.domain), kind(of.kind), keyvals(of.keyvals) {}
  // One row leaves a value held, so this may be BUSY.
  ~Object() { attrcache_delete_all(kind, &table, this, ATTRCACHE_DRAIN_FINALLY, nullptr); }
  void set(int key, void* value = reinterpret_cast<void*>(0x20000)) {
    require(attrcache_set(kind, &table, this, key, value, nullptr));
  }
  void erase(int key) { require(attrcache_delete(kind, &table, this, key, nullptr)); }
  void free() {
    require(attrcache_delete_all(kind, &table, this, ATTRCACHE_STOP_AT_FAILURE, nullptr));
  }
  void borrow(int key, attrcache_borrowed* borrowed) {
    require(attrcache_borrow(kind, &table, key, borrowed));
  }
  alignas(64) attrcache_table table = ATTRCACHE_TABLE_INIT;
  attrcache_domain* domain;
  attrcache_kind* kind;
  const std::vector<int>& keyvals;
};

// The inputs that a caller reads each time, as in harness/loops.h.
struct alignas(128) Inputs {
  Object* volatile object;
  int volatile key;
  void* volatile value = reinterpret_cast<void*>(0x20000);
  uintptr_t volatile sum;
};

// ---- What the rows count ----

// The quickest that isn't inlined: attrcache_get_with_base calls it. attrcache_get takes 3 more.
[[gnu::always_inline]] inline uintptr_t get(Inputs& in) {
  Object* object = in.object;
  void* value;
  require(attrcache_get_renumbered(object->kind, &object->table, in.key, &value));
  return reinterpret_cast<uintptr_t>(value);
}

[[gnu::always_inline]] inline uintptr_t get_absent(Inputs& in) {
  Object* object = in.object;
  void* value;
  if (attrcache_get_renumbered(object->kind, &object->table, in.key, &value) != ATTRCACHE_ABSENT)
    std::abort();
  return 0;
}

[[gnu::always_inline]] inline uintptr_t set(Inputs& in) {
  in.object->set(in.key, in.value);
  return 0;
}

[[gnu::always_inline]] inline uintptr_t set_delete(Inputs& in) {
  set(in);
  in.object->erase(in.key);
  return 0;
}

[[gnu::always_inline]] inline uintptr_t create_free(Inputs& in) {
  int key = make_keyval(in.object->kind, duplicating());
  require(attrcache_keyval_free(in.object->kind, &key));
  return 0;
}

// A keyval's first use costs more than the later ones, and so does its free then.
[[gnu::always_inline]] inline uintptr_t use_once(Inputs& in) {
  Object* object = in.object;
  int key = make_keyval(object->kind, duplicating());
  object->set(key);
  object->erase(key);
  require(attrcache_keyval_free(object->kind, &key));
  return 0;
}

[[gnu::always_inline]] inline uintptr_t dup_free(Inputs& in) {
  alignas(64) static attrcache_table made = ATTRCACHE_TABLE_INIT;
  Object* object = in.object;
  attrcache_kind* kind = object->kind;
  require(attrcache_copy_all(kind, &object->table, object, &made, &made, nullptr));
  require(attrcache_delete_all(kind, &made, &made, ATTRCACHE_STOP_AT_FAILURE, nullptr));
  return 0;
}

[[gnu::always_inline]] inline uintptr_t is_empty(Inputs& in) {
  const attrcache_table* table = &in.object->table;
  if (!attrcache_table_is_empty(table)) std::abort();
  return 0;
}

// An object of a row of them, each with an attribute whose delete_fn frees the next one.
struct Link {
  alignas(64) attrcache_table table = ATTRCACHE_TABLE_INIT;
  attrcache_kind* kind = nullptr;
  Link* next = nullptr;
};
int free_link(Link* link) {
  if (link == nullptr) return 0;
  return attrcache_delete_all(link->kind, &link->table, link, ATTRCACHE_STOP_AT_FAILURE, nullptr);
}
int free_next(void*, int, void* value, void*) { return free_link(static_cast<Link*>(value)->next); }

uintptr_t nested_free(Inputs& in, std::vector<Link>& links) {
  Link* next = nullptr;
  for (Link& link : links) {
    link.kind = in.object->kind;
    link.next = std::exchange(next, &link);
    require(attrcache_set(link.kind, &link.table, &link, in.key, &link, nullptr));
  }
  require(free_link(next));
  return 0;
}

uintptr_t borrow(Inputs& in, std::vector<attrcache_borrowed>& held,
                 const std::vector<size_t>& order) {
  for (attrcache_borrowed& borrowed : held) in.object->borrow(in.key, &borrowed);
  for (const size_t at : order) require(attrcache_give_back(&held[at]));
  return 0;
}

// Borrows values and replaces each, so that its deletion is handed off to the borrower, who gives
// them back in the end.
uintptr_t replace_held(Object& object, int key, std::vector<attrcache_borrowed>& held) {
  for (attrcache_borrowed& borrowed : held) {
    object.borrow(key, &borrowed);
    object.set(key);
  }
  for (attrcache_borrowed& borrowed : held) require(attrcache_give_back(&borrowed));
  return 0;
}

// Threads that borrow a value, each so many times, and hold it for as long as this lives.
class Holders {
 public:
  Holders(Object& object, int key, long count, size_t each = 1) : hold_(count) {
    for (long t = 0; t < count; ++t) {
      threads_.emplace_back([&, key, each] {
        std::vector<attrcache_borrowed> borrowed(each);
        for (auto& b : borrowed) object.borrow(key, &b);
        hold_.count_down();
        end_.wait();
        for (auto& b : borrowed) require(attrcache_give_back(&b));
      });
    }
    hold_.wait();
  }
  ~Holders() {
    end_.count_down();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::latch hold_, end_{1};
  std::vector<std::thread> threads_;
};

[[gnu::always_inline]] inline uintptr_t use(Inputs& in) {
  attrcache_borrowed borrowed = {};
  in.object->borrow(in.key, &borrowed);
  require(attrcache_give_back(&borrowed));
  return 0;
}
[[gnu::always_inline]] inline uintptr_t use_and_replace(Inputs& in) {
  use(in);
  return set(in);
}
// With two sets, so that the table knows that a value with a delete_fn was replaced.
[[gnu::always_inline]] inline uintptr_t replace_and_free(Inputs& in) {
  set(in);
  set(in);
  in.object->free();
  return 0;
}

// ---- The rows ----

template <typename Once>
[[gnu::noinline]] void repeat(Once& once, Inputs& in, long times) {
  uintptr_t sum = 0;
  for (; times != 0; --times) sum += once(in);
  in.sum = sum;
}

// Does once(inputs), on an object with attributes at some indices, in its own domain.
template <typename Once>
class OnObject : public bench::PreparedOperation {
 public:
  OnObject(long keyvals, const attrcache_callbacks& callbacks, const std::vector<long>& attached,
           long used, Once once, unsigned stripes)
      : kind_(stripes), object_(kind_), once_(once) {
    kind_.make_keyvals(keyvals, callbacks);
    for (const long index : attached) object_.set(kind_.keyvals[index]);
    inputs_.object = &object_;
    if (keyvals != 0) inputs_.key = kind_.keyvals[used];
  }
  void enter(int) override {}
  bool repeat(int, long times) override { return ::repeat(once_, inputs_, times), true; }
  std::pair<const void*, const void*> scratch(int) const override { return {}; }

 private:
  Kind kind_;
  Object object_;
  Inputs inputs_;
  Once once_;
};

// A row that counts that.
template <typename Once>
bench::Operation on_object(const std::string& name, long keyvals,
                           const attrcache_callbacks& callbacks, const std::vector<long>& attached,
                           long used, long each, Once once, unsigned stripes = 2) {
  return {.name = name, .each = each, .prepare = [=](const bench::Parameters&) {
            return std::make_unique<OnObject<Once>>(keyvals, callbacks, attached, used, once,
                                                    stripes);
          }};
}
#define ONCE(function) [](Inputs& in) { return function(in); }

std::vector<long> range(long begin, long end) {
  std::vector<long> indices;
  for (long i = begin; i < end; ++i) indices.push_back(i);
  return indices;
}

// Given back in another order than borrowed: every seventh first.
std::vector<size_t> shuffled(size_t count) {
  std::vector<size_t> order;
  for (size_t begin = 0; begin < 7; ++begin) {
    for (size_t at = begin; at < count; at += 7) order.push_back(at);
  }
  return order;
}

std::string with(const char* name, long number) { return name + std::to_string(number); }

// Does first(object) before the first turn.
template <typename First, typename Turn>
auto once_after(First first, Turn turn) {
  return [=, done = false](Inputs& in) mutable {
    if (!done) first(*in.object);
    done = true;
    return turn(in);
  };
}

std::vector<bench::Operation> rows() {
  std::vector<bench::Operation> all;
  const attrcache_callbacks dup = duplicating();
  const long upto = kFar + 2;
  const auto add = [&](bench::Operation row) { all.push_back(std::move(row)); };
  const auto alone_and_among = [&](const char* name, long at, bool attached, auto once) {
    std::vector<long> indices(attached, at);
    add(on_object(with(name, at), upto, dup, indices, at, 1, once));
    indices.insert(indices.begin(), {0, kFar});
    add(on_object(with(name, at) + "_among", upto, dup, indices, at, 1, once));
  };
  for (const long at : {0L, 63L, 64L, 1000L, kFar}) alone_and_among("get_", at, true, ONCE(get));
  for (const long at : {1L, 62L, 65L, 1001L, kFar + 1})
    alone_and_among("get_absent_", at, false, ONCE(get_absent));
  for (const long at : {0L, 63L, 64L, kFar}) alone_and_among("set_", at, true, ONCE(set));
  for (const long at : {2L, 63L, 64L, kFar - 1})
    alone_and_among("set_delete_", at, true, ONCE(set_delete));
  // Two in turn, so that none is the youngest of its object.
  for (const long at : {0L, kFar}) {
    add(on_object(with("set_in_turn_", at), upto, dup, {at, 1}, at, 2, [at](Inputs& in) {
      const int* keyvals = in.object->keyvals.data();
      in.key = keyvals[at];
      set(in);
      in.key = keyvals[1];
      return set(in);
    }));
  }
  add(on_object("set_delete_fn", 1, calling(), {0}, 0, 1, ONCE(set)));
  add(on_object("set_delete_with_delete_fn", 1, calling(), {0}, 0, 1, ONCE(set_delete)));
  for (const unsigned stripes : {2u, 64u}) {
    add(on_object(with("create_free_", stripes), 0, dup, {}, 0, 1, ONCE(create_free), stripes));
    add(on_object(with("create_use_free_", stripes), 0, dup, {}, 0, 1, ONCE(use_once), stripes));
  }
  // Beside so many keyvals that stay, of 131,008.
  for (const long n : {1L, 100L, 10000L, 130000L}) {
    const long times = std::min(n, 131008 - n);  // a round, near the limit
    add(on_object(with("create_free_beside_", n), n, dup, {}, 0, times, [times](Inputs& in) {
      for (long i = 0; i < times; ++i) create_free(in);
      return uintptr_t{0};
    }));
  }
  add(on_object("dup_free_none", 1, dup, {}, 0, 1, ONCE(dup_free)));
  add(on_object("is_empty", 0, {}, {}, 0, 1, ONCE(is_empty)));
  for (const long n : {1L, 3L, 8L, 9L, 64L, 65L, 1000L, 10000L}) {
    add(on_object(with("dup_free_", n), n, dup, range(0, n), 0, n, ONCE(dup_free)));
  }
  // The first attribute, or the last, where there once were so many at once.
  const auto add_after = [&](const char* name, long n, long kept) {
    const auto erase_others = [kept](Object& object) {
      for (long k = 0; k < long(object.keyvals.size()); ++k) {
        if (k != kept) object.erase(object.keyvals[k]);
      }
    };
    add(on_object(with(name, n), n, dup, range(0, n), 0, 1,
                  once_after(erase_others, ONCE(dup_free))));
  };
  for (const long n : {1L, 100L, 10000L}) {
    add_after("dup_free_1_after_", n, 0);
    add_after("dup_free_last_after_", n, n - 1);
  }
  // A free where there once were so many. That is all that is counted.
  for (const long n : {1L, 100L, 10000L}) {
    add(on_object(with("free_after_", n), n, dup, {}, 0, 1, [](Inputs& in) {
      Object& object = *in.object;
      CALLGRIND_TOGGLE_COLLECT;
      for (const int key : object.keyvals) object.set(key);
      for (const int key : object.keyvals) object.erase(key);
      CALLGRIND_TOGGLE_COLLECT;
      object.free();
      return uintptr_t{0};
    }));
    all.back().turns = 10;
  }
  // All of them far: in a tree with nodes below its root.
  for (const long n : {1000L, 10000L}) {
    const long last = 63 + n;
    add(on_object(with("get_dense_", n), last + 1, dup, range(64, last + 1), last, 1, ONCE(get)));
    add(on_object(with("set_dense_", n), last + 1, dup, range(64, last + 1), last, 1, ONCE(set)));
    add(on_object(with("set_delete_dense_", n), last + 1, dup, range(64, last + 1), last, 1,
                  ONCE(set_delete)));
  }
  add(on_object("dup_free_8_among", upto, dup, {0, 1, 2, 3, 4, 5, 6, kFar}, 0, 8, ONCE(dup_free)));
  for (const long n : {8L, 64L, 1000L, 10000L}) {
    add(on_object(with("dup_free_calling_", n), n, calling(), range(0, n), 0, n, ONCE(dup_free)));
  }
  attrcache_callbacks deleting = dup;
  deleting.delete_fn = reinterpret_cast<attrcache_callback*>(erase);
  for (const long n : {3L, 100L, 10000L}) {
    add(on_object(with("dup_free_delete_fn_", n), n, deleting, range(0, n), 0, n, ONCE(dup_free)));
  }
  attrcache_callbacks freeing = {};
  freeing.delete_fn = reinterpret_cast<attrcache_callback*>(free_next);
  for (const long n : {10L, 100L}) {
    add(on_object(with("nested_free_", n), 1, freeing, {}, 0, n,
                  [links = std::vector<Link>(static_cast<size_t>(n))](Inputs& in) mutable {
                    return nested_free(in, links);
                  }));
  }
  using Held = std::vector<attrcache_borrowed>;
  for (const long n : {1L, 100L, 1000L, 10000L}) {
    const auto count = static_cast<size_t>(n);
    add(on_object(with("borrow_", n), 1, n == 10000 ? calling() : dup, {0}, 0, n,
                  [held = Held(count), order = shuffled(count)](Inputs& in) mutable {
                    return borrow(in, held, order);
                  }));
  }
  for (const long n : {1L, 50L, 300L, 1000L}) {
    add(on_object(with("replace_held_", n), 1, calling(), {0}, 0, n,
                  [held = Held(static_cast<size_t>(n))](Inputs& in) mutable {
                    return replace_held(*in.object, in.key, held);
                  }));
  }
  // A value that is borrowed so often that its borrows execute no fence any more is replaced: while
  // it is held, or not. The call that replaces it asks the kernel for one, which isn't counted here.
  constexpr int kBorrowsForALightOne = 32;
  for (const bool replaced_held : {false, true}) {
    add(on_object(replaced_held ? "replace_light_held" : "replace_light", 1, calling(), {0}, 0, 1,
                  [replaced_held, held = Held(1)](Inputs& in) mutable {
                    for (int i = 0; i < kBorrowsForALightOne + !replaced_held; ++i) use(in);
                    return replaced_held ? replace_held(*in.object, in.key, held) : set(in);
                  }));
  }
  // Beside what is over. Each row does its once before the first turn.
  const auto after = [&](const char* name, auto over, auto once) {
    const auto on_second = [over](Object& object) { over(object, object.keyvals[1]); };
    add(on_object(name, 2, calling(), {0, 1}, 0, 1, once_after(on_second, once)));
  };
  const auto nothing = [](Object&, int) {};
  const auto borrows = [](Object& object, int key) {
    Held held(10000);
    replace_held(object, key, held);
  };
  after("replace_held_after_10000_borrows", borrows,
        [one = Held(1)](Inputs& in) mutable { return replace_held(*in.object, in.key, one); });
  const auto threads = [](Object& object, int key) { const Holders all(object, key, 400, 2); };
  // One replaced value stays held, and its borrow is never given back.
  const auto held = [](Object& object, int key) {
    static attrcache_borrowed kept[2];
    attrcache_borrowed& one = kept[kept[0].value != nullptr];
    object.borrow(key, &one);
    object.set(key);
  };
  const auto both = [=](Object& object, int key) {
    borrows(object, key);
    held(object, key);
  };
  after("use", nothing, ONCE(use));
  after("use_beside_a_replaced_one_held", held, ONCE(use));
  after("use_beside_that_after_10000_borrows", both, ONCE(use));
  after("use_and_replace", nothing, ONCE(use_and_replace));
  after("use_and_replace_after_10000_borrows", borrows, ONCE(use_and_replace));
  after("use_and_replace_after_400_threads", threads, ONCE(use_and_replace));
  // Beside so many threads, each of which holds a value of another attribute: valgrind allows 500.
  for (const long n : {1L, 100L, 400L}) {
    add(on_object(with("use_and_replace_beside_threads_", n), 2, calling(), {0, 1}, 0, 1,
                  [n, holders = std::shared_ptr<Holders>()](Inputs& in) mutable {
                    if (holders == nullptr)
                      holders = std::make_shared<Holders>(*in.object, in.object->keyvals[1], n);
                    return use_and_replace(in);
                  }));
  }
  after("replace_and_free", nothing, ONCE(replace_and_free));
  after("replace_and_free_after_10000_borrows", borrows, ONCE(replace_and_free));
  after("replace_and_free_after_400_threads", threads, ONCE(replace_and_free));
  // Of another object than the one whose values this thread holds, n of them replaced.
  const auto replace_and_free_another = [](Inputs& in) {
    // One of two, so that it doesn't share a count of handed-off deletions (Readers::counter_of()).
    alignas(64) static attrcache_table tables[2] = {};
    const auto counter = [](const void* of) { return reinterpret_cast<uintptr_t>(of) / 16 % 127; };
    attrcache_table& table = tables[counter(&tables[0]) == counter(&in.object->table)];
    attrcache_kind* const kind = in.object->kind;
    for (int times = 0; times < 2; ++times)
      require(attrcache_set(kind, &table, &table, in.key, in.value, nullptr));
    require(attrcache_delete_all(kind, &table, &table, ATTRCACHE_STOP_AT_FAILURE, nullptr));
    return uintptr_t{0};
  };
  const auto hand_off = [](long n, long left) {
    return [=](Object& object) {
      static Held all;
      all = Held(static_cast<size_t>(n));
      for (auto& one : all) {
        object.borrow(object.keyvals.back(), &one);
        object.set(object.keyvals.back());
      }
      for (auto& one : std::span(all).subspan(static_cast<size_t>(left)))
        require(attrcache_give_back(&one));
    };
  };
  for (const long n : {1L, 100L, 10000L}) {
    add(on_object(with("replace_and_free_beside_left_", n), 1, calling(), {0}, 0, 1,
                  once_after(hand_off(n, n), replace_and_free_another)));
    add(on_object(with("use_beside_left_", n), 2, calling(), {0, 1}, 0, 1,
                  once_after(hand_off(n, n), ONCE(use))));
  }
  // Of the object itself, in vain: of n values that were replaced while they were held, 100 still are.
  const auto free_in_vain = [](Inputs& in) {
    Object& object = *in.object;
    return uintptr_t(attrcache_delete_all(object.kind, &object.table, &object,
                                          ATTRCACHE_STOP_AT_FAILURE, nullptr));
  };
  for (const long n : {100L, 10000L}) {
    add(on_object(with("free_in_vain_beside_100_left_of_", n), 1, calling(), {0}, 0, 1,
                  once_after(hand_off(n, 100), free_in_vain)));
  }
  // Where the table once had a value with a delete_fn, which was replaced, and is gone: seven
  // attributes without callbacks are set, and the object is freed, which makes its table as new;
  // and a dup.
  const auto replace_once = [](Object& object, int key) {
    for (int times = 0; times < 2; ++times) object.set(key);
    object.erase(key);
  };
  for (const bool marked : {false, true}) {
    add(on_object(marked ? "fill_free_7_marked" : "fill_free_7_unmarked", 7, dup, {}, 0, 7,
                  [=, key = 0](Inputs& in) mutable {
                    Object& object = *in.object;
                    if (key == 0) key = make_keyval(object.kind, calling());
                    if (marked) replace_once(object, key);
                    for (const int each : object.keyvals) object.set(each);
                    object.free();
                    return uintptr_t{0};
                  }));
    const auto mark = [=](Object& object) {
      if (marked) replace_once(object, make_keyval(object.kind, calling()));
    };
    add(on_object(marked ? "dup_free_7_marked" : "dup_free_7_unmarked", 7, dup, range(0, 7), 0, 7,
                  once_after(mark, ONCE(dup_free))));
  }
  // The attribute with a copy_fn has the last slot: a dup has copied the others at once by then,
  // and starts over.
  const auto set_last = [](Object& object) { object.set(make_keyval(object.kind, calling())); };
  for (const long n : {1L, 64L, 1000L, 10000L}) {
    add(on_object(with("dup_free_late_", n), n, dup, range(0, n), 0, n + 1,
                  once_after(set_last, ONCE(dup_free))));
  }
  for (const long n : {1000L, 10000L}) {
    add(on_object(with("keyval_list_", n), n, dup, {}, 0, n,
                  [infos = std::vector<attrcache_keyval_info>(n)](Inputs& in) mutable {
                    size_t count;
                    require(
                        attrcache_keyval_list(in.object->kind, infos.data(), infos.size(), &count));
                    return uintptr_t{count};
                  }));
  }
  add(on_object("domain", 0, {}, {}, 0, 1, [](Inputs&) {
    attrcache_domain* domain;
    require(attrcache_domain_create(nullptr, &domain));
    require(attrcache_domain_destroy(domain, ATTRCACHE_DESTROY_ANYWAY, nullptr));
    return uintptr_t{0};
  }));
  add(on_object("counters", 1000, dup, {}, 0, 1000, [](Inputs& in) {
    attrcache_counters counters;
    require(attrcache_domain_counters(in.object->domain, &counters));
    return uintptr_t{0};
  }));
  return all;
}

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return {.name = "attrcache_costs",
          .operations = rows(),
          .register_thread = [] { return nullptr; },
          .end = [] {}};
}
