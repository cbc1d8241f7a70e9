// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The allocator of these tests: fails when told to, and knows what is allocated.

#ifndef ATTRCACHE_TESTS_ALLOC_ALLOCATOR_H_
#define ATTRCACHE_TESTS_ALLOC_ALLOCATOR_H_

#include <cstddef>

namespace attrcache::support {

// Lets `after` allocations succeed and then fails one, or all from there on.
enum class Failing { kOne, kAllFromThere };
void fail_allocation(long after, Failing failing);
void fail_no_allocation();

// Whether it has come to that since.
bool allocation_failed();

// What is allocated now: blocks, and their bytes as malloc accounts them (8 more, in steps of 16,
// at least 32).
size_t blocks_allocated();
size_t bytes_allocated();

}  // namespace attrcache::support

#endif  // ATTRCACHE_TESTS_ALLOC_ALLOCATOR_H_
