// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// cost_run FUNCTION TIMES: calls one of cost.cc's functions so many times. cost_test.sh counts the
// instructions. Each delete follows a set by the same API.

#include <cstdlib>
#include <cstring>
#include <utility>

#include "cost.cc"

namespace {

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
int run(const char* operation, long times, const Handle& keyval, Functions<Handle> f) {
  Session session{};
  int value = 7, *found = nullptr;
  bool good = f.set(keyval, session, &value);
  const auto repeat = [&](auto once) {
    for (long i = 0; i < times; ++i) good = once() && good;
  };
  if (std::strcmp(operation, "get") == 0) {
    repeat([&] { return f.get(keyval, session) == &value; });
  } else if (std::strcmp(operation, "get_status") == 0) {
    repeat([&] { return f.get_status(keyval, session, found) && found == &value; });
  } else if (std::strcmp(operation, "set") == 0) {
    repeat([&] { return f.set(keyval, session, &value); });
  } else if (std::strcmp(operation, "delete") == 0) {
    repeat([&] { return f.erase(keyval, session) && f.set(keyval, session, &value); });
  } else if (std::strcmp(operation, "borrow") == 0) {
    repeat([&] { return f.borrow(keyval, session) == 7; });
  } else {
    good = false;
  }
  f.erase(keyval, session);
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto domain = *attrcache::Domain::create();
  auto kind = *domain.add_kind<Session>("session");
  const auto keyval = *Keyval::create(kind);
  const char* operation = std::strchr(argv[1], '_');
  const long times = std::atol(argv[2]);
  if (operation++ == nullptr) return 2;
  if (argv[1][1] == 'x') {
    return run<Keyval>(operation, times, keyval,
                       {cxx_get, cxx_get_status, cxx_set, cxx_delete, cxx_borrow});
  }
  const InC in_c = {kind.native(), attrcache_kind_numbers(kind.native()), keyval.native(),
                    keyval.native()};  // its domain has no numbers of its own
  return run<InC>(operation, times, in_c,
                  {capi_get, capi_get_status, capi_set, capi_delete, capi_borrow});
}
