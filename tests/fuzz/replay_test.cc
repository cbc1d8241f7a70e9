// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Replays the inputs that the fuzzer has kept, and a bounded number of random ones, with whatever
// compiler and sanitizer the tests are built with.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

TEST(FuzzReplay, Corpus) {
  std::ifstream file("tests/fuzz/corpus", std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  const auto* input = reinterpret_cast<const uint8_t*>(bytes.data());
  const uint8_t* const end = input + bytes.size();
  int inputs = 0;
  for (size_t size; input != end; input += size, ++inputs) {
    size = input[0] | input[1] << 8;
    input += 2;
    ASSERT_LE(size, static_cast<size_t>(end - input));
    LLVMFuzzerTestOneInput(input, size);
  }
  EXPECT_GE(inputs, 20);
}

TEST(FuzzReplay, RandomInputs) {
  constexpr int kInputs = 1000;
  for (unsigned seed = 0; seed < kInputs; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes(5 * (20 + random() % 400));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
}

}  // namespace
