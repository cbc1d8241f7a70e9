// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The smallest C++ program that uses an installed attrcache. Compiled with and without exceptions.

#include <attrcache/attrcache.hpp>
#include <cstdio>
#include <memory>
#include <string>

namespace {

struct Session {
  attrcache_table attributes = {};
};

int run() {
  auto domain = attrcache::Domain::create();
  if (!domain) return 1;
  auto sessions = domain->add_kind<Session>("session");
  if (!sessions) return 2;
  auto names = attrcache::Keyval<std::string, Session>::create(*sessions, attrcache::clone,
                                                               attrcache::destroy);
  if (!names) return 3;
  Session a, b;
  if (!names->set(a, std::make_unique<std::string>("works in C++"))) return 4;
  if (!sessions->copy_all(a, b)) return 5;
  if (const auto held = names->borrow(b)) {
    std::printf("attrcache %d %s\n", attrcache_version(), held->c_str());
  } else {
    return 6;
  }
  return sessions->delete_all(a) && sessions->delete_all(b) ? 0 : 7;
}

}  // namespace

int main() { return run(); }
