// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The C++ API without memory: its own allocations (one per keyval with stateful callbacks, and
// clone's) and the library's below it.

#include <cstdlib>
#include <memory>
#include <new>

#include "attrcache/attrcache.hpp"
#include "tests/alloc/allocator.h"
#include "tests/support/fixture.h"

namespace {
bool no_memory = false;  // for new (std::nothrow)
}

void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return no_memory ? nullptr : std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void* operator new(size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

namespace attrcache::support {
namespace {

struct Session {
  attrcache_table attributes = {};
};
using IntKeyval = Keyval<int, Session>;

class HppFailingTest : public ::testing::Test {
 protected:
  void TearDown() override {
    no_memory = false;
    fail_no_allocation();
  }
  Domain domain = *Domain::create();
  Kind<Session> kind = *domain.add_kind<Session>("session");
  Session a, b;
};

TEST_F(HppFailingTest, DomainsAndKinds) {
  fail_allocation(0, Failing::kAllFromThere);
  EXPECT_EQ(Domain::create().status(), Status::memory);
  EXPECT_EQ(domain.add_kind<Session>("another").status(), Status::memory);
}

TEST_F(HppFailingTest, AKeyvalThatIsNotMadeKeepsNoState) {
  const auto state = std::make_shared<int>(0);
  const auto create = [&] {
    return IntKeyval::create(
        kind, [state](int*) { return Copied<int>(nullptr); }, [state](int*) {});
  };
  no_memory = true;
  EXPECT_EQ(create().status(), Status::memory);
  EXPECT_EQ(state.use_count(), 1);
  EXPECT_EQ(domain.counters().keyvals_created, 0u);
  no_memory = false;
  fail_allocation(0, Failing::kAllFromThere);
  EXPECT_EQ(create().status(), Status::memory);
  EXPECT_EQ(state.use_count(), 1);
  fail_no_allocation();
  {
    const auto keyval = create();
    EXPECT_EQ(keyval.status(), Status::ok);
    EXPECT_EQ(state.use_count(), 3);
  }
  EXPECT_EQ(state.use_count(), 1);
}

TEST_F(HppFailingTest, ACloneThatIsNotMadeFailsTheCopy) {
  auto keyval = *IntKeyval::create(kind, clone, attrcache::destroy);
  ASSERT_TRUE(keyval.set(a, std::make_unique<int>(1)));
  no_memory = true;
  const Outcome failed = kind.copy_all(a, b);
  EXPECT_EQ(failed.status, Status::callback);
  EXPECT_EQ(failed.callback_code, ATTRCACHE_ERR_MEMORY);
  EXPECT_EQ(keyval.get(b), nullptr);
  no_memory = false;
  EXPECT_TRUE(kind.copy_all(a, b));
  EXPECT_EQ(*keyval.get(b), 1);
  EXPECT_TRUE(kind.delete_all(a) && kind.delete_all(b));
}

}  // namespace
}  // namespace attrcache::support
