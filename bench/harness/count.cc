// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The main program that counts.
//
//   NAME_count [OPERATION...]
//       Counts instructions. To be run under valgrind --tool=callgrind --collect-atstart=no. The
//       default is all operations. Each operation is done a number of times and then twice as
//       often, and callgrind dumps its counts after each. The difference between the two is the
//       cost of that many operations with their loop, and of nothing else.
//       tools/bench.d/instructions.py reads the dumps.

#include <valgrind/callgrind.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "bench/harness/idle_thread.h"
#include "bench/harness/operation.h"

namespace {

void count(bench::PreparedOperation& prepared, const std::string& label, long times, long each) {
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
  const bool done = prepared.repeat(0, times);
  CALLGRIND_TOGGLE_COLLECT;
  static std::deque<std::string> names;  // valgrind reads a name later, so it must stay where it is
  CALLGRIND_DUMP_STATS_AT(names.emplace_back(label + " " + std::to_string(times * each)).c_str());
  if (!done) std::printf("FAILED %s\n", label.c_str());
}

void count_instructions(const bench::Contender& contender, const std::vector<std::string>& wanted) {
  for (const bench::Operation& operation : contender.operations) {
    const bool chosen =
        wanted.empty() || std::find(wanted.begin(), wanted.end(), operation.name) != wanted.end();
    if (!chosen) continue;
    // What is about many attributes takes long, and costs the same each time.
    const long usual = operation.each >= 1000 ? 10 : operation.each > 1 ? 100 : 1000;
    const long times = operation.turns != 0 ? operation.turns : usual;
    const auto prepared = operation.prepare(operation.parameters);
    prepared->enter(0);
    prepared->repeat(0, times);  // resolves lazily bound functions and fills free lists
    count(*prepared, operation.name + " " + contender.name, times, operation.each);
    count(*prepared, operation.name + " " + contender.name, 2 * times, operation.each);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Contender contender = bench::make_contender(&argc, argv);
  const bench::IdleThread idle_thread(contender.limits.threads > 1);
  {
    const auto registration = contender.register_thread();
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    count_instructions(contender, arguments);
    contender.end();
  }
  std::fflush(stdout);
}
