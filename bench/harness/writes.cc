// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The main program that finds which cache lines an operation writes. To be run under valgrind
// --tool=lackey --trace-mem=yes, which traces every access of the shipped code, of the allocator
// and of the C library.
//
// Two threads, A and B, take turns at the same operation, each on its own object or both on one.
// First the trace shows what B uses, then what A writes in each operation. Stores to `marks`
// separate the parts of the trace. The program prints the address of `marks`, and one line for each
// operation:
//
//   marks ADDRESS
//   operation NAME own|same SCRATCH END STACK
//
// The loop itself writes from SCRATCH to END, and to the stack around STACK. The program's arguments
// are the operations that are wanted, if not all.
// tools/bench.d/writes.py reads the trace and these lines.

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/harness/idle_thread.h"
#include "bench/harness/operation.h"

namespace {

enum Mark { kBeginUse, kEndUse, kBeginOperation, kEndOperation };
alignas(64) volatile char marks[64];
void mark(Mark m) { marks[m] = 1; }

constexpr long kOperations = 16;

// A worker: a second thread that runs what it is given while the caller waits.
class Worker {
 public:
  explicit Worker(const bench::Contender& contender)
      : thread_([this, &contender] {
          auto registration = contender.register_thread();
          for (turn_.arrive_and_wait(); work_; turn_.arrive_and_wait()) {
            work_();
            turn_.arrive_and_wait();
          }
        }) {}
  ~Worker() {
    work_ = nullptr;
    turn_.arrive_and_wait();
    thread_.join();
  }
  void operator()(std::function<void()> work) {
    work_ = std::move(work);
    turn_.arrive_and_wait();
    turn_.arrive_and_wait();
  }

 private:
  std::function<void()> work_;
  std::barrier<> turn_{2};
  std::thread thread_;
};

void trace(const bench::Operation& operation, bool same, Worker& worker) {
  // A keyval's index is reused only after a while, and B must have used the lines of all of them.
  const long turns = operation.name == "create_free" ? 200 : 20;
  bench::Parameters parameters = operation.parameters;
  parameters.threads = 2;
  parameters.same_object = same;
  const auto prepared = operation.prepare(parameters);
  prepared->enter(0);
  worker([&] { prepared->enter(1); });
  prepared->repeat(0, turns);
  worker([&] { prepared->repeat(1, turns); });
  prepared->repeat(0, turns);
  worker([&] {
    mark(kBeginUse);
    prepared->repeat(1, turns);
    mark(kEndUse);
  });
  for (long i = 0; i < kOperations; ++i) {
    mark(kBeginOperation);
    prepared->repeat(0, 1);
    mark(kEndOperation);
  }
  const auto [scratch, end] = prepared->scratch(0);
  std::printf("operation %s %s %p %p %p\n", operation.name.c_str(), same ? "same" : "own", scratch,
              end, __builtin_frame_address(0));
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Contender contender = bench::make_contender(&argc, argv);
  if (contender.limits.threads < 2) return 0;
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  std::printf("marks %p\n", static_cast<const volatile void*>(marks));
  {
    const auto registration = contender.register_thread();
    Worker worker(contender);
    for (const bench::Operation& operation : contender.operations) {
      if (!wanted.empty() &&
          std::find(wanted.begin(), wanted.end(), operation.name) == wanted.end()) {
        continue;
      }
      trace(operation, false, worker);
      if (contender.shares(operation)) trace(operation, true, worker);
    }
  }
  const auto registration = contender.register_thread();
  contender.end();
  std::fflush(stdout);
}
