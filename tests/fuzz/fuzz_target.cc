// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The entry point of libFuzzer; see fuzz.sh.

#include "tests/fuzz/implementation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  attrcache::fuzz::play(data, size);
  return 0;
}
