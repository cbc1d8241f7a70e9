// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Makes a Contender from a contender's class. Here is the only list of all operations.

#ifndef BENCH_HARNESS_DESCRIBE_H_
#define BENCH_HARNESS_DESCRIBE_H_

#include <memory>
#include <string>
#include <vector>

#include "bench/harness/keys.h"
#include "bench/harness/loops.h"
#include "bench/harness/operation.h"

namespace bench {

enum class Which { kFirst, kLast, kAbsent, kPredefined, kReplaced, kCalling };

template <Contends C>
using Loop = bool (*)(Inputs<C>& in, long times);

template <Contends C>
std::shared_ptr<void> register_thread() {
  if constexpr (NeedsThread<C>) return std::make_shared<typename C::Thread>();
  return nullptr;
}

// A loop with its objects, their attributes, and the key that it uses.
template <Contends C>
class PreparedLoop : public PreparedOperation {
 public:
  PreparedLoop(Loop<C> loop, Which which, const Parameters& parameters)
      : loop_(loop),
        which_(which),
        parameters_(parameters),
        inputs_(new Inputs<C>[parameters.threads]) {
    const auto& keys = Keys<C>::all();
    const long used = which == Which::kFirst  ? 0
                      : which == Which::kLast ? parameters.attributes - 1
                                              : parameters.attributes;
    for (int o = 0; o < (parameters.same_object ? 1 : parameters.threads); ++o) {
      objects_.push_back(std::make_unique<Padded>());
    }
    for (int t = 0; t < parameters.threads; ++t) {
      Inputs<C>& in = inputs_[t];
      in.keys = keys.data();
      in.object = handle_of(t);
      in.value = reinterpret_cast<void*>(0x20000);
      in.key = keys[used];
      if constexpr (Registers<C>) {
        if (which == Which::kCalling) in.key = Keys<C>::calling();
        if (which == Which::kPredefined) {
          int key;
          in.object = C::predefined(&key);
          in.key = key;
        }
      }
    }
  }

  // Each thread sets its own attributes, because some contenders keep a value with its thread.
  void enter(int thread) override {
    if (thread != 0 && parameters_.same_object) return;
    if constexpr (Borrows<C>) {
      if (which_ == Which::kReplaced) {
        if constexpr (requires { C::begin_use(handle_of(thread)); })
          C::begin_use(handle_of(thread));
        require(C::replace(handle_of(thread)), "attach");
      }
    }
    if (which_ == Which::kCalling)
      require(C::set(handle_of(thread), inputs_[thread].key, inputs_[thread].value), "attach");
    for (long a = 0; a < parameters_.attributes; ++a) {
      void* value = reinterpret_cast<void*>(0x10000 + 16 * a);
      require(C::set(handle_of(thread), Keys<C>::all()[a], value), "attach");
    }
  }

  bool repeat(int thread, long times) override { return loop_(inputs_[thread], times); }

  std::pair<const void*, const void*> scratch(int thread) const override {
    return {&inputs_[thread], &inputs_[thread] + 1};
  }

 private:
  // An object with cache lines of its own.
  struct alignas(64) Padded {
    typename C::Object object;
  };
  Handle<C> handle_of(int thread) {
    return handle<C>(objects_[parameters_.same_object ? 0 : thread]->object);
  }

  Loop<C> loop_;
  Which which_;
  Parameters parameters_;
  std::unique_ptr<Inputs<C>[]> inputs_;
  std::vector<std::unique_ptr<Padded>> objects_;
};

template <Contends C>
Operation operation(const char* name, long attributes, Which which, Loop<C> loop) {
  Parameters usual;
  usual.attributes = attributes;
  return {.name = name, .parameters = usual, .prepare = [=](const Parameters& parameters) {
            return std::make_unique<PreparedLoop<C>>(loop, which, parameters);
          }};
}

template <Contends C>
Contender describe(const std::string& name, const Limits& limits = {}) {
  static_assert(Gets<C> || Borrows<C>, "else there is nothing to measure");
  using O = Once<C>;
  Contender contender;
  contender.name = name;
  contender.limits = limits;
  contender.register_thread = register_thread<C>;
  contender.end = [] { Keys<C>::free_all(); };

  auto add = [&](const char* operation_name, long attributes, Which which, Loop<C> loop) {
    contender.operations.push_back(operation<C>(operation_name, attributes, which, loop));
  };
  // Objects of an MPI cost much by themselves.
  if constexpr (Gets<C> && !requires { C::kDearObjects; }) {
    add("object_0", 0, Which::kFirst, repeat<O::template object<0>, C>);
    add("object_4", 0, Which::kFirst, repeat<O::template object<4>, C>);
  }
  if constexpr (Borrows<C>) {
    add("borrow", 1, Which::kFirst, repeat<O::borrow, C>);
    add("use", 0, Which::kReplaced, repeat<O::use, C>);
    add("replace", 0, Which::kReplaced, repeat<O::replace, C>);
    add("use_replace", 0, Which::kReplaced, repeat<O::use_replace, C>);
  }
  if constexpr (Gets<C>) {
    add("get_hit", 1, Which::kFirst, repeat<O::get, C>);
    add("get_first_of_64", 64, Which::kFirst, repeat<O::get, C>);
    add("get_last_of_64", 64, Which::kLast, repeat<O::get, C>);
    add("get_absent", 1, Which::kAbsent, repeat<O::get_absent, C>);
    add("set", 1, Which::kFirst, repeat<O::set, C>);
    add("set_delete", 1, Which::kFirst, repeat<O::set_delete, C>);
    if constexpr (Registers<C>) {
      add("get_predefined", 1, Which::kPredefined, repeat<O::get, C>);
      add("set_calling", 0, Which::kCalling, repeat<O::set, C>);
      add("set_delete_calling", 0, Which::kCalling, repeat<O::set_delete, C>);
      add("create_free", 1, Which::kFirst, repeat<O::create_free, C>);
    }
    if constexpr (SetsIfAbsent<C>) {
      add("if_absent", 1, Which::kFirst, repeat<O::if_absent, C>);
      add("if_absent_delete", 0, Which::kFirst, repeat<O::if_absent_delete, C>);
    }
    if constexpr (Dups<C>) add("dup_free_8", 8, Which::kFirst, repeat<O::dup_free, C>);
  }
  return contender;
}

}  // namespace bench

#endif  // BENCH_HARNESS_DESCRIBE_H_
