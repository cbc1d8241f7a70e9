// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A copy_fn that frees the new object, the old one, or both, and uses their memory again at once.
// The dup returns FREED, and touches nothing that was freed.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>

#include "tests/support/recorder.h"

namespace attrcache::support {
namespace {

// Memory for an object. When the object has ended, its bytes must not change. It belongs on the
// heap, because AddressSanitizer aligns variables on its own stacks to 32 bytes only.
class Place {
 public:
  explicit Place(attrcache_kind* kind) : kind_(kind), object_(new (bytes_) Object(kind)) {}
  ~Place() {
    if (object_ != nullptr) end();
    const std::string then(bytes_, bytes_ + sizeof(bytes_));
    EXPECT_EQ(then, std::string(sizeof(bytes_), kFreed)) << "freed memory was written";
  }
  Object* operator->() const { return object_; }
  Object& operator*() const { return *object_; }
  void end() {
    object_->~Object();
    object_ = nullptr;
    std::memset(bytes_, kFreed, sizeof(bytes_));
  }
  // A new object in the same place.
  void end_and_begin() {
    object_->~Object();
    object_ = new (bytes_) Object(kind_);
  }

 private:
  static constexpr char kFreed = 0x6e;
  alignas(64) char bytes_[sizeof(Object)];
  attrcache_kind* const kind_;
  Object* object_;
};

enum class Frees { kNew, kOld, kBoth };

class FreeWithinCopyTest
    : public ApiTest,
      public ::testing::WithParamInterface<std::tuple<Frees, int, int, bool, int>> {
 protected:
  static constexpr int kCount = 3;
};

TEST_P(FreeWithinCopyTest, IsBusy) {
  const auto [frees, at, first, reuse, answer] = GetParam();
  const std::vector<int> k = keyvals(first + kCount);
  const auto from_place = std::make_unique<Place>(kind);
  Place& from = *from_place;
  const auto to_place = std::make_unique<Place>(kind);
  Place& to = *to_place;
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(from->set(k[first + i], 1 + i), ATTRCACHE_OK);
  recorder.copy_adds = 10;
  const auto end = [&, first = first, reuse = reuse](Place& place) {
    if (!reuse) return place.end();
    place.end_and_begin();
    EXPECT_EQ(place->set(k[first], 100), ATTRCACHE_OK);
  };
  recorder.on_copy = [&, frees = frees, at = at, answer = answer](const Call& call, void** out,
                                                                  int* flag) {
    *out = reinterpret_cast<void*>(call.value + 10);
    *flag = 1;
    if (call.value != 1 + at) return 0;
    if (frees != Frees::kOld) end(to);
    if (frees != Frees::kNew) end(from);
    *flag = answer != 0;
    return answer > 1 ? answer : 0;
  };
  int code = -1;
  Object& old_object = *from;
  EXPECT_EQ(old_object.copy_to(*to, &code), ATTRCACHE_ERR_FREED);
  EXPECT_EQ(code, -1) << "only CALLBACK sets it";
  EXPECT_EQ(recorder.copies.size(), at + 1u) << "the dup has ended";
  recorder.on_copy = nullptr;
  std::vector<intptr_t> expected;
  for (int i = 0; i < at; ++i) expected.push_back(11 + i);
  if (frees == Frees::kOld && answer == 1)
    expected.push_back(11 + at);  // attached, and rolled back
  for (int i = 0; i < kCount && frees != Frees::kNew; ++i) expected.push_back(1 + i);
  std::vector<intptr_t> deleted = recorder.deleted();
  std::sort(deleted.begin(), deleted.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(deleted, expected);
  if (reuse && frees != Frees::kOld) {
    EXPECT_EQ(to->value(k[first]), 100);
  }
  if (reuse || frees == Frees::kNew) {
    EXPECT_EQ(from->value(k[first]), frees == Frees::kNew ? 1 : 100);
  }
}

std::string name_of(const ::testing::TestParamInfo<FreeWithinCopyTest::ParamType>& info) {
  const auto [frees, at, first, reuse, answer] = info.param;
  const char* const whose[] = {"New", "Old", "Both"};
  return std::string(whose[static_cast<int>(frees)]) + "At" + std::to_string(at) + "Of" +
         std::to_string(first) + (reuse ? "Reused" : "Gone") + "Says" + std::to_string(answer);
}

// Answers: 0 copies nothing, 1 copies, others fail.
INSTANTIATE_TEST_SUITE_P(All, FreeWithinCopyTest,
                         ::testing::Combine(::testing::Values(Frees::kNew, Frees::kOld,
                                                              Frees::kBoth),
                                            ::testing::Values(0, 1, 2), ::testing::Values(0, 2, 70),
                                            ::testing::Bool(), ::testing::Values(0, 1, 77)),
                         name_of);

// The first of two copies has a keyval that ends when the failed dup is rolled back. Its destructor
// frees the new object, or both.
TEST(FreeWithinCopy, ByADestructorInTheRollBack) {
  for (const bool both : {false, true}) {
    Recorder dies, fails;
    Universe universe;
    attrcache_kind* const kind = universe.kind();
    attrcache_callbacks duplicated = dies.callbacks();
    duplicated.copy_fn = ATTRCACHE_DUP_FN;
    duplicated.delete_fn = ATTRCACHE_NULL_DELETE_FN;
    const int dying = Recorder::make(kind, duplicated);
    const int failing = fails.keyval(kind);
    auto from = std::make_unique<Object>(kind);
    auto to = std::make_unique<Object>(kind);
    ASSERT_EQ(from->set(dying, 1), ATTRCACHE_OK);
    ASSERT_EQ(from->set(failing, 2), ATTRCACHE_OK);
    fails.on_copy = [&](const Call&, void**, int*) {
      EXPECT_EQ(from->erase(dying), ATTRCACHE_OK);
      EXPECT_EQ(free_keyval(kind, dying), ATTRCACHE_OK);
      EXPECT_EQ(dies.destructions, 0) << "the copy keeps it";
      return 77;
    };
    dies.on_destroy = [&] {
      to.reset();
      if (both) from.reset();
    };
    int code = 0;
    Object& old_object = *from;
    const int result = old_object.copy_to(*to, &code);
    EXPECT_EQ(result, ATTRCACHE_ERR_CALLBACK) << "the dup had failed before";
    EXPECT_EQ(code, 77);
    EXPECT_EQ(dies.destructions, 1);
    EXPECT_EQ(to, nullptr);
  }
}

}  // namespace
}  // namespace attrcache::support
