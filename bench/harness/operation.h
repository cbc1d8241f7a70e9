// SPDX-License-Identifier: Apache-2.0
//
// What a contender is to the programs that measure it: a name, and operations that can be set up
// and repeated. Timing and counting repeat the same compiled loops.

#ifndef BENCH_HARNESS_OPERATION_H_
#define BENCH_HARNESS_OPERATION_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// With how much of everything an operation is measured.
struct Parameters {
  int threads = 1;
  bool same_object = true;  // all threads use one object; else each has its own
  long keyvals = 64;        // alive in the process, at least
  bool use_last = false;    // the last ones of them; else the first ones
  long attributes = 1;      // attached to each object
  long objects = 1;         // per thread, or in all with same_object; visited in turns if many
};

// An operation that is set up, until it is destroyed.
class PreparedOperation {
 public:
  virtual ~PreparedOperation() = default;
  // Each thread calls this once, before any thread repeats.
  virtual void enter(int thread) = 0;
  // Does the operation so many times. False: it went wrong.
  virtual bool repeat(int thread, long times) = 0;
  // What the loop itself writes, from first to second.
  virtual std::pair<const void*, const void*> scratch(int thread) const = 0;
};

struct Operation {
  std::string name;
  Parameters parameters;  // of one thread
  std::function<std::unique_ptr<PreparedOperation>(const Parameters&)> prepare;

  // Whether what one thread does is all of it, and its cost one number.
  bool of_one_thread() const { return name != "get_beside_setter" && name != "get_each"; }
};

struct Limits {
  int threads = 1 << 10;
  bool share = true;         // threads may read one object together
  bool share_writes = true;  // and write it
  long keyvals = 100000;
  long counted_keyvals = 100000;  // the same under valgrind, which is fifty times slower
  long objects = 1000000;
};

struct Contender {
  std::string name;
  Limits limits;
  std::vector<Operation> operations;
  // Bytes that an object takes with its attributes, itself included.
  std::function<double(const Parameters&)> bytes_per_object;
  // What a thread holds while it has to do with the contender, setting up included.
  std::function<std::shared_ptr<void>()> register_thread;
  std::function<void()> end;

  const Operation* find(const std::string& operation) const {
    for (const Operation& o : operations) {
      if (o.name == operation) return &o;
    }
    return nullptr;
  }

  // Whether threads may do it with one object.
  bool shares(const Operation& operation) const {
    if (operation.name == "create_free") return false;
    const bool reads = operation.name.rfind("get", 0) == 0;
    return limits.share && (limits.share_writes || reads);
  }
};

// Each contender's source file defines this. Called once; takes its own arguments out of the
// program's.
Contender make_contender(int* argc, char** argv);

}  // namespace bench

#endif  // BENCH_HARNESS_OPERATION_H_
