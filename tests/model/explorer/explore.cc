// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The driver: execution after execution, until there is no further one or one fails.
//
// Which locations are contended isn't known beforehand. An execution that finds a new one completes
// (without a history of it, and with its failures ignored), and the exploration starts again,
// knowing it. The last start has found none, and so has explored everything. (Take the first access
// in any execution that would have made an unknown location contended. The execution up to there is
// one that was explored, except for the order of accesses to locations that are not contended,
// which makes no difference.)

#include "tests/model/explorer/explore.h"

#include <cstdio>
#include <cstdlib>

#include "tests/model/explorer/engine.h"

namespace attrcache::model {
namespace {

alignas(16) char closures[kMaxThreads][256];
unsigned closures_used;

}  // namespace

namespace detail {

void* closure(unsigned size) {
  if (size > sizeof(closures[0])) fail("spawn: captures too much");
  return closures[closures_used++ % kMaxThreads];
}

unsigned become(unsigned thread) { return engine().become(thread); }
void spawn(void (*body)(void*), void* argument) { engine().spawn(body, argument); }

Result explore(const Options& options, void (*program)(void*), void* argument) {
  Engine& e = engine();
  Result result;
  e.start(options);
  for (;;) {
    closures_used = 0;
    const Engine::Outcome outcome = e.execute(program, argument);
    if (outcome.learned) {
      e.choices().clear();
      result = {};
      continue;
    }
    result.executions += !outcome.pruned;
    if (outcome.failed) {
      result.failure = outcome.failure;
      result.replay = e.log().replay();
      if (!options.quiet) {
        std::fprintf(stderr, "model: %s, in execution %llu:\n%sreplay = \"%s\"\n",
                     outcome.failure.c_str(), static_cast<unsigned long long>(result.executions),
                     e.log().text().c_str(), result.replay.c_str());
      }
      return result;
    }
    if (options.replay != nullptr) return result;
    if (!e.choices().advance()) {
      result.exhaustive = true;
      return result;
    }
  }
}

}  // namespace detail

void join() { engine().join(); }

void fail(const char* what) { engine().fail(what); }

void expect(bool condition, const char* what) {
  if (!condition) fail(what);
}

bool first_has_stopped() { return engine().first_has_stopped(); }

Moment now() {
  Moment moment = {engine().current(), {}};
  for (unsigned t = 0; t < kMaxThreads; ++t) moment.knows[t] = engine().view().at[t];
  return moment;
}

void note(const char* text, int number) { engine().note(text, number); }

}  // namespace attrcache::model
