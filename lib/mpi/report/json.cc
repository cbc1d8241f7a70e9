// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Writes the report for tools. ../README.md documents its members.

#include <cinttypes>

#include "attrcache/attrcache.h"
#include "mpi/native/native.h"
#include "mpi/report/output.h"
#include "mpi/report/quote.h"
#include "mpi/watching/misuse.h"

namespace attrcache::mpi::report {
namespace {

void write_line(std::FILE* file, const Line& line, const char* indent) {
  std::fprintf(file, "%s  {\"kind\": \"%s\", \"library\": \"%s\", \"function\": \"%s\", ", indent,
               kKindNames[line.kind].word, quoted(line.library).c_str(),
               quoted(line.function).c_str());
  std::fprintf(file, "\"named_by\": \"%s\", \"made_at\": \"%s\"",
               line.from_caller ? "caller" : "callback", quoted(line.made_at).c_str());
  for (int n = 0; n < kNumbers; ++n) {
    std::fprintf(file, ", \"%s\": %" PRIu64, kNumberNames[n], line.numbers[n]);
  }
  std::fprintf(file, ", \"last_failure\": %" PRId64 "}", line.last_failure);
}

void write_attached(std::FILE* file, const Attached& a, const char* indent) {
  std::fprintf(file,
               "%s  {\"kind\": \"%s\", \"object\": \"%s\", \"library\": \"%s\", \"function\": "
               "\"%s\", \"attributes\": %" PRIu64
               ", \"predefined\": %s, \"deleted_by_finalize\": %s}",
               indent, kKindNames[a.kind].word, quoted(a.object).c_str(), quoted(a.library).c_str(),
               quoted(a.function).c_str(), a.count, a.predefined ? "true" : "false",
               a.deleted_by_finalize ? "true" : "false");
}

void write_object(std::FILE* file, const LeftObject& o, const char* indent) {
  std::fprintf(file,
               "%s  {\"kind\": \"%s\", \"object\": \"%s\", \"from\": \"%s\", \"place\": "
               "\"%s\", \"count\": %" PRIu64 "}",
               indent, kKindNames[o.kind].word, quoted(o.object).c_str(), o.by_dup ? "dup" : "use",
               quoted(o.place).c_str(), o.count);
}

template <typename T>
void write_list(std::FILE* file, const char* name, const std::vector<T>& list, const char* indent,
                void (*write)(std::FILE*, const T&, const char*)) {
  std::fprintf(file, ",\n%s\"%s\": [", indent, name);
  const char* separator = "\n";
  for (const T& item : list) {
    std::fputs(separator, file);
    write(file, item, indent);
    separator = ",\n";
  }
  std::fputs("]", file);
}

// Writes what a rank and the sum of all ranks have in common.
void write_summary(std::FILE* file, const Summary& s, const char* indent) {
  std::fprintf(file, "%s\"seconds\": %.6f", indent, static_cast<double>(s.nanoseconds) / 1e9);
  write_list(file, "keyvals", s.lines, indent, write_line);
  write_list(file, "attached", s.attached, indent, write_attached);
  write_list(file, "objects", s.objects, indent, write_object);
  std::fprintf(file, ",\n%s\"misuse\": {", indent);
  const char* separator = "";
  for (const MisuseCount& m : s.misuse) {
    std::fprintf(
        file,
        "%s\"%s\": {\"times\": %" PRIu64 ", \"what\": \"%s\", \"rule\": \"%s\", \"places\": {",
        separator, quoted(m.name).c_str(), m.count, quoted(m.what).c_str(), quoted(m.rule).c_str());
    separator = "";
    for (const MisusePlace& p : m.places) {
      std::fprintf(file, "%s\"%s\": %" PRIu64, separator, quoted(p.place).c_str(), p.count);
      separator = ", ";
    }
    std::fputs("}}", file);
    separator = ", ";
  }
  std::fprintf(file, "},\n%s\"not_served\": {", indent);
  separator = "";
  for (int kind = 0; kind < kMpiKinds; ++kind) {
    std::fprintf(file, "%s\"%s\": %" PRIu64, separator, kKindNames[kind].word, s.not_served[kind]);
    separator = ", ";
  }
  std::fputs("}", file);
}

}  // namespace

void write_json(std::FILE* file, const Everything& all) {
  std::fprintf(file,
               "{\n\"format\": 1,\n\"attrcache\": \"%d.%d.%d\",\n\"mpi\": \"%s\",\n\"ranks\": "
               "%d,\n\"ranks_heard_of\": %zu,\n\"finalized\": %s,\n\"checked\": %s,\n\"sum\": {\n",
               ATTRCACHE_VERSION_MAJOR, ATTRCACHE_VERSION_MINOR, ATTRCACHE_VERSION_PATCH,
               behaviour().name, all.ranks, all.parts.size(), all.sum.finalized ? "true" : "false",
               checking() ? "true" : "false");
  write_summary(file, all.sum, "  ");
  std::fputs("},\n\"per_rank\": [", file);
  const char* separator = "\n";
  for (const Part& part : all.parts) {
    std::fprintf(file, "%s{\n    \"rank\": %d,\n    \"host\": \"%s\",\n    \"pid\": %d,\n",
                 separator, part.summary.rank, quoted(part.summary.host).c_str(),
                 part.timeline.pid);
    write_summary(file, part.summary, "    ");
    std::fputs("}", file);
    separator = ",\n";
  }
  std::fputs("]\n}\n", file);
}

}  // namespace attrcache::mpi::report
