// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Measures the one wait in attrcache: a set or a delete waits while other threads borrow the value.
// The peers have nothing like it, so this program has no contenders. It prints
//
//   go_on set|delete LOW MEDIAN HIGH SAMPLES
//       One thread holds a borrow and another waits for it. The time, in microseconds, from the
//       call of give_back until the waiting set or delete has returned. LOW and HIGH are quartiles.
//   beside_borrowers HOLD MEDIAN LONGEST SAMPLES
//       Four threads borrow the value, hold it, give it back and begin again at once. HOLD is how
//       long they hold it, in microseconds (the measured median). The other two are the time that
//       a set takes meanwhile, in multiples of HOLD.
//
// tools/bench.d/waits.py reads this.

#include <attrcache/attrcache.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "bench/harness/keys.h"
#include "bench/harness/pinned.h"

namespace {

using bench::require;
using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

constexpr int kGoOnSamples = 101;
constexpr long kGoOnHold = 3000;  // microseconds: the other thread waits by then, for certain

constexpr int kBorrowers = 4;
constexpr long kHold = 100;  // microseconds
constexpr int kSetSamples = 200;

// Sleeps, so that holding a borrow takes no processor from the thread that waits for it.
void sleep_for(long microseconds) {
  const timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
  nanosleep(&time, nullptr);
}

int delete_nothing(void*, int, void*, void*) { return 0; }

// A value that is attached to an object, under a keyval that has a delete_fn.
class Attribute {
 public:
  Attribute() {
    require(attrcache_domain_create(nullptr, &domain_) == ATTRCACHE_OK, "make a domain");
    kind_ = attrcache_kind_of(domain_, ATTRCACHE_COMMUNICATOR);
    attrcache_callbacks callbacks = {};
    callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(delete_nothing);
    require(attrcache_keyval_create(kind_, &callbacks, &keyval_) == ATTRCACHE_OK, "make a keyval");
    set();
  }
  ~Attribute() {
    attrcache_delete_all(kind_, &table_, this, ATTRCACHE_DRAIN, nullptr);
    attrcache_domain_destroy(domain_, ATTRCACHE_DESTROY_IF_UNUSED, nullptr);
  }
  Attribute(const Attribute&) = delete;
  Attribute& operator=(const Attribute&) = delete;

  void set() {
    require(attrcache_set(kind_, &table_, this, keyval_, 16, ATTRCACHE_AS_POINTER, nullptr) ==
                ATTRCACHE_OK,
            "set");
  }
  void erase() {
    require(attrcache_delete(kind_, &table_, this, keyval_, nullptr) == ATTRCACHE_OK, "delete");
  }
  // False: nothing is attached just now.
  bool borrow(attrcache_borrowed* borrowed) {
    const int result = attrcache_borrow(kind_, &table_, keyval_, borrowed);
    require(result == ATTRCACHE_OK || result == ATTRCACHE_ABSENT, "borrow");
    return result == ATTRCACHE_OK;
  }
  static void give_back(attrcache_borrowed* borrowed) {
    require(attrcache_give_back(borrowed) == ATTRCACHE_OK, "give back");
  }

 private:
  attrcache_domain* domain_ = nullptr;
  attrcache_kind* kind_ = nullptr;
  int keyval_ = ATTRCACHE_KEYVAL_INVALID;
  alignas(64) attrcache_table table_ = ATTRCACHE_TABLE_INIT;
};

double quantile(std::vector<double>& samples, double part) {
  std::sort(samples.begin(), samples.end());
  return samples[static_cast<size_t>(part * static_cast<double>(samples.size() - 1))];
}

// One sample: how long after the call of give_back the other thread's `wait` has returned.
template <class Wait>
double go_on_once(Wait wait) {
  Attribute attribute;
  attrcache_borrowed borrowed = {};
  require(attribute.borrow(&borrowed), "find the value");
  std::atomic<bool> ready{false};
  Clock::time_point returned;
  std::thread waiter([&] {
    const bench::Pinned pinned(1);
    ready.store(true, std::memory_order_release);  // pairs with the acquire load below
    ready.notify_one();
    wait(attribute);
    returned = Clock::now();
  });
  const bench::Pinned pinned(0);
  ready.wait(false, std::memory_order_acquire);
  sleep_for(kGoOnHold);
  const auto given_back = Clock::now();
  Attribute::give_back(&borrowed);
  waiter.join();
  return Microseconds(returned - given_back).count();
}

template <class Wait>
void measure_go_on(const char* operation, Wait wait) {
  std::vector<double> samples;
  for (int i = 0; i < kGoOnSamples; ++i) samples.push_back(go_on_once(wait));
  std::printf("go_on %s %.1f %.1f %.1f %d\n", operation, quantile(samples, 0.25),
              quantile(samples, 0.5), quantile(samples, 0.75), kGoOnSamples);
}

// Threads that borrow back to back.
class Borrowers {
 public:
  explicit Borrowers(Attribute& attribute) : holds_(kBorrowers) {
    for (int t = 0; t < kBorrowers; ++t) {
      threads_.emplace_back([this, t, &attribute] { work(attribute, holds_[t]); });
      sleep_for(kHold / kBorrowers);  // out of step: somebody always holds the value
    }
  }
  ~Borrowers() { end(); }

  // Ends the threads; how long each borrow was held.
  std::vector<double> end() {
    ending_.store(true);
    std::vector<double> all;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    for (const auto& of_one : holds_) all.insert(all.end(), of_one.begin(), of_one.end());
    return all;
  }

 private:
  void work(Attribute& attribute, std::vector<double>& holds) {
    prctl(PR_SET_TIMERSLACK, 1);  // or sleeps take 50 us more than they should
    while (!ending_.load()) {
      attrcache_borrowed borrowed = {};
      if (!attribute.borrow(&borrowed)) {
        std::this_thread::yield();  // the value is just being replaced
        continue;
      }
      const auto begin = Clock::now();
      sleep_for(kHold);
      holds.push_back(Microseconds(Clock::now() - begin).count());
      Attribute::give_back(&borrowed);
    }
  }

  std::atomic<bool> ending_{false};
  std::vector<std::vector<double>> holds_;  // by thread
  std::vector<std::thread> threads_;
};

void measure_beside_borrowers() {
  Attribute attribute;
  Borrowers borrowers(attribute);
  std::vector<double> samples;
  for (int i = 0; i < kSetSamples; ++i) {
    sleep_for(5 * kHold);  // until all of them hold the value that the set is to replace
    const auto begin = Clock::now();
    attribute.set();
    samples.push_back(Microseconds(Clock::now() - begin).count());
  }
  auto holds = borrowers.end();
  const double hold = quantile(holds, 0.5);
  std::printf("beside_borrowers %.0f %.2f %.2f %d\n", hold, quantile(samples, 0.5) / hold,
              quantile(samples, 1) / hold, kSetSamples);
}

}  // namespace

int main() {
  // Where there is but one processor, none is free for the thread that is to go on.
  if (std::thread::hardware_concurrency() > 1) {
    measure_go_on("set", [](Attribute& attribute) { attribute.set(); });
    measure_go_on("delete", [](Attribute& attribute) { attribute.erase(); });
  }
  measure_beside_borrowers();
}
