// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/report/settings.h"

#include <cstdio>
#include <cstdlib>

namespace attrcache::mpi::report {
namespace {

std::string text(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

double number(const char* name, double most, double otherwise) {
  const std::string value = text(name);
  if (value.empty()) return otherwise;
  char* end;
  const double wanted = std::strtod(value.c_str(), &end);
  if (*end == '\0' && wanted >= 0 && wanted <= most) return wanted;
  std::fprintf(stderr, "attrcache: %s=%s: not a number from 0 to %.0f; taking %.0f\n", name,
               value.c_str(), most, otherwise);
  return otherwise;
}

Settings read() {
  Settings w;
  std::string rest = text("ATTRCACHE_REPORT");
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    if (colon != 0) w.targets.push_back(rest.substr(0, colon));
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  w.trace = text("ATTRCACHE_TRACE");
  w.slow = static_cast<uint64_t>(number("ATTRCACHE_TRACE_SLOW", 1e9, 10) * 1000);
  w.events = static_cast<size_t>(number("ATTRCACHE_TRACE_EVENTS", 1e8, 50'000));
  w.events_asked = !text("ATTRCACHE_TRACE_EVENTS").empty();
  w.wait = number("ATTRCACHE_REPORT_WAIT", 1e6, 300);
  return w;
}

}  // namespace

const Settings& settings() {
  static const Settings& read_once = *new Settings(read());
  return read_once;
}

}  // namespace attrcache::mpi::report
