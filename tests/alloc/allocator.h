// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The allocator of these tests, which the library calls through a domain's hooks. It fails on
// demand, and knows what is allocated.

#ifndef ATTRCACHE_TESTS_ALLOC_ALLOCATOR_H_
#define ATTRCACHE_TESTS_ALLOC_ALLOCATOR_H_

#include <cstddef>

#include "attrcache/attrcache.h"

namespace attrcache::support {

// Lets `after` allocations succeed and then fails one, or all that follow.
enum class Failing { kOne, kAllFromThere };
void fail_allocation(long after, Failing failing);
void fail_no_allocation();

// Whether an allocation has failed since then.
bool allocation_failed();

// What is allocated now: blocks, and their bytes as malloc accounts them (8 more, in steps of 16,
// at least 32).
size_t blocks_allocated();
size_t bytes_allocated();

// The options of a domain that allocates through attrcache_allocator; and how much has been
// allocated without such hooks.
const attrcache_domain_options& through_hooks();
size_t allocated_without_hooks();

}  // namespace attrcache::support

#endif  // ATTRCACHE_TESTS_ALLOC_ALLOCATOR_H_
