// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The keys of a contender's process. They are made in order and stay alive. So key number 0 is
// always the first key that was made, whichever operations were measured before.

#ifndef BENCH_HARNESS_KEYS_H_
#define BENCH_HARNESS_KEYS_H_

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "bench/harness/contender.h"

namespace bench {

inline void require(bool done, const char* what) {
  if (done) return;
  std::fprintf(stderr, "bench: failed to %s\n", what);
  std::abort();
}

// For contenders that have no registry: each key is the next number.
struct CountedKeys {
  static bool create_key(int* key) {
    static int next = 0;
    *key = next++;
    return true;
  }
  static bool free_key(int*) { return true; }
};

template <Contends C>
class Keys {
 public:
  static std::array<int, 64>& all() {
    static std::array<int, 64> keys;
    static const bool made =
        std::all_of(keys.begin(), keys.end(), [](auto& key) { return C::create_key(&key); });
    require(made, "create a key");
    return keys;
  }

  // The key whose values are deleted by a callback.
  static int calling() {
    static int key;
    static const bool made = C::create_calling_key(&key);
    require(made, "create a key");
    return key;
  }

  static void free_all() {
    for (auto& key : all()) require(C::free_key(&key), "free a key");
  }
};

}  // namespace bench

#endif  // BENCH_HARNESS_KEYS_H_
