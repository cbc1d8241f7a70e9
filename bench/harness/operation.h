// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How the programs that measure see a contender: a name, and operations that can be prepared and
// then repeated. Timing and counting repeat the same compiled loops.

#ifndef BENCH_HARNESS_OPERATION_H_
#define BENCH_HARNESS_OPERATION_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// How many threads, attributes and objects an operation is measured with.
struct Parameters {
  int threads = 1;
  bool same_object = true;  // all threads use one object; otherwise each has its own
  long attributes = 1;      // attached to each object
};

// An operation with everything it needs: objects, keys, attributes.
class PreparedOperation {
 public:
  virtual ~PreparedOperation() = default;
  // Each thread calls this once, before any thread calls repeat.
  virtual void enter(int thread) = 0;
  // Does the operation this many times. Returns whether all succeeded.
  virtual bool repeat(int thread, long times) = 0;
  // The memory that the loop itself writes, from first to second. It is not the operation's.
  virtual std::pair<const void*, const void*> scratch(int thread) const = 0;
};

struct Operation {
  std::string name;
  Parameters parameters = {};  // for one thread; more threads change `threads` and `same_object`
  long each = 1;  // how many attributes, say, it is about; counted is what one of them costs
  std::function<std::unique_ptr<PreparedOperation>(const Parameters&)> prepare;
  long turns = 0;  // how many are enough to count them; 0: as many as `each` asks for

  // Whether the operation makes its own objects.
  bool of_objects() const { return name.rfind("object", 0) == 0; }
};

struct Limits {
  int threads = 1 << 10;
  bool share_writes = true;  // several threads may set and delete on one object
};

struct Contender {
  std::string name;
  Limits limits = {};
  std::vector<Operation> operations;
  // Returns what a thread must hold as long as it uses the contender, preparations included.
  std::function<std::shared_ptr<void>()> register_thread;
  std::function<void()> end;

  // Whether several threads may do it on one object.
  bool shares(const Operation& operation) const {
    if (operation.name == "create_free" || operation.of_objects()) return false;
    const bool reads = operation.name.rfind("get", 0) == 0;
    return limits.share_writes || reads;
  }
};

// Each contender's source file defines this. It is called once, and takes the contender's own
// arguments out of the program's.
Contender make_contender(int* argc, char** argv);

}  // namespace bench

#endif  // BENCH_HARNESS_OPERATION_H_
