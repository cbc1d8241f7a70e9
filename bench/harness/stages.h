// SPDX-License-Identifier: Apache-2.0
//
// Sets the stage for the loops: objects, what is attached to them, and the key that the loop uses.

#ifndef BENCH_HARNESS_STAGES_H_
#define BENCH_HARNESS_STAGES_H_

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "bench/harness/loops.h"
#include "bench/harness/objects.h"
#include "bench/harness/pinned.h"
#include "bench/harness/stage.h"

namespace bench {

enum class Which { kFirst, kLast, kAbsent, kPredefined };

template <Contends C>
using Loop = bool (*)(Inputs<C>& in, long times);

template <Contends C>
std::shared_ptr<void> be_a_thread() {
  if constexpr (NeedsThread<C>) return std::make_shared<typename C::Thread>();
  return nullptr;
}

template <Contends C>
class LoopStage : public Stage {
 public:
  LoopStage(Loop<C> loop, Which which, const Scene& scene)
      : loop_(loop), scene_(scene), inputs_(new Inputs<C>[scene.threads]) {
    const auto& keys = Keys<C>::at_least(scene.keyvals);
    first_ = scene.use_last ? scene.keyvals - scene.attributes : 0;
    const long used = which == Which::kFirst  ? first_
                      : which == Which::kLast ? first_ + scene.attributes - 1
                                              : first_ + scene.attributes;
    for (int o = 0; o < (scene.same_object ? 1 : scene.threads); ++o) {
      objects_.push_back(std::make_unique<Objects<C>>(scene.objects));
    }
    for (int t = 0; t < scene.threads; ++t) {
      Inputs<C>& in = inputs_[t];
      in.objects = objects_of(t).handles().data();
      in.count = scene.objects;
      in.object = in.objects[0];
      in.value = reinterpret_cast<void*>(0x20000);
      if constexpr (Predefines<C>) {
        if (which == Which::kPredefined) {
          typename C::Key key;
          in.object = C::predefined(&key);
          in.key = key;
          continue;
        }
      }
      in.key = keys[used];
    }
  }

  // Done by the thread itself, because a value may belong to the thread that sets it.
  void enter(int thread) override {
    if (thread == 0 || !scene_.same_object) objects_of(thread).attach(first_, scene_.attributes);
  }

  bool repeat(int thread, long times) override {
    const bool done = loop_(inputs_[thread], times);
    if constexpr (NeedsRest<C>) C::rest();
    return done;
  }

  std::pair<const void*, const void*> scratch(int thread) const override {
    return {&inputs_[thread], &inputs_[thread] + 1};
  }

 private:
  Objects<C>& objects_of(int thread) { return *objects_[scene_.same_object ? 0 : thread]; }

  Loop<C> loop_;
  Scene scene_;
  std::unique_ptr<Inputs<C>[]> inputs_;
  std::vector<std::unique_ptr<Objects<C>>> objects_;
  long first_;
};

// One thread reads; beside it, an uncounted one sets on another object, under the same key, all the
// time.
template <Contends C>
class BesideSetterStage : public Stage {
 public:
  explicit BesideSetterStage(const Scene& scene)
      : reads_(loop_get<C>, Which::kFirst, scene), sets_(loop_set<C>, Which::kFirst, scene) {}
  ~BesideSetterStage() override {
    over_.store(true, std::memory_order_relaxed);
    if (setter_.joinable()) setter_.join();
  }
  void enter(int thread) override {
    reads_.enter(thread);
    setter_ = std::thread([this] {
      const Pinned pinned(1);
      auto me = be_a_thread<C>();
      sets_.enter(0);
      while (!over_.load(std::memory_order_relaxed)) sets_.repeat(0, 256);
    });
    pinned_ = std::make_unique<Pinned>(0);  // only now: the other one would inherit it
  }
  bool repeat(int thread, long times) override { return reads_.repeat(thread, times); }
  std::pair<const void*, const void*> scratch(int thread) const override {
    return reads_.scratch(thread);
  }

 private:
  LoopStage<C> reads_;
  LoopStage<C> sets_;
  std::atomic<bool> over_{false};
  std::thread setter_;
  std::unique_ptr<Pinned> pinned_;  // the reader, which is also who destroys this
};

}  // namespace bench

#endif  // BENCH_HARNESS_STAGES_H_
