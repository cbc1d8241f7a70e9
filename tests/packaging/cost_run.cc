// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Calls each of cost.cc's functions a thousand times, and two thousand. cost_test.sh has the
// instructions counted. Each delete follows a set by the same API.

#include <valgrind/callgrind.h>

#include <cstdio>
#include <deque>
#include <string>
#include <utility>

#include "cost.cc"

namespace {

bool good = true;

template <typename Once>
void count(const std::string& label, Once once) {
  for (const int times : {1000, 2000}) {
    // valgrind reads the name later, so it stays where it is.
    static std::deque<std::string> names;
    const char* const name = names.emplace_back(label + ' ' + std::to_string(times)).c_str();
    CALLGRIND_ZERO_STATS;
    CALLGRIND_TOGGLE_COLLECT;
    for (int i = 0; i < times; ++i) good = once() && good;
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(name);
  }
}

// Both APIs are called by the same code, through a pointer.
template <typename Handle>
struct Functions {
  int* (*get)(const Handle&, const Session&);
  bool (*get_status)(const Handle&, const Session&, int*&);
  bool (*set)(const Handle&, Session&, int*);
  bool (*erase)(const Handle&, Session&);
  int (*borrow)(const Handle&, Session&);
};

template <typename Handle>
void count_all(const std::string& api, const Handle& keyval, Functions<Handle> f) {
  Session session{};
  int value = 7, *found = nullptr;
  good = f.set(keyval, session, &value) && good;
  count("get " + api, [&] { return f.get(keyval, session) == &value; });
  count("get_status " + api,
        [&] { return f.get_status(keyval, session, found) && found == &value; });
  count("set " + api, [&] { return f.set(keyval, session, &value); });
  count("delete " + api,
        [&] { return f.erase(keyval, session) && f.set(keyval, session, &value); });
  count("borrow " + api, [&] { return f.borrow(keyval, session) == 7; });
  f.erase(keyval, session);
}

}  // namespace

int main() {
  auto domain = *attrcache::Domain::create();
  auto kind = *domain.add_kind<Session>("session");
  const auto keyval = *Keyval::create(kind);
  const InC in_c = {kind.native(), attrcache_kind_numbers(kind.native()), keyval.native(),
                    keyval.native()};  // its domain has no numbers of its own
  count_all<Keyval>("cxx", keyval, {cxx_get, cxx_get_status, cxx_set, cxx_delete, cxx_borrow});
  count_all<InC>("capi", in_c, {capi_get, capi_get_status, capi_set, capi_delete, capi_borrow});
  if (!good) std::puts("FAILED");
  return 0;
}
