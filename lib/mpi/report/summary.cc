// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/report/summary.h"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "mpi/native/origin.h"
#include "mpi/objects/process.h"
#include "mpi/recording/keyvals.h"
#include "mpi/recording/living.h"
#include "mpi/report/life.h"
#include "mpi/watching/misuse.h"

namespace attrcache::mpi::report {
namespace {

Line line_of(const Maker& m) {
  const Counts& c = m.counts;
  Line line;
  line.kind = m.kind;
  line.library = m.library;
  line.function = m.name();
  line.from_caller = m.copy_fn == nullptr && m.delete_fn == nullptr;
  line.made_at = m.made_at;
  const std::pair<Number, const Atomic<uint64_t>&> numbers[] = {
      {kCreated, c.created},
      {kFreed, c.freed},
      {kSets, c.sets},
      {kGets, c.gets},
      {kAbsent, c.absent},
      {kDeletes, c.deletes},
      {kCopies, c.copies},
      {kEnds, c.ends},
      {kCopyCalls, c.copy_calls},
      {kDeleteCalls, c.delete_calls},
      {kFailed, c.failed},
      {kNanoseconds, c.nanoseconds},
      {kOwnNanoseconds, c.own_nanoseconds}};
  for (const auto& [number, counter] : numbers) line.numbers[number] = counter.load(kRelaxed);
  line.numbers[kLeft] = line.numbers[kCreated] - line.numbers[kFreed];
  line.last_failure = c.last_failure.load(kRelaxed);
  return line;
}

// Returns the item with that key. If there is none, appends a new one.
template <typename T>
T& find_or_make(std::vector<T>& items, std::unordered_map<std::string, size_t>& places,
                const std::string& key) {
  const auto [place, is_new] = places.try_emplace(key, items.size());
  if (is_new) items.emplace_back();
  return items[place->second];
}

std::string key_of(int kind, const std::string& library, const std::string& function, bool other,
                   const std::string& object) {
  return std::to_string(kind * 2 + other) + library + '\n' + function + '\n' + object;
}

void add_line(Summary& to, const Line& line) {
  Line& there = find_or_make(to.lines, to.line_places,
                             key_of(line.kind, line.library, line.function, line.from_caller, ""));
  uint64_t numbers[kNumbers];
  for (int n = 0; n < kNumbers; ++n) numbers[n] = there.numbers[n] + line.numbers[n];
  const int64_t failure = line.last_failure != 0 ? line.last_failure : there.last_failure;
  const std::string made_at = there.made_at.empty() ? line.made_at : there.made_at;
  there = line;
  there.made_at = made_at;
  std::copy(numbers, numbers + kNumbers, there.numbers);
  there.last_failure = failure;
}

void add_attached(Summary& to, const Attached& one) {
  const auto key = [&one](const std::string& object) {
    return key_of(one.kind, one.library, one.function, one.deleted_by_finalize, object);
  };
  // Predefined objects are always kept apart, because there are few.
  const bool room = one.predefined || to.attached.size() < kMostObjects ||
                    to.attached_places.contains(key(one.object));
  const std::string object = room ? one.object : kOthers;
  Attached& there = find_or_make(to.attached, to.attached_places, key(object));
  const uint64_t count = there.count + one.count;
  there = one;
  there.object = object;
  there.count = count;
}

void add_object(Summary& to, const LeftObject& one) {
  const auto key = [&one](const std::string& object) {
    return key_of(one.kind, one.place, "", one.by_dup, object);
  };
  const bool room = to.objects.size() < kMostObjects || to.object_places.contains(key(one.object));
  const std::string object = room ? one.object : kOthers;
  LeftObject& there = find_or_make(to.objects, to.object_places, key(object));
  const uint64_t count = there.count + one.count;
  there = one;
  there.object = object;
  there.count = count;
}

void add_place(std::vector<MisusePlace>& list, const MisusePlace& one) {
  for (MisusePlace& p : list) {
    if (p.place == one.place) {
      p.count += one.count;
      return;
    }
  }
  list.push_back(one);
}

void add_misuse(std::vector<MisuseCount>& list, const MisuseCount& one) {
  for (MisuseCount& m : list) {
    if (m.name == one.name) {
      m.count += one.count;
      for (const MisusePlace& p : one.places) add_place(m.places, p);
      return;
    }
  }
  list.push_back(one);
}

std::vector<MisusePlace> places_of(Misuse sort) {
  std::vector<Sighting> sightings(kMostSightings);
  sightings.resize(list_misuse(sightings.data(), sightings.size()));
  std::vector<MisusePlace> places;
  for (const Sighting& s : sightings) {
    if (s.sort != sort || s.place.address == nullptr) continue;
    const Origin origin =
        s.place.is_call ? origin_of_call(s.place.address) : origin_of_code(s.place.address);
    add_place(places, {to_text(origin).text, s.times});
  }
  return places;
}

uint64_t use(const Line& line) {
  const uint64_t* n = line.numbers;
  return n[kSets] + n[kGets] + n[kAbsent] + n[kDeletes] + n[kCopies] + n[kCreated];
}

}  // namespace

std::string Line::origin() const {
  if (function.empty()) return library;
  if (function[0] == '+') return library + function;
  return library + ": " + function;
}

Summary collect(bool ask) {
  Summary s;
  s.ranks = 1;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  s.host = host;
  s.nanoseconds = since_begin();
  settle_keyvals();
  std::map<const Maker*, uint64_t> left;
  for_each_attached(ask, [&](const Object& object, int keyval) {
    const Maker* maker = maker_of(object.kind, keyval);
    if (maker == nullptr) return;
    ++left[maker];
    const Line line = line_of(*maker);
    add_attached(s, {object.kind, object.name, object.predefined, object.deleted_by_finalize,
                     line.library, line.function, 1});
  });
  // Many objects come from few places, and to name a place takes long.
  std::unordered_map<const void*, std::string> places;
  for_each_left(ask, [&](const Object& object, const Found& found) {
    const auto [place, is_new] = places.try_emplace(found.place);
    if (is_new && found.place != nullptr) {
      place->second = to_text(origin_of_call(found.place)).text;
    }
    add_object(s, {object.kind, object.name, found.by_dup, place->second, 1});
  });
  for (const Maker* m = all_makers(); m != nullptr; m = m->next) {
    Line line = line_of(*m);
    line.numbers[kAttached] = left[m];
    add_line(s, line);
  }
  for (int sort = 0; sort < kMisuses; ++sort) {
    const auto misuse = static_cast<Misuse>(sort);
    if (const uint64_t count = misuse_count(misuse)) {
      s.misuse.push_back({describe(misuse).name, describe(misuse).what, describe(misuse).rule,
                          count, places_of(misuse)});
    }
  }
  if (const Process* state = process()) {
    for (int kind = 0; kind < kMpiKinds; ++kind)
      s.not_served[kind] = state->wrapped_by_tool[kind] ? 1 : 0;
  }
  return s;
}

void add(Summary& sum, const Summary& one) {
  sum.ranks += one.ranks;
  sum.nanoseconds = std::max(sum.nanoseconds, one.nanoseconds);
  sum.finalized = one.finalized;
  for (int kind = 0; kind < kMpiKinds; ++kind) sum.not_served[kind] += one.not_served[kind];
  for (const Line& line : one.lines) add_line(sum, line);
  for (const Attached& a : one.attached) add_attached(sum, a);
  for (const LeftObject& o : one.objects) add_object(sum, o);
  for (const MisuseCount& m : one.misuse) add_misuse(sum.misuse, m);
}

void sort(Summary& summary) {
  std::stable_sort(summary.lines.begin(), summary.lines.end(), [](const Line& a, const Line& b) {
    return use(a) != use(b) ? use(a) > use(b) : a.origin() < b.origin();
  });
  std::stable_sort(summary.attached.begin(), summary.attached.end(),
                   [](const Attached& a, const Attached& b) {
                     if (a.deleted_by_finalize != b.deleted_by_finalize)
                       return b.deleted_by_finalize;
                     return a.count != b.count ? a.count > b.count : a.object < b.object;
                   });
  std::stable_sort(summary.objects.begin(), summary.objects.end(),
                   [](const LeftObject& a, const LeftObject& b) {
                     if (a.count != b.count) return a.count > b.count;
                     return a.place != b.place ? a.place < b.place : a.object < b.object;
                   });
}

uint64_t total(const Summary& summary, Number number) {
  uint64_t sum = 0;
  for (const Line& line : summary.lines) sum += line.numbers[number];
  return sum;
}

}  // namespace attrcache::mpi::report
