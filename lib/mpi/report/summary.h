// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a report says, as plain data, for one rank or summed over ranks.

#ifndef ATTRCACHE_MPI_REPORT_SUMMARY_H_
#define ATTRCACHE_MPI_REPORT_SUMMARY_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "mpi/native/kind_names.h"

namespace attrcache::mpi::report {

// What is counted of one maker's keyvals.
enum Number {
  kCreated,
  kFreed,
  kLeft,  // not freed by now
  kSets,
  kGets,
  kAbsent,
  kDeletes,
  kCopies,
  kEnds,
  kAttached,  // attributes still attached
  kCopyCalls,
  kDeleteCalls,
  kFailed,
  kNanoseconds,
  kOwnNanoseconds,
  kNumbers
};
// The names of these numbers in JSON.
inline constexpr const char* kNumberNames[kNumbers] = {
    "created",  "freed",       "leaked",
    "sets",     "gets",        "absent",
    "deletes",  "copies",      "deleted_with_object",
    "attached", "copy_calls",  "delete_calls",
    "failed",   "callback_ns", "callback_own_ns"};

struct Line {
  int kind = 0;
  std::string library;
  std::string function;      // a name, or "+0x1f20"; empty if unknown
  bool from_caller = false;  // library and function are who made the keyval, not a callback's
  std::string made_at;       // where the first of them was made: "libx.so: f+0x12"; may be empty
  uint64_t numbers[kNumbers] = {};
  int64_t last_failure = 0;

  // Library and function as people write them: "libx.so: f".
  std::string origin() const;
};

// Attributes still attached to the objects of one name, under the keyvals of one maker. From this
// many objects on, the rest is summed under one name per maker.
inline constexpr size_t kMostObjects = 1000;
inline constexpr const char* kOthers = "(others)";
struct Attached {
  int kind = 0;
  std::string object;
  bool predefined = false;           // whether the object is predefined, so that nobody can free it
  bool deleted_by_finalize = false;  // whether MPI_Finalize will still delete them
  std::string library;
  std::string function;
  uint64_t count = 0;
};

// Objects of one kind and name that were never freed and that came from one place. From
// kMostObjects on, the rest of a place is summed under kOthers.
struct LeftObject {
  int kind = 0;
  std::string object;
  bool by_dup = false;  // whether the place is where a dup made them, or else where they were used
  std::string place;    // "libx.so: f+0x12"; empty if unknown
  uint64_t count = 0;
};

struct MisusePlace {
  std::string place;  // "libx.so: f+0x12"
  uint64_t count = 0;
};
struct MisuseCount {
  std::string name;
  std::string what;
  std::string rule;
  uint64_t count = 0;
  std::vector<MisusePlace> places;  // those that are known
};

struct Summary {
  int rank = 0;   // the rank, if this is one rank's
  int ranks = 0;  // how many are summed
  std::string host;
  uint64_t nanoseconds = 0;  // from MPI_Init to the report; in a sum, the longest
  bool finalized = false;    // false: the program ended without MPI_Finalize
  uint64_t not_served[kMpiKinds] =
      {};  // per kind, on how many ranks a tool in front wraps its functions
  std::vector<Line> lines;
  std::vector<Attached> attached;
  std::vector<LeftObject> objects;
  std::vector<MisuseCount> misuse;
  // Where lines, attached and objects are found by their keys, while the summary is made.
  std::unordered_map<std::string, size_t> line_places;
  std::unordered_map<std::string, size_t> attached_places;
  std::unordered_map<std::string, size_t> object_places;
};

// The summary of this process as it is now. `ask` says whether MPI may be asked for names of
// objects.
Summary collect(bool ask);

// Adds the summary of one rank.
void add(Summary& sum, const Summary& one);

// Sorts by use, the most used first.
void sort(Summary& summary);

uint64_t total(const Summary& summary, Number number);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_SUMMARY_H_
