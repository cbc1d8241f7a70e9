// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/report/timeline.h"

#include <time.h>
#include <unistd.h>

#include <cinttypes>
#include <map>
#include <set>

#include "mpi/recording/clock.h"
#include "mpi/recording/trace.h"
#include "mpi/report/quote.h"
#include "mpi/report/summary.h"
#include "platform/memory.h"

namespace attrcache::mpi::report {
namespace {

// What to add to now() to get nanoseconds since 1970. The ranks have these in common as far as the
// clocks of their machines agree.
uint64_t epoch_offset() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec) - now();
}

bool is_callback(What what) { return what == What::kCopyFn || what == What::kDeleteFn; }

// The name of an event: for a callback its function, for an operation what made the keyval.
std::string name_of(const Event& e) {
  if (e.maker == nullptr) return "";
  const Maker& m = *e.maker;
  const char* name = e.what == What::kCopyFn     ? m.copy_name
                     : e.what == What::kDeleteFn ? m.delete_name
                                                 : m.name();
  return name[0] != '+' ? name : std::string(m.library) + name;
}

constexpr const char* kWhats[] = {"set",  "delete",  "free_keyval", "dup",
                                  "free", "copy_fn", "delete_fn"};

}  // namespace

Timeline collect_timeline() {
  Timeline t;
  t.pid = getpid();
  if (!tracing()) return t;
  const Events events = traced();
  t.dropped = events.dropped;
  std::map<std::pair<const Maker*, bool>, uint32_t> numbers;
  const uint64_t offset = epoch_offset();
  t.moments.reserve(events.count);
  for (size_t i = 0; i < events.count; ++i) {
    const Event& e = events.events[i];
    const auto [place, is_new] =
        numbers.try_emplace({e.maker, e.what == What::kCopyFn}, t.names.size());
    if (is_new) t.names.push_back(name_of(e));
    t.moments.push_back({e.start + offset, e.duration, e.thread, e.keyval, e.code, place->second,
                         e.kind, static_cast<uint8_t>(e.what)});
  }
  kProcessMemory.release(const_cast<Event*>(events.events));
  return t;
}

uint64_t first_moment(const Timeline& timeline) {
  uint64_t first = ~uint64_t{0};
  for (const Moment& m : timeline.moments) first = m.start < first ? m.start : first;
  return first;
}

ChromeTrace::ChromeTrace(std::FILE* file, uint64_t base) : file_(file), base_(base) {
  std::fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", file_);
}

ChromeTrace::~ChromeTrace() { std::fputs("\n]}\n", file_); }

void ChromeTrace::write(int rank, const std::string& host, const Timeline& timeline) {
  const auto next = [this] {
    std::fputs(first_ ? "\n" : ",\n", file_);
    first_ = false;
  };
  next();
  std::fprintf(file_,
               "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, \"args\": {\"name\": "
               "\"rank %d (%s, process %d)%s\", \"dropped_events\": %" PRIu64 "}}",
               rank, rank, quoted(host).c_str(), timeline.pid,
               timeline.dropped != 0 ? ": its last events were dropped" : "", timeline.dropped);
  next();
  std::fprintf(
      file_,
      "{\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": %d, \"args\": {\"sort_index\": "
      "%d}}",
      rank, rank);
  std::set<int> threads;
  for (const Moment& m : timeline.moments) threads.insert(m.thread);
  for (int thread : threads) {
    next();
    std::fprintf(file_,
                 "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %d, \"tid\": %d, \"args\": "
                 "{\"name\": \"%s\"}}",
                 rank, thread, thread == timeline.pid ? "main" : "thread");
  }
  for (const Moment& m : timeline.moments) {
    const char* what = kWhats[m.what];
    const bool callback = is_callback(static_cast<What>(m.what));
    const std::string maker = quoted(timeline.names[m.name]);
    const char* name = callback && !maker.empty() ? maker.c_str() : what;
    next();
    std::fprintf(file_,
                 "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, "
                 "\"ts\": %.3f, \"dur\": %.3f, \"args\": {\"kind\": \"%s\"",
                 callback ? "callback" : "operation", name, rank, m.thread,
                 static_cast<double>(m.start - base_) / 1000,
                 static_cast<double>(m.duration) / 1000, kKindNames[m.kind].word);
    if (m.keyval != 0) std::fprintf(file_, ", \"keyval\": %d", m.keyval);
    if (callback) {
      std::fprintf(file_, ", \"called_as\": \"%s\", \"code\": %d", what, m.code);
    } else if (!maker.empty()) {
      std::fprintf(file_, ", \"keyval_of\": \"%s\"", maker.c_str());
    }
    std::fputs("}}", file_);
  }
}

}  // namespace attrcache::mpi::report
