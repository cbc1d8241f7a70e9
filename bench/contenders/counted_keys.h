// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Keys for contenders that have no registry: each key is the next number.

#ifndef BENCH_CONTENDERS_COUNTED_KEYS_H_
#define BENCH_CONTENDERS_COUNTED_KEYS_H_

namespace bench {

struct CountedKeys {
  static bool create_key(int* key) {
    static int next = 0;
    *key = next++;
    return true;
  }
  static bool free_key(int*) { return true; }
};

}  // namespace bench

#endif  // BENCH_CONTENDERS_COUNTED_KEYS_H_
