// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A chain of objects, each of which has an attribute whose delete_fn frees the next one. (Each call
// looks through the frames up its thread's stack, so a chain takes time by the square of its depth.)

#include <pthread.h>

#include <algorithm>
#include <deque>

#include "tests/support/fixture.h"

namespace attrcache::support {
namespace {

struct Chain {
  explicit Chain(attrcache_kind* of) : kind(of) {
    attrcache_callbacks callbacks = {};
    callbacks.delete_fn = reinterpret_cast<attrcache_callback*>(&free_next);
    EXPECT_EQ(attrcache_keyval_create(kind, &callbacks, &keyval), ATTRCACHE_OK);
  }
  void make(int length) {
    for (int i = 0; i < length; ++i) {
      Chain* const self = this;
      objects.emplace_back(kind).set(keyval, reinterpret_cast<intptr_t>(self));
    }
  }
  // Where the stack of a caller ends.
  [[gnu::noinline]] static const char* below_caller() {
    return static_cast<const char*>(__builtin_frame_address(0));
  }
  [[gnu::noinline]] static int free_next(void*, int, void* value, void*) {
    auto& self = *static_cast<Chain*>(value);
    const auto* const at = static_cast<const char*>(__builtin_frame_address(0));
    if (self.last_at != nullptr) self.most = std::max(self.most, self.last_at - at);
    if (++self.freed == self.objects.size()) return 0;
    Object& next = self.objects[self.freed];
    // A set of another attribute, and a free: each looks at the frames up the stack.
    int result = next.set(self.other, 1);
    self.last_at = below_caller();
    if (result == ATTRCACHE_OK) result = next.free();
    return result;
  }

  attrcache_kind* const kind;
  int keyval = ATTRCACHE_KEYVAL_INVALID;
  int other = ATTRCACHE_KEYVAL_INVALID;
  std::deque<Object> objects;
  size_t freed = 0;
  const char* last_at = nullptr;
  ptrdiff_t most = 0;
};

void* free_first(void* argument) {
  Chain& chain = *static_cast<Chain*>(argument);
  EXPECT_EQ(chain.objects[0].free(), ATTRCACHE_OK);
  return nullptr;
}

constexpr int kDepth = 4000;  // ThreadSanitizer's stacks have at most 65,535 calls

TEST(NestedFree, EachAttributesDeleteFnFreesTheNextObject) {
  Universe universe;
  Chain chain(universe.kind());
  ASSERT_EQ(attrcache_keyval_create(chain.kind, nullptr, &chain.other), ATTRCACHE_OK);
  chain.make(kDepth);
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t{1} << 30), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, &free_first, &chain), 0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
  EXPECT_EQ(chain.freed, chain.objects.size());
  EXPECT_EQ(universe.counters().attributes, 0u);
  for (const Object& object : chain.objects) ASSERT_TRUE(object.all_zero());
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__OPTIMIZE__)
  EXPECT_LE(chain.most, 1024) << "bytes of stack for each level";
#endif
}

}  // namespace
}  // namespace attrcache::support
