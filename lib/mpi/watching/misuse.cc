// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/watching/misuse.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "mpi/handover/kept.h"
#include "mpi/native/kinds.h"
#include "mpi/native/native.h"
#include "mpi/native/origin.h"
#include "mpi/native/source_line.h"
#include "mpi/objects/process.h"
#include "mpi/report/hello.h"

namespace attrcache::mpi {
namespace {

// Whether places are recorded without warnings.
constinit Atomic<bool> recording{false};

// ---- What was seen where ----

// What outlives the process of one sort of misuse at one place (handover/kept.h), in the layout
// that tools/report/left.py reads.
struct Kept {
  Atomic<uint64_t> times;
  Located place;
  char name[64];
  char what[256];
  char rule[256];
};

struct Seen {
  uint64_t times = 0;
  Kept* kept = nullptr;  // where a report is wanted; null if there is none
};
constinit std::mutex misuse_lock;  // of what follows
// Never destroyed, because MPI may end after the program's static objects.
std::map<std::pair<Misuse, Place>, Seen>& seen() {
  static auto& map = *new std::map<std::pair<Misuse, Place>, Seen>;
  return map;
}

// Whether it may be right. Then it is told, but no misuse.
bool is_note(Misuse sort) { return sort == Misuse::kNotOnThis; }

Kept* keep(Misuse sort, Place place) {
  void* const memory = recording.load(kRelaxed) && !is_note(sort)
                           ? kept::take(kept::What::kSighting, sizeof(Kept))
                           : nullptr;
  if (memory == nullptr) return nullptr;
  Kept* made = new (memory) Kept{};
  if (place.address != nullptr) made->place = located(place);
  std::snprintf(made->name, sizeof made->name, "%s", describe(sort).name);
  std::snprintf(made->what, sizeof made->what, "%s", describe(sort).what);
  std::snprintf(made->rule, sizeof made->rule, "%s", describe(sort).rule);
  return made;
}

// Returns whether that is new.
bool record(Misuse sort, Place place) {
  const std::lock_guard held(misuse_lock);
  const auto [at, is_new] = seen().try_emplace({sort, place});
  Seen& s = at->second;
  if (is_new) s.kept = keep(sort, place);
  ++s.times;
  if (s.kept != nullptr) s.kept->times.store(s.times, kRelaxed);
  return is_new;
}

// ---- Warnings ----

constexpr const char* kCalls[] = {"",         "create_keyval", "free_keyval",       "set_attr",
                                  "get_attr", "delete_attr",   "set_attr_if_absent"};

std::string facts_of(const Case& c, bool names_kind) {
  std::string facts = names_kind ? kKindNames[c.kind].word : "";
  const auto add = [&facts](const std::string& fact) {
    facts += (facts.empty() ? "" : ", ") + fact;
  };
  if (c.keyval == MPI_KEYVAL_INVALID) {
    add("MPI_KEYVAL_INVALID");
  } else if (c.keyval != kNoKeyval) {
    add("keyval " + std::to_string(c.keyval));
  }
  if (c.detail != nullptr) add(c.detail);
  return facts;
}

std::string where(Place place) {
  const Origin origin = origin_of(place);
  std::string name = origin.text;
  const std::string source = source_line(origin);
  if (!source.empty())  // in place of "+0x12"
    name = name.substr(0, name.rfind('+')) + " (" + source + ")";
  // A file's name may have anything in it; here it must not control a terminal or begin a line.
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
  }
  return name;
}

void warn(Misuse sort, const Case& c, Place place) {
  const MisuseText& text = describe(sort);
  const bool has_kind = c.kind >= 0 && c.kind < kAllKinds;
  const std::string begin = "attrcache[" + std::to_string(getpid()) + "]: ";
  std::string line = begin + (is_note(sort) ? "note: " : "warning: ");
  const Identity& self = identity();
  if (self.size > 1) line += "rank " + std::to_string(self.rank) + " on " + self.host + ": ";
  const bool has_function = has_kind && c.doing != Doing::kUnknown;
  if (has_function) {
    const bool is_mpi = c.kind < kMpiKinds && c.doing != Doing::kSetIfAbsent;
    line += std::string(is_mpi ? "MPI_" : "MPIX_") + kKindNames[c.kind].c + "_" +
            kCalls[static_cast<int>(c.doing)] + ": ";
  }
  line += text.what;
  const bool names_kind = has_kind && !has_function;
  if (names_kind || c.keyval != kNoKeyval || c.detail != nullptr)
    line += " (" + facts_of(c, names_kind) + ")";
  if (place.address != nullptr) line += (place.is_call ? ", at " : ", in ") + where(place);
  line += "\n" + begin + "  " + text.rule;
  if (behaviour().natively != nullptr)
    line += std::string("; ") + behaviour().name + " by itself " + text.*behaviour().natively;
  line += std::string(" [") + text.name + "]\n";
  // The text is written in one piece so that the lines of several ranks don't mix.
  std::fputs(line.c_str(), stderr);
}

}  // namespace

void caught(Misuse sort, const Case& c, Place place) {
  const bool tell = checking();
  if (!tell && !recording.load(kRelaxed)) return;
  const int saved = errno;
  if (place.address == nullptr && place.is_call) place = find_caller();
  if (record(sort, place) && tell) warn(sort, c, place);
  errno = saved;
}

std::vector<Sighting> list_misuse() {
  const std::lock_guard held(misuse_lock);
  std::vector<Sighting> list;
  for (const auto& [at, s] : seen()) {
    if (!is_note(at.first)) list.push_back({at.first, at.second, s.times});
  }
  return list;
}

void record_misuse() { recording.store(true, kRelaxed); }

bool checking() {
  static const bool is = is_wanted("ATTRCACHE_CHECK");
  return is;
}

}  // namespace attrcache::mpi
