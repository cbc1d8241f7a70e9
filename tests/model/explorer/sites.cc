// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/model/explorer/sites.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "tests/model/explorer/log.h"

namespace attrcache::model::sites {
namespace {

// The parsed ATTRCACHE_MODEL_WEAKEN.
struct Weakening {
  bool given = false;
  bool failure = false;
  char file[64] = "";
  int line = 0;
  Kind kind = Kind::kSwap;
  std::memory_order order = std::memory_order_relaxed;

  Weakening() {
    const char* const text = std::getenv("ATTRCACHE_MODEL_WEAKEN");
    if (text == nullptr) return;
    char what[8], to[8];
    given = std::sscanf(text, "%63[^:]:%d:%7[a-z]:%7[a-z_]", file, &line, what, to) == 4;
    if (!given) {
      std::fprintf(stderr, "ATTRCACHE_MODEL_WEAKEN=%s: not understood\n", text);
      std::abort();
    }
    failure = std::strcmp(what, "fail") == 0;
    for (const Kind k : {Kind::kLoad, Kind::kStore, Kind::kUpdate}) {
      if (std::strcmp(what, name_of(k)) == 0) kind = k;
    }
    for (const auto o : {std::memory_order_acquire, std::memory_order_release}) {
      if (std::strcmp(to, name_of(o)) == 0) order = o;
    }
  }
};

const Weakening& weakening() {
  static const Weakening instance;
  return instance;
}

using Site =
    std::tuple<std::string, int, Kind, std::memory_order, std::optional<std::memory_order>>;
std::set<Site>& reached() {
  static std::set<Site> instance;
  return instance;
}

const char* output() {
  static const char* const path = std::getenv("ATTRCACHE_MODEL_SITES");
  return path;
}

}  // namespace

bool active() {
  static const bool given = weakening().given || output() != nullptr;
  return given;
}

void visit(Access& access, std::memory_order* failure) {
  const bool pair = access.size == 16;
  const char* const file = pair ? "pair" : without_folder(access.file);
  const int line = pair ? 0 : access.line;
  if (output() != nullptr) {
    std::optional<std::memory_order> order_if_it_fails;
    if (failure != nullptr) order_if_it_fails = *failure;
    reached().insert({file, line, access.kind, access.order, order_if_it_fails});
  }
  const Weakening& w = weakening();
  if (!w.given || w.kind != access.kind || w.line != line || std::strcmp(w.file, file) != 0) return;
  if (w.failure) {
    *failure = w.order;
  } else {
    access.order = w.order;
  }
}

void dump(const char* suite, const char* test) {
  if (output() == nullptr) return;
  std::FILE* file = std::fopen(output(), "a");
  if (file == nullptr) std::abort();
  for (const auto& [name, line, kind, order, failure] : reached()) {
    std::fprintf(file, "%s.%s %s:%d %s %s %s\n", suite, test, name.c_str(), line, name_of(kind),
                 name_of(order), failure.has_value() ? name_of(*failure) : "-");
  }
  std::fclose(file);
  reached().clear();
}

}  // namespace attrcache::model::sites
