// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Writes the report for people: what was used most, then what is wrong, then how ranks differ.

#include <algorithm>
#include <cinttypes>
#include <map>
#include <tuple>

#include "mpi/native/native.h"
#include "mpi/report/output.h"

namespace attrcache::mpi::report {
namespace {

// Up to this many ranks get a line each.
constexpr size_t kFewRanks = 8;

// Makes "1,234,567" from 1234567.
std::string grouped(uint64_t n) {
  std::string digits = std::to_string(n);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

// A number in the table. Zero is a dash, because most of the numbers are zero.
std::string cell(uint64_t n) { return n != 0 ? grouped(n) : "-"; }

std::string duration(uint64_t nanoseconds) {
  char text[32];
  const auto n = static_cast<double>(nanoseconds);
  if (nanoseconds == 0) return "-";
  if (nanoseconds < 1'000) {
    std::snprintf(text, sizeof text, "%.0f ns", n);
  } else if (nanoseconds < 1'000'000) {
    std::snprintf(text, sizeof text, "%.1f us", n / 1e3);
  } else if (nanoseconds < 1'000'000'000) {
    std::snprintf(text, sizeof text, "%.1f ms", n / 1e6);
  } else {
    std::snprintf(text, sizeof text, "%.2f s", n / 1e9);
  }
  return text;
}

// Makes "1 keyval" or "3 keyvals".
std::string counted(uint64_t n, const char* noun) {
  return grouped(n) + " " + noun + (n == 1 ? "" : "s");
}

void put(std::FILE* file, const std::string& text) { std::fputs(text.c_str(), file); }

void write_head(std::FILE* file, const Everything& all) {
  const Summary& s = all.sum;
  put(file, "\nattrcache: the attributes of " + counted(static_cast<uint64_t>(all.ranks), "rank") +
                " of " + behaviour().name + ", from MPI_Init to " +
                (s.finalized ? "MPI_Finalize" : "the end") + " (" + duration(s.nanoseconds) +
                ")\n");
  if (!s.finalized) {
    put(file, "MPI_Finalize was not called. This is rank " +
                  std::to_string(all.parts[0].summary.rank) + " alone.\n");
  }
  const auto heard = all.parts.size();
  if (s.finalized && heard < static_cast<size_t>(all.ranks)) {
    put(file, "Heard of " + counted(heard, "rank") +
                  " only: others are not served by attrcache, or came too late.\n");
  }
  for (int kind = 0; kind < kMpiKinds; ++kind) {
    if (s.not_served[kind] != 0) {
      put(file, std::string("Not counted: ") + kKindNames[kind].word + "s, on " +
                    counted(s.not_served[kind], "rank") +
                    ", because a tool in front wraps their functions.\n");
    }
  }
}

const char* const kColumns = " %6s %6s %8s %9s %7s %7s %7s %6s %9s  %s\n";

void write_row(std::FILE* file, const uint64_t* n, const std::string& what) {
  std::fprintf(file, kColumns, cell(n[kCreated]).c_str(), cell(n[kFreed]).c_str(),
               cell(n[kSets]).c_str(), cell(n[kGets]).c_str(), cell(n[kAbsent]).c_str(),
               cell(n[kDeletes]).c_str(), cell(n[kCopies]).c_str(),
               cell(n[kCopyCalls] + n[kDeleteCalls]).c_str(), duration(n[kOwnNanoseconds]).c_str(),
               what.c_str());
}

void write_heading(std::FILE* file, const char* last) {
  std::fputc('\n', file);
  std::fprintf(file, kColumns, "key-", "", "", "get:", "", "", "copied", "call-", "time in", "");
  std::fprintf(file, kColumns, "vals", "freed", "set", "found", "absent", "delete", "by dup",
               "backs", "callbacks", last);
}

void write_table(std::FILE* file, const Summary& s) {
  if (s.lines.empty()) {
    put(file, "\nNo keyval was made.\n");
    return;
  }
  write_heading(file, "of keyvals with this delete_fn or copy_fn");
  uint64_t sum[kNumbers] = {};
  for (const Line& line : s.lines) {
    write_row(file, line.numbers,
              line.origin() + (line.from_caller ? " (made there)" : "") +
                  (line.kind != 0 ? std::string(" [") + kKindNames[line.kind].word + "]" : ""));
    for (int n = 0; n < kNumbers; ++n) sum[n] += line.numbers[n];
  }
  if (s.lines.size() > 1) write_row(file, sum, "all");
}

// Makes "libx.so: f", "libx.so+0x12" or "libx.so".
std::string origin(const std::string& library, const std::string& function) {
  Line line;
  line.library = library;
  line.function = function;
  return line.origin();
}

// Lists the first few names.
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) text += (i != 0 ? ", " : "") + names[i];
  if (names.size() > kShown) text += " and " + grouped(names.size() - kShown) + " more";
  return text;
}

// Makes "2 communicators, made by a dup at libx.so: f+0x12".
std::string objects_from(const LeftObject& o, uint64_t count) {
  std::string text = counted(count, kKindNames[o.kind].word);
  if (!o.place.empty()) text += (o.by_dup ? ", made by a dup at " : ", first used at ") + o.place;
  return text;
}

void write_left(std::FILE* file, const Summary& s) {
  bool any = false;
  const auto say = [&](const std::string& text) {
    if (!any) put(file, "\nLeft behind:\n");
    any = true;
    put(file, "  " + text + "\n");
  };
  static constexpr const char* kFreeKeyval[] = {"MPI_Comm_free_keyval", "MPI_Type_free_keyval",
                                                "MPI_Win_free_keyval"};
  static constexpr const char* kFree[] = {"MPI_Comm_free", "MPI_Type_free", "MPI_Win_free"};
  for (const Line& line : s.lines) {
    if (line.numbers[kLeft] == 0) continue;
    say(counted(line.numbers[kLeft], "keyval") + " of " + line.origin() + ": no " +
        kFreeKeyval[line.kind]);
  }
  for (size_t i = 0; i < s.attached.size(); ++i) {
    const Attached& a = s.attached[i];
    const auto alike = [&a](const Attached& b) {
      return a.kind == b.kind && a.library == b.library && a.function == b.function &&
             a.predefined == b.predefined && a.deleted_by_finalize == b.deleted_by_finalize;
    };
    // All that are alike are written together with the first of them.
    if (std::any_of(s.attached.begin(), s.attached.begin() + static_cast<ptrdiff_t>(i), alike)) {
      continue;
    }
    uint64_t count = 0;
    std::vector<std::string> objects;
    for (const Attached& b : s.attached) {
      if (!alike(b)) continue;
      count += b.count;
      objects.push_back(b.object);
    }
    const std::string what = counted(count, "attribute") + " of " + origin(a.library, a.function) +
                             ", on " + listed(objects);
    const char* them = count == 1 ? "it" : "them";
    if (a.deleted_by_finalize) {
      say(what + ": MPI_Finalize will delete " + them);
    } else if (a.predefined) {
      say(what + ": " + behaviour().name + " never deletes " + them);
    } else {
      say(what + ": no " + kFree[a.kind] + ", so delete_fn never ran");
    }
  }
  // Objects by where they came from, whatever their names are.
  std::map<std::tuple<int, bool, std::string>, uint64_t> places;
  for (const LeftObject& o : s.objects) places[{o.kind, o.by_dup, o.place}] += o.count;
  for (const LeftObject& o : s.objects) {
    const auto place = places.extract({o.kind, o.by_dup, o.place});
    if (place.empty()) continue;  // written with the first of them
    say(objects_from(o, place.mapped()) + ": no " + kFree[o.kind]);
  }
}

void write_failures(std::FILE* file, const Summary& s) {
  bool any = false;
  for (const Line& line : s.lines) {
    if (line.numbers[kFailed] == 0) continue;
    if (!any) put(file, "\nCallbacks that failed:\n");
    any = true;
    put(file, "  " + grouped(line.numbers[kFailed]) + " of " + line.origin() +
                  ", the last with code " + std::to_string(line.last_failure) + "\n");
  }
}

void write_misuse(std::FILE* file, const Summary& s) {
  if (s.misuse.empty()) return;
  put(file, "\nMisuse (ATTRCACHE_CHECK=1 finds more):\n");
  for (const MisuseCount& m : s.misuse) {
    put(file, "  " + grouped(m.count) + " x " + m.name + ": " + m.what + "\n");
    std::vector<std::string> places;
    for (const MisusePlace& p : m.places) places.push_back(p.place);
    if (!places.empty()) put(file, "    at " + listed(places) + "\n");
  }
}

bool all_well(const Summary& s) {
  return total(s, kLeft) == 0 && s.attached.empty() && s.objects.empty() &&
         total(s, kFailed) == 0 && s.misuse.empty();
}

void sum_numbers(const Summary& s, uint64_t (&sum)[kNumbers]) {
  for (int n = 0; n < kNumbers; ++n) sum[n] = total(s, static_cast<Number>(n));
}

// Whether all ranks did the same. Their times are not compared, because they always differ.
bool alike(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    for (int n = 0; n < kNanoseconds; ++n) {
      const auto number = static_cast<Number>(n);
      if (total(part.summary, number) != total(parts[0].summary, number)) return false;
    }
  }
  return true;
}

void write_ranks(std::FILE* file, const std::vector<Part>& parts) {
  if (parts.size() < 2) return;
  if (alike(parts)) {
    put(file, "\nAll ranks did the same, but for the time it took.\n");
    return;
  }
  if (parts.size() <= kFewRanks) {
    write_heading(file, "rank");
    for (const Part& part : parts) {
      uint64_t sum[kNumbers];
      sum_numbers(part.summary, sum);
      write_row(file, sum, std::to_string(part.summary.rank));
    }
    return;
  }
  static constexpr struct {
    Number number;
    const char* name;
  } kShown[] = {{kCreated, "keyvals made"},
                {kLeft, "keyvals not freed"},
                {kSets, "set"},
                {kGets, "get, found"},
                {kAbsent, "get, absent"},
                {kDeletes, "delete"},
                {kCopies, "copied by dup"},
                {kAttached, "still attached"},
                {kFailed, "failed callbacks"},
                {kOwnNanoseconds, "time in callbacks"}};
  put(file, "\n  over ranks                 least              median                most\n");
  for (const auto& shown : kShown) {
    std::vector<std::pair<uint64_t, int>> values;
    for (const Part& part : parts) {
      values.emplace_back(total(part.summary, shown.number), part.summary.rank);
    }
    std::sort(values.begin(), values.end());
    if (values.front().first == values.back().first) continue;
    const auto write = [&](uint64_t n) {
      return shown.number == kOwnNanoseconds ? duration(n) : grouped(n);
    };
    const auto named = [&](const std::pair<uint64_t, int>& value) {
      return write(value.first) + " (rank " + std::to_string(value.second) + ")";
    };
    std::fprintf(file, "  %-17s %19s %19s %19s\n", shown.name, named(values.front()).c_str(),
                 write(values[values.size() / 2].first).c_str(), named(values.back()).c_str());
  }
}

}  // namespace

void write_text(std::FILE* file, const Everything& all) {
  write_head(file, all);
  write_table(file, all.sum);
  write_left(file, all.sum);
  write_failures(file, all.sum);
  write_misuse(file, all.sum);
  if (!all.sum.lines.empty() && all_well(all.sum)) {
    put(file, "\nNothing is left behind, no callback failed, no misuse.\n");
  }
  write_ranks(file, all.parts);
  std::fputc('\n', file);
}

}  // namespace attrcache::mpi::report
