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
size_t unhooked = 0;

constexpr size_t kHeader = 16;  // holds the size, and keeps what follows aligned

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

void* hand_out(size_t size) {
  if (must_fail()) return nullptr;
  auto* memory = static_cast<char*>(std::malloc(size + kHeader));
  if (memory == nullptr) return nullptr;
  std::memset(memory, 0xa5, size + kHeader);  // exposes code that doesn't initialize it
  *reinterpret_cast<size_t*>(memory) = size;
  ++blocks;
  bytes += as_malloc_accounts(size);
  return memory + kHeader;
}

void take_back(void* block) {
  char* memory = static_cast<char*>(block) - kHeader;
  --blocks;
  bytes -= as_malloc_accounts(*reinterpret_cast<size_t*>(memory));
  std::free(memory);
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
size_t allocated_without_hooks() { return unhooked; }

const attrcache_domain_options& through_hooks() {
  static const attrcache_allocator allocator = {
      [](size_t size, size_t alignment, void* context) -> void* {
        if (context != &blocks || alignment != kHeader) std::abort();
        return hand_out(size);
      },
      [](void* block, void* context) {
        if (context != &blocks || block == nullptr) std::abort();
        take_back(block);
      },
      &blocks};
  static const attrcache_domain_options options = [] {
    attrcache_domain_options o = {};
    o.allocator = &allocator;
    return o;
  }();
  return options;
}

}  // namespace support

// Serves the library's allocations that don't go through a domain's hooks.
void* allocate(size_t size) {
  ++support::unhooked;
  return support::hand_out(size);
}
void release(void* block) { support::take_back(block); }

}  // namespace attrcache
