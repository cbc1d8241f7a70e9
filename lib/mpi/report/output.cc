// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/report/output.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace attrcache::mpi::report {
namespace {

// Only attrcache-run makes pages. Without it, their data are written to a file of their own.
bool is_page(const std::string& path) { return path.ends_with(".html"); }
bool is_json(const std::string& path) { return path.ends_with(".json"); }

// Makes "a/report.rank3.json" from "a/report.json" and ".rank3".
std::string with_suffix(const std::string& path, const std::string& suffix) {
  const size_t slash = path.rfind('/');
  const size_t dot = path.rfind('.');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  const size_t at = has_ending ? dot : path.size();
  return path.substr(0, at) + suffix + path.substr(at);
}

void write_file(const std::string& path, void (*write)(std::FILE*, const Everything&),
                const Everything& all) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  int error = errno;
  if (file != nullptr) {
    write(file, all);
    const bool failed = std::ferror(file) != 0;
    if (std::fclose(file) == 0 && !failed) return;
    error = errno;
  }
  std::fprintf(stderr, "attrcache: can't write %s: %s\n", path.c_str(), std::strerror(error));
}

}  // namespace

void write_trace(std::FILE* file, const Everything& all) {
  uint64_t base = ~uint64_t{0};
  for (const Part& part : all.parts) base = std::min(base, first_moment(part.timeline));
  ChromeTrace trace(file, base);
  for (const Part& part : all.parts) {
    trace.write(part.summary.rank, part.summary.host, part.timeline);
  }
}

void write_all(const std::vector<Part>& parts, int ranks, const Settings& settings,
               const std::string& suffix) {
  Everything all = {ranks, parts, {}};
  for (const Part& part : parts) add(all.sum, part.summary);
  sort(all.sum);
  for (const std::string& target : settings.targets) {
    if (target == "-") {
      write_text(stderr, all);
      std::fflush(stderr);
    } else if (is_page(target)) {
      const std::string page = with_suffix(target, suffix);
      write_file(page + ".json", write_json, all);
      std::fprintf(stderr,
                   "attrcache: attrcache-run makes the page: attrcache-run --from %s.json "
                   "--report=%s\n",
                   page.c_str(), page.c_str());
    } else {
      write_file(with_suffix(target, suffix), is_json(target) ? write_json : write_text, all);
    }
  }
  if (!settings.trace.empty()) write_file(with_suffix(settings.trace, suffix), write_trace, all);
}

}  // namespace attrcache::mpi::report
