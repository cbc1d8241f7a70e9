// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/model/explorer/log.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace attrcache::model {

const char* name_of(Kind kind) {
  static constexpr const char* kNames[] = {"load", "store", "update", "swap", "wait", "note"};
  return kNames[static_cast<int>(kind)];
}

const char* name_of(std::memory_order order) {
  static constexpr const char* kNames[] = {"relaxed", "consume", "acquire",
                                           "release", "acq_rel", "seq_cst"};
  return kNames[static_cast<int>(order)];
}

const char* without_folder(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

namespace {

std::string line_of(const Event& e) {
  char line[256];
  if (e.access.kind == Kind::kNote) {
    std::snprintf(line, sizeof(line), "  T%u %s %d\n", e.thread, e.access.file, e.access.line);
    return line;
  }
  if (e.access.kind == Kind::kWait) {
    std::snprintf(line, sizeof(line), "  T%u   %s\n", e.thread, e.access.file);
    return line;
  }
  char value[48];
  if (e.access.size == 16) {
    std::snprintf(value, sizeof(value), "{%llx, %llx}", static_cast<unsigned long long>(e.value.lo),
                  static_cast<unsigned long long>(e.value.hi));
  } else {
    std::snprintf(value, sizeof(value), "%llx", static_cast<unsigned long long>(e.value.lo));
  }
  char stale[24] = "";
  if (e.stale != 0) std::snprintf(stale, sizeof(stale), " (%u behind)", e.stale);
  std::snprintf(line, sizeof(line), "  T%u   %-6s %-7s %p %s %s%s%s   %s:%d\n", e.thread,
                name_of(e.access.kind), name_of(e.access.order), e.access.address,
                e.access.kind == Kind::kLoad || e.failed ? "->" : "<-", value, stale,
                e.failed ? " (not swapped)" : "", without_folder(e.access.file), e.access.line);
  return line;
}

}  // namespace

std::string Log::text() const {
  std::string text;
  for (const Event& e : events_) {
    if (e.contended) text += line_of(e);
  }
  return text;
}

std::string Log::replay() const {
  std::string text;
  char run[32];
  for (size_t i = 0; i < events_.size();) {
    if (events_[i].access.kind == Kind::kNote) {
      ++i;
      continue;
    }
    const unsigned thread = events_[i].thread;
    unsigned count = 0;
    unsigned stale = 0;
    for (; i < events_.size() && stale == 0; ++i) {
      if (events_[i].access.kind == Kind::kNote) continue;
      if (events_[i].thread != thread) break;
      ++count;
      stale = events_[i].stale;
    }
    std::snprintf(run, sizeof(run), stale != 0 ? "%s%u*%u~%u" : "%s%u*%u", text.empty() ? "" : ",",
                  thread, count, stale);
    text += run;
  }
  return text;
}

Replay::Replay(const char* text) {
  if (text == nullptr) return;
  while (*text != '\0') {
    char* end;
    const auto thread = static_cast<uint8_t>(std::strtoul(text, &end, 10));
    const unsigned long count = *end == '*' ? std::strtoul(end + 1, &end, 10) : 1;
    for (unsigned long i = 0; i < count; ++i) steps_.push_back({thread, 0});
    if (*end == '~') steps_.back().stale = static_cast<uint8_t>(std::strtoul(end + 1, &end, 10));
    text = *end == ',' ? end + 1 : end;
    if (end == text && *end != '\0') break;  // not a replay string
  }
}

}  // namespace attrcache::model
