// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/model/explorer/sites.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <tuple>

namespace attrcache::model::sites {
namespace {

constexpr const char* kKinds[] = {"load", "store", "update", "swap"};
constexpr const char* kOrders[] = {"relaxed", "consume", "acquire",
                                   "release", "acq_rel", "seq_cst"};

const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

// The parsed ATTRCACHE_MODEL_WEAKEN.
struct Weakening {
  bool given = false;
  bool pair = false;
  bool failure = false;
  std::string file;
  int line = 0;
  Kind kind = Kind::kLoad;
  std::memory_order order = std::memory_order_relaxed;

  Weakening() {
    const char* text = std::getenv("ATTRCACHE_MODEL_WEAKEN");
    if (text == nullptr) return;
    std::string part[4];
    int parts = 0;
    for (const char* c = text; *c != '\0'; ++c) {
      if (*c != ':') {
        part[parts] += *c;
      } else if (++parts == 4) {
        break;
      }
    }
    if (parts != 2 && parts != 3) {
      std::fprintf(stderr, "ATTRCACHE_MODEL_WEAKEN=%s: not understood\n", text);
      std::abort();
    }
    given = true;
    pair = parts == 2;
    file = part[0];
    if (!pair) line = std::atoi(part[1].c_str());
    failure = part[parts - 1] == "fail";
    kind = Kind::kSwap;
    for (int k = 0; k < 4; ++k) {
      if (part[parts - 1] == kKinds[k]) kind = static_cast<Kind>(k);
    }
    for (int o = 0; o < 6; ++o) {
      if (part[parts] == kOrders[o]) order = static_cast<std::memory_order>(o);
    }
  }
};

const Weakening& weakening() {
  static const Weakening instance;
  return instance;
}

using Site = std::tuple<std::string, int, int, int, int, int>;
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
  if (output() != nullptr) {
    reached().insert({base_name(access.file), access.line, static_cast<int>(access.kind),
                      access.size, static_cast<int>(access.order),
                      failure != nullptr ? static_cast<int>(*failure) : -1});
  }
  const Weakening& w = weakening();
  if (!w.given || w.kind != access.kind) return;
  if (w.pair ? access.size != 16 : (access.line != w.line || w.file != base_name(access.file))) {
    return;
  }
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
  for (const auto& [name, line, kind, size, order, failure] : reached()) {
    std::fprintf(file, "%s.%s %s:%d %s %s %s\n", suite, test, size == 16 ? "pair" : name.c_str(),
                 size == 16 ? 0 : line, kKinds[kind], kOrders[order],
                 failure >= 0 ? kOrders[failure] : "-");
  }
  std::fclose(file);
  reached().clear();
}

}  // namespace attrcache::model::sites
