// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Plays a bounded number of random inputs, with whatever compiler and sanitizer the tests are built
// with, or in the explorer (tests/model/mutate.py).

#include <gtest/gtest.h>

#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

TEST(FuzzReplay, RandomInputs) {
  constexpr int kInputs = 4000;
  for (unsigned seed = 0; seed < kInputs; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes(5 * (20 + random() % 180));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
}

}  // namespace
