// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/watching/misuse.h"

#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "mpi/handover/kept.h"
#include "mpi/native/kinds.h"
#include "mpi/native/native.h"
#include "mpi/native/origin.h"
#include "mpi/recording/clock.h"

namespace attrcache::mpi {
namespace {

// How often each sort was caught. Relaxed, because each word stands for itself.
constinit Atomic<uint64_t> counts_of[kMisuses];

// Whether places are recorded without warnings.
constinit Atomic<bool> recording{false};

// ---- What was seen where ----

// What outlives the process of a sort at a place (handover/kept.h), as tools/report/left.py knows it.
struct Kept {
  Atomic<uint64_t> times;
  Located place;
  char name[64];
  char what[256];
  char rule[256];
};

// A bucket of the hash table of places. If all its bytes are zero it is empty. A thread takes a
// bucket by writing its key, and it is never given back.
struct Bucket {
  Atomic<uint64_t> key;    // made of the sort and the place
  Atomic<uint64_t> times;  // relaxed: it stands for itself
  Atomic<uint64_t> first;  // kind and keyval of the first time; 0 until known
  Atomic<Kept*> kept;      // where a report is wanted; null until it is there
};
constinit Bucket buckets[kMostSightings];
constinit Atomic<bool> all_full{false};

constexpr unsigned kSortBits = 6;
static_assert(kMisuses < 1 << (kSortBits - 1));

// The key is never 0, and it is different for different places, because addresses have no more than
// 57 bits.
uint64_t key_of(Misuse sort, Place place) {
  return reinterpret_cast<uintptr_t>(place.address) << (kSortBits + 1) |
         (place.is_call ? 1u << kSortBits : 0u) | (static_cast<unsigned>(sort) + 1);
}
Misuse sort_of(uint64_t key) { return static_cast<Misuse>((key & ((1u << kSortBits) - 1)) - 1); }
Place place_of(uint64_t key) {
  return {reinterpret_cast<const void*>(key >> (kSortBits + 1)), (key >> kSortBits & 1) != 0};
}

constexpr uint64_t kKnown = uint64_t{1} << 63;
uint64_t pack(int kind, int keyval) {
  return kKnown | static_cast<uint64_t>(static_cast<uint32_t>(kind + 1)) << 32 |
         static_cast<uint32_t>(keyval);
}

void keep(Bucket& bucket, Misuse sort, Place place) {
  void* const memory =
      recording.load(kRelaxed) ? kept::take(kept::What::kSighting, sizeof(Kept)) : nullptr;
  if (memory == nullptr) return;
  Kept* made = new (memory) Kept{};
  if (place.address != nullptr) made->place = located(origin_of(place));
  std::snprintf(made->name, sizeof made->name, "%s", describe(sort).name);
  std::snprintf(made->what, sizeof made->what, "%s", describe(sort).what);
  std::snprintf(made->rule, sizeof made->rule, "%s", describe(sort).rule);
  made->times.store(bucket.times.load(kRelaxed), kRelaxed);
  bucket.kept.store(made, kRelease);
}

enum class News { kNew, kKnown, kFull };

News record(Misuse sort, int kind, int keyval, Place place) {
  const uint64_t key = key_of(sort, place);
  size_t at = key * uint64_t{0x9e3779b97f4a7c15} >> 56;
  static_assert(kMostSightings == 256);
  for (size_t n = 0; n < kMostSightings; ++n, at = (at + 1) % kMostSightings) {
    Bucket& bucket = buckets[at];
    uint64_t there = bucket.key.load(kRelaxed);
    // Relaxed, because a key stands for itself, and a reader sees by kKnown whether `first` was
    // written.
    if (there == 0 && bucket.key.compare_exchange_strong(there, key, kRelaxed, kRelaxed)) {
      bucket.first.store(pack(kind, keyval), kRelaxed);
      bucket.times.fetch_add(1, kRelaxed);
      keep(bucket, sort, place);
      return News::kNew;
    }
    if (there == key) {
      bucket.times.fetch_add(1, kRelaxed);
      // Acquire, because what is there may have been made by another thread.
      if (Kept* kept = bucket.kept.load(kAcquire)) kept->times.fetch_add(1, kRelaxed);
      return News::kKnown;
    }
  }
  return News::kFull;
}

// ---- What is said ----

constexpr const char* kCalls[] = {"",         "create_keyval", "free_keyval",
                                  "set_attr", "get_attr",      "delete_attr"};

// Text of a bounded length that is put together piece by piece.
class Line {
 public:
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    if (used_ >= sizeof text_) return;
    va_list arguments;
    va_start(arguments, format);
    const int n = std::vsnprintf(text_ + used_, sizeof text_ - used_, format, arguments);
    va_end(arguments);
    if (n > 0) used_ += static_cast<size_t>(n);
  }
  const char* text() const { return text_; }

 private:
  size_t used_ = 0;
  char text_[1024] = "";
};

void add_facts(Line& line, const Case& c, bool names_kind) {
  const char* between = "";
  line.add(" (");
  if (names_kind) {
    line.add("%s", kKindNames[c.kind].word);
    between = ", ";
  }
  if (c.keyval == MPI_KEYVAL_INVALID) {
    line.add("%sMPI_KEYVAL_INVALID", between);
    between = ", ";
  } else if (c.keyval != kNoKeyval) {
    line.add("%skeyval %d", between, c.keyval);
    between = ", ";
  }
  if (c.detail != nullptr) line.add("%s%s", between, c.detail);
  line.add(")");
}

void warn(Misuse sort, const Case& c, Place place) {
  const MisuseText& text = describe(sort);
  const bool has_kind = c.kind >= 0 && c.kind < kAllKinds;
  Line line;
  line.add("attrcache[%d]: warning: ", getpid());
  const bool has_function = has_kind && c.doing != Doing::kUnknown;
  if (has_function) {
    line.add("%s_%s_%s: ", c.kind < kMpiKinds ? "MPI" : "MPIX", kKindNames[c.kind].c,
             kCalls[static_cast<int>(c.doing)]);
  }
  line.add("%s", text.what);
  const bool names_kind = has_kind && !has_function;
  if (names_kind || c.keyval != kNoKeyval || c.detail != nullptr) add_facts(line, c, names_kind);
  if (place.address != nullptr) {
    line.add(", %s %s", place.is_call ? "at" : "in", to_text(origin_of(place)).text);
  }
  line.add("\nattrcache[%d]:   %s", getpid(), text.rule);
  if (behaviour().natively != nullptr) {
    line.add("; %s by itself %s", behaviour().name, text.*behaviour().natively);
  }
  line.add(" [%s]\n", text.name);
  // The text is written in one piece so that the lines of several ranks don't mix.
  std::fputs(line.text(), stderr);
}

// Whether warnings are wanted: 0 is not asked yet, 1 is no, 2 is yes. Relaxed, because every thread
// finds the same answer.
constinit Atomic<uint8_t> check_state{0};

}  // namespace

void caught(Misuse sort, const Case& c, Place place) {
  counts_of[static_cast<int>(sort)].fetch_add(1, kRelaxed);
  const bool tell = checking();
  if (!tell && !recording.load(kRelaxed)) return;
  const int saved = errno;
  const uint64_t start = report::now();
  if (place.address == nullptr && place.is_call) place = find_caller();
  switch (record(sort, c.kind, c.keyval, place)) {
    case News::kNew:
      if (tell) warn(sort, c, place);
      break;
    case News::kFull:
      if (tell && !all_full.exchange(true, kRelaxed)) {
        std::fprintf(stderr,
                     "attrcache[%d]: warning: misuse at more than %zu places; no more are told\n",
                     getpid(), kMostSightings);
      }
      break;
    case News::kKnown:
      break;
  }
  report::time_aside += report::now() - start;
  errno = saved;
}

uint64_t misuse_count(Misuse sort) { return counts_of[static_cast<int>(sort)].load(kRelaxed); }

size_t list_misuse(Sighting* sightings, size_t capacity) {
  size_t n = 0;
  for (const Bucket& bucket : buckets) {
    const uint64_t key = bucket.key.load(kRelaxed);
    const uint64_t first = bucket.first.load(kRelaxed);
    if (n == capacity || key == 0 || first == 0) continue;
    sightings[n++] = {sort_of(key), static_cast<int>(first >> 32 & 0xff) - 1,
                      static_cast<int>(static_cast<uint32_t>(first)), place_of(key),
                      bucket.times.load(kRelaxed)};
  }
  return n;
}

void record_misuse() { recording.store(true, kRelaxed); }

bool checking() {
  uint8_t state = check_state.load(kRelaxed);
  if (state == 0) {
    const char* wish = secure_getenv("ATTRCACHE_CHECK");
    state = wish != nullptr && *wish != '\0' && *wish != '0' ? 2 : 1;
    check_state.store(state, kRelaxed);
  }
  return state == 2;
}

}  // namespace attrcache::mpi
