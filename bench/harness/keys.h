// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The keys of a contender's process. They are made in order and stay alive. So key number 0 is
// always the first key that was made, whichever operations were measured before.

#ifndef BENCH_HARNESS_KEYS_H_
#define BENCH_HARNESS_KEYS_H_

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/harness/contender.h"

namespace bench {

inline void require(bool done, const char* what) {
  if (done) return;
  std::fprintf(stderr, "bench: failed to %s\n", what);
  std::abort();
}

template <Contends C>
class Keys {
 public:
  // All keys, after making as many as are missing to `count`.
  static std::vector<typename C::Key>& at_least(long count) {
    static std::vector<typename C::Key> keys;
    while (static_cast<long>(keys.size()) < count) {
      typename C::Key key;
      require(C::create_key(&key), "create a key");
      keys.push_back(key);
    }
    return keys;
  }

  // The key whose values are deleted by a callback.
  static typename C::Key calling() {
    static typename C::Key key;
    static const bool made = C::create_calling_key(&key);
    require(made, "create a key");
    return key;
  }

  static void free_all() {
    for (auto& key : at_least(0)) require(C::free_key(&key), "free a key");
    at_least(0).clear();
  }
};

}  // namespace bench

#endif  // BENCH_HARNESS_KEYS_H_
