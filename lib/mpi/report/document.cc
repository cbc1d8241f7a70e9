// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/report/document.h"

#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "attrcache/attrcache.h"
#include "mpi/handover/folder.h"
#include "mpi/handover/kept.h"
#include "mpi/native/native.h"
#include "mpi/objects/process.h"
#include "mpi/recording/clock.h"
#include "mpi/recording/keyvals.h"
#include "mpi/recording/living.h"
#include "mpi/recording/made.h"
#include "mpi/recording/trace.h"
#include "mpi/report/hello.h"
#include "mpi/report/json.h"
#include "mpi/watching/misuse.h"

namespace attrcache::mpi::report {
namespace {

// Names places, and remembers where in their files they are. To name one takes long, and many
// objects come from few places.
class Places {
 public:
  std::string name(Place place) {
    if (place.address == nullptr) return "";
    const auto [known, is_new] = names_.try_emplace(place);
    if (is_new) {
      const Origin origin = origin_of(place);
      known->second = origin.text;
      if (!origin.path.empty()) addresses_[known->second] = {origin.path, origin.in_file};
    }
    return known->second;
  }
  void write(Json& json) const {
    json.name("addresses").begin('{');
    for (const auto& [name, where] : addresses_) {
      json.name(name).begin('[').add(where.first).add(where.second).end(']');
    }
    json.end('}');
  }

 private:
  std::map<Place, std::string> names_;
  std::map<std::string, std::pair<std::string, uintptr_t>> addresses_;
};

// Objects beyond this many different names share one name.
constexpr size_t kMostNames = 1000;
constexpr const char* kOthers = "(others)";

using Leaked = std::map<std::string, uint64_t>;  // keyvals never freed, by where they were made

void write_maker(Json& json, const Maker& m, uint64_t attached, const Leaked& leaked,
                 Places& places) {
  const Counts& c = m.counts;
  uint64_t found = 0;
  uint64_t absent = 0;
  for (const Reads& reads : c.reads) {
    found += reads.found.load(kRelaxed);
    absent += reads.absent.load(kRelaxed);
  }
  const uint64_t created = c.created.load(kRelaxed);
  const uint64_t freed = c.freed.load(kRelaxed);
  json.begin('{').add("kind", kKindNames[m.kind].word);
  json.add("library", m.library).add("function", m.name());
  json.add("has_delete_fn", m.delete_fn != nullptr);
  json.add("named_by", m.by_caller() ? "caller" : "callback")
      .add("made_at", places.name(m.made_at));
  json.add("created", created).add("freed", freed).add("leaked", created - freed);
  json.add("sets", c.sets.load(kRelaxed)).add("gets", found).add("absent", absent);
  json.add("deletes", c.deletes.load(kRelaxed)).add("copies", c.copies.load(kRelaxed));
  json.add("deleted_with_object", c.ends.load(kRelaxed)).add("attached", attached);
  json.add("copy_calls", c.copy_calls.load(kRelaxed));
  json.add("delete_calls", c.delete_calls.load(kRelaxed)).add("failed", c.failed.load(kRelaxed));
  json.add("callback_ns", c.nanoseconds.load(kRelaxed));
  json.add("callback_own_ns", c.own_nanoseconds.load(kRelaxed));
  json.add("left_by_set", c.left_by_set.load(kRelaxed));
  json.add("left_by_delete", c.left_by_delete.load(kRelaxed));
  json.add("last_failure", c.last_failure.load(kRelaxed)).name("leaked_at").begin('{');
  for (const auto& [place, n] : leaked) json.add(place, n);
  json.end('}').end('}');
}

// The keyvals, with how many attributes of each maker are attached; then these, by object.
void write_keyvals(Json& json, bool ask, Places& places) {
  using Key = std::tuple<const Maker*, std::string, bool, bool>;
  std::map<Key, uint64_t> attached;
  std::map<const Maker*, uint64_t> of_maker;
  for_each_attached(ask, [&](const Object& o, int keyval) {
    const Maker* maker = maker_of(o.kind, keyval);
    if (maker == nullptr) return;
    ++of_maker[maker];
    Key key = {maker, o.name, o.predefined, o.deleted_by_finalize};
    if (!o.predefined && attached.size() >= kMostNames && !attached.contains(key))
      std::get<std::string>(key) = kOthers;
    ++attached[key];
  });
  std::map<const Maker*, Leaked> leaked;
  for_each_never_freed([&](const Maker& maker, Place made_at) {
    const std::string place = places.name(made_at);
    if (!place.empty()) ++leaked[&maker][place];
  });
  json.name("keyvals").begin('[');
  for (const Maker* m = all_makers(); m != nullptr; m = m->next) {
    write_maker(json, *m, of_maker[m], leaked[m], places);
  }
  json.end(']').name("attached").begin('[');
  for (const auto& [key, count] : attached) {
    const auto& [maker, object, predefined, deleted_by_finalize] = key;
    json.begin('{').add("kind", kKindNames[maker->kind].word).add("object", object);
    json.add("library", maker->library).add("function", maker->name()).add("attributes", count);
    json.add("predefined", predefined).add("deleted_by_finalize", deleted_by_finalize).end('}');
  }
  json.end(']');
}

// What was made and freed where, with or without attributes.
void write_made(Json& json, Places& places) {
  json.name("made").begin('[');
  for_each_site([&](const Site& site) {
    json.begin('{').add("kind", kKindNames[site.kind].word).add("place", places.name(site.place));
    json.add("made", site.made).add("freed", site.freed).end('}');
  });
  json.end(']').name("most_alive").begin('{');
  for (int kind = 0; kind < kMpiKinds; ++kind) json.add(kKindNames[kind].word, most_alive(kind));
  json.end('}');
}

void write_misuse(Json& json, Places& places) {
  const std::vector<Sighting> sightings = list_misuse();
  json.name("misuse").begin('{');
  for (int i = 0; i < kMisuses; ++i) {
    const auto sort = static_cast<Misuse>(i);
    uint64_t times = 0;
    std::map<std::string, uint64_t> where;
    for (const Sighting& s : sightings) {
      if (s.sort != sort) continue;
      times += s.times;
      if (s.place.address != nullptr) where[places.name(s.place)] += s.times;
    }
    if (times == 0) continue;
    const MisuseText& text = describe(sort);
    json.name(text.name).begin('{').add("times", times).add("what", text.what);
    json.add("rule", text.rule).name("places").begin('{');
    for (const auto& [place, n] : where) json.add(place, n);
    json.end('}').end('}');
  }
  json.end('}');
}

// ---- The trace ----

// What to add to now() to get nanoseconds since 1970. The ranks have these in common as far as the
// clocks of their machines agree.
uint64_t epoch_offset() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec) - now();
}

// The name of an event: for a callback its function, for an operation what made the keyval.
std::string name_of(const Event& e) {
  if (e.maker == nullptr) return "";
  const Maker& m = *e.maker;
  const char* name = e.what == What::kCopyFn     ? m.copy_name
                     : e.what == What::kDeleteFn ? m.delete_name
                                                 : m.name();
  return name[0] != '+' ? name : std::string(m.library) + name;
}

void write_trace(Json& json) {
  if (!tracing()) return;
  const Events events = traced();
  std::map<std::pair<const Maker*, bool>, size_t> numbers;
  std::vector<std::string> names;
  json.name("trace").begin('{').add("dropped", events.dropped).add("epoch_ns", epoch_offset());
  json.name("events").begin('[');
  for (const Event& e : events.events) {
    const auto [number, is_new] =
        numbers.try_emplace({e.maker, e.what == What::kCopyFn}, names.size());
    if (is_new) names.push_back(name_of(e));
    json.begin('[').add(e.start).add(e.duration).add(e.thread).add(static_cast<int>(e.what));
    json.add(number->second).add(int{e.kind}).add(e.keyval).add(e.code).end(']');
  }
  json.end(']').name("names").begin('[');
  for (const std::string& name : names) json.add(name);
  json.end(']').end('}');
}

// The beginning of a document.
void write_head(Json& json, const Facts& facts) {
  char version[32];
  std::snprintf(version, sizeof version, "%d.%d.%d" ATTRCACHE_VERSION_SUFFIX,
                ATTRCACHE_VERSION_MAJOR, ATTRCACHE_VERSION_MINOR, ATTRCACHE_VERSION_PATCH);
  json.begin('{').add("document", 1).add("attrcache", version);
  json.add("mpi", behaviour().name).name("kinds").begin('{');
  for (const KindNames& kind : kKindNames) json.add(kind.word, kind.c);
  json.end('}').add("rank", facts.rank).add("ranks", facts.ranks);
  json.add("world", world_name()).add("host", host_name()).add("pid", getpid());
  json.add("begun", now() + epoch_offset() - facts.nanoseconds).add("ns", facts.nanoseconds);
  json.add("finalized", facts.finalized).add("partial", facts.partial).add("checked", checking());
  json.name("not_served").begin('{');
  for (int kind = 0; kind < kMpiKinds; ++kind) {
    json.add(kKindNames[kind].word,
             process() != nullptr && process()->wrapped_by_tool[kind] ? 1 : 0);
  }
  json.end('}');
}

}  // namespace

std::string document(const Facts& facts) {
  Json json;
  Places places;
  write_head(json, facts);
  write_keyvals(json, facts.finalized, places);
  write_made(json, places);
  write_misuse(json, places);
  places.write(json);
  write_trace(json);
  json.end('}');
  return json.text() + "\n";
}

void keep_head(const Facts& facts) {
  Json json;
  write_head(json, facts);
  json.add("epoch_ns", epoch_offset());
  json.add("base", reinterpret_cast<uintptr_t>(kept::base())).end('}');
  void* const there = kept::take(kept::What::kProcess, json.text().size());
  if (there != nullptr) std::memcpy(there, json.text().data(), json.text().size());
}

}  // namespace attrcache::mpi::report
