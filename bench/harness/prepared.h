// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Prepared operations: a loop with its objects, their attributes, and the key that it uses.

#ifndef BENCH_HARNESS_PREPARED_H_
#define BENCH_HARNESS_PREPARED_H_

#include <memory>
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

}  // namespace bench

#endif  // BENCH_HARNESS_PREPARED_H_
