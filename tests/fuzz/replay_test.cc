// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the fuzzer has found worth keeping, and a bounded number of random inputs, under whatever
// compiler and sanitizer the tests are built with.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/fuzz/implementation.h"

namespace {

TEST(FuzzReplay, Corpus) {
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/corpus")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    attrcache::fuzz::play(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    ++inputs;
  }
  EXPECT_GE(inputs, 20);
}

TEST(FuzzReplay, RandomInputs) {
  constexpr int kInputs = 3000;
  for (unsigned seed = 0; seed < kInputs; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes(5 * (20 + random() % 400));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    attrcache::fuzz::play(bytes.data(), bytes.size());
  }
}

}  // namespace
