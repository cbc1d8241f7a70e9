// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/objects/handle_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace attrcache::mpi {
namespace {

// Programs never destroy their map; tests do.
struct Map : HandleMap {
  ~Map() { reset(); }
};

void* object(uintptr_t n) { return reinterpret_cast<void*>(n * 16 + 16); }

// MPICH's handles are counted up, Open MPI's are addresses a fixed distance apart: however many
// there are, the hot path finds nearly all in their first place.
TEST(HandleMap, FindsNearlyAllAtHome) {
  for (const uintptr_t step : {1u, 16u, 64u, 352u, 1024u, 4096u}) {
    for (const uintptr_t count : {3u, 30u, 1000u, 200000u}) {
      Map map;
      const uintptr_t base = step == 1 ? 0x84000000 : 0x7f3210000010;
      for (uintptr_t i = 0; i < count; ++i) map.insert(base + i * step, object(i));
      uintptr_t at_home = 0;
      for (uintptr_t i = 0; i < count; ++i) {
        ASSERT_EQ(map.find(base + i * step), object(i));
        void* found;
        if (map.find_at_home(base + i * step, &found)) ++at_home;
      }
      EXPECT_GE(at_home * 10, count * 9) << "step " << step << ", count " << count;
    }
  }
}

// Also for the null handle, which marks an empty entry, and across clear().
TEST(HandleMap, AgreesWithAMap) {
  std::mt19937 random(4711);
  Map map;
  std::map<uintptr_t, void*> reference;
  for (int i = 0; i < 300000; ++i) {
    const uintptr_t number = random() % 3000;
    const uintptr_t handle = number == 0 ? 0 : 0x84000000 + number * (i < 100000 ? 1 : 64);
    switch (random() % 3) {
      case 0: {
        void* expected = reference.emplace(handle, object(random())).first->second;
        ASSERT_EQ(map.insert(handle, expected), expected);
        ASSERT_EQ(map.insert(handle, object(random())), expected);
        break;
      }
      case 1:
        map.erase(handle);
        reference.erase(handle);
        break;
      default: {
        const auto found = reference.find(handle);
        ASSERT_EQ(map.find(handle), found != reference.end() ? found->second : nullptr);
      }
    }
    if (i % 50000 == 0) {
      map.clear();
      reference.clear();
    }
    ASSERT_EQ(map.size(), reference.size());
  }
}

}  // namespace
}  // namespace attrcache::mpi
