// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A chain of objects, each of which has an attribute whose delete_fn frees the next one. (Each call
// looks through the frames up its thread's stack, so a chain takes time by the square of its depth.)

#include <algorithm>
#include <deque>

#include "tests/support/fixture.h"

namespace attrcache::support {
namespace {

struct Chain {
  int keyval = ATTRCACHE_KEYVAL_INVALID;
  int other = ATTRCACHE_KEYVAL_INVALID;
  std::deque<Object> objects;
  size_t freed = 0;
  const char* last_at = nullptr;
  ptrdiff_t most = 0;
};

// Where the stack of a caller ends.
[[gnu::noinline]] const char* below_caller() {
  return static_cast<const char*>(__builtin_frame_address(0));
}
[[gnu::noinline]] int free_next(void*, int, void* value, void*) {
  auto& chain = *static_cast<Chain*>(value);
  const auto* const at = static_cast<const char*>(__builtin_frame_address(0));
  if (chain.last_at != nullptr) chain.most = std::max(chain.most, chain.last_at - at);
  if (++chain.freed == chain.objects.size()) return 0;
  Object& next = chain.objects[chain.freed];
  // A set of another attribute, and a free: each looks at the frames up the stack.
  const int result = next.set(chain.other, 1);
  chain.last_at = below_caller();
  return result == ATTRCACHE_OK ? next.free() : result;
}

TEST(NestedFree, EachAttributesDeleteFnFreesTheNextObject) {
  Universe universe;
  attrcache_kind* const kind = universe.kind();
  Chain chain;
  chain.keyval = make_keyval(kind, nullptr, callback(free_next));
  chain.other = make_keyval(kind, nullptr, nullptr);
  for (int i = 0; i < 400; ++i) {
    chain.objects.emplace_back(kind).set(chain.keyval, reinterpret_cast<intptr_t>(&chain));
  }
  EXPECT_EQ(chain.objects[0].free(), ATTRCACHE_OK);
  EXPECT_EQ(chain.freed, chain.objects.size());
  EXPECT_EQ(universe.counters().attributes, 0u);
  for (const Object& object : chain.objects) ASSERT_TRUE(object.all_zero());
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__OPTIMIZE__)
  EXPECT_LE(chain.most, 1024) << "bytes of stack for each level";
#endif
}

}  // namespace
}  // namespace attrcache::support
