// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/alloc/allocator.h"

#include <cstdlib>

#include "platform/memory.h"

namespace attrcache {
namespace support {
namespace {

long countdown = -1;  // negative: none fails
Failing how = Failing::kOne;
bool failed = false;
size_t blocks = 0;
size_t bytes = 0;

constexpr size_t kHeader = 16;  // keeps the size; and the alignment of what follows

size_t as_malloc_accounts(size_t size) {
  const size_t chunk = (size + 8 + 15) & ~size_t{15};
  return chunk < 32 ? 32 : chunk;
}

bool must_fail() {
  if (countdown < 0) return false;
  if (countdown > 0) {
    --countdown;
    return false;
  }
  if (how == Failing::kOne) countdown = -1;
  failed = true;
  return true;
}

}  // namespace

void fail_allocation(long after, Failing failing) {
  countdown = after;
  how = failing;
  failed = false;
}
void fail_no_allocation() { countdown = -1; }
bool allocation_failed() { return failed; }
size_t blocks_allocated() { return blocks; }
size_t bytes_allocated() { return bytes; }

}  // namespace support

void* allocate(size_t size) {
  if (support::must_fail()) return nullptr;
  auto* memory = static_cast<char*>(std::malloc(size + support::kHeader));
  if (memory == nullptr) return nullptr;
  std::memset(memory, 0xa5, size + support::kHeader);  // who forgets to fill it in finds this
  *reinterpret_cast<size_t*>(memory) = size;
  ++support::blocks;
  support::bytes += support::as_malloc_accounts(size);
  return memory + support::kHeader;
}

void release(void* block) {
  char* memory = static_cast<char*>(block) - support::kHeader;
  --support::blocks;
  support::bytes -= support::as_malloc_accounts(*reinterpret_cast<size_t*>(memory));
  std::free(memory);
}

}  // namespace attrcache
