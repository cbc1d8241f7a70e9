// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/implementation.h"

namespace attrcache::fuzz {
namespace {

// The input, taken byte by byte; zeroes when it is at its end.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), end_(data + size) {}
  bool empty() const { return data_ == end_; }
  uint8_t byte() { return data_ != end_ ? *data_++ : 0; }
  int below(int bound) { return byte() % bound; }

 private:
  const uint8_t* data_;
  const uint8_t* end_;
};

struct Outcome {
  int result = 0;
  int code = 0;
  int64_t value = 0;
  std::vector<int64_t> list;
  bool operator==(const Outcome&) const = default;
};

// One operation, decoded; applied to either implementation.
struct Operation {
  uint8_t what;
  uint8_t a, b, c, d;
};

Outcome apply(Implementation& implementation, const Operation& op, bool& borrowed) {
  Outcome out;
  const int count = static_cast<int>(implementation.plans.size());
  const Object object = {op.a % kKinds, op.a / kKinds % kObjects};
  if (op.what % 16 < 3 && count < kKeyvals) {
    KeyvalPlan plan = {};
    plan.kind = op.a % kKinds;
    plan.language = static_cast<attrcache_language>(op.b % 3);
    plan.copy = static_cast<Copy>(op.c % 3);
    plan.del = static_cast<Delete>(op.c / 3 % 2);
    plan.destructor = (op.d & 1) != 0;
    plan.once = (op.d & 4) != 0;
    out.result = implementation.create(plan);
    return out;
  }
  if (count == 0) return out;
  // Mostly a keyval of the object's kind, sometimes any.
  int keyval = op.b % count;
  for (int i = 0;
       i < count && (op.b & 0x80) == 0 && implementation.plans[keyval].kind != object.kind; ++i) {
    keyval = (keyval + 1) % count;
  }
  switch (op.what % 16) {
    case 3:
      out.result = implementation.free_keyval(keyval);
      break;
    case 4:
    case 5:
    case 6:
    case 7:
      out.result = implementation.set(object, keyval, scripted_value(implementation, op.c),
                                      static_cast<attrcache_tag>(op.d % 4), &out.code);
      break;
    case 8: {
      const Reading reading = implementation.get(object, keyval, (op.c & 1) != 0);
      out.result = reading.result;
      out.value = reading.value;
      break;
    }
    case 9:
    case 10:
      out.result = implementation.del(object, keyval, &out.code);
      break;
    case 11:
      out.result = implementation.copy_all(object, {object.kind, op.c % kObjects}, &out.code);
      break;
    case 12:
      out.result = implementation.delete_all(
          object, (op.c & 1) != 0 ? ATTRCACHE_DRAIN : ATTRCACHE_STOP_AT_FAILURE, &out.code);
      break;
    case 13:
      if (borrowed) {
        out.result = implementation.give_back();
        borrowed = false;
      } else {
        out.result = implementation.borrow(object, keyval);
        borrowed = out.result == ATTRCACHE_OK;
      }
      break;
    default:
      out.list = implementation.list(object);
      out.value = static_cast<int64_t>(implementation.attributes());
      break;
  }
  return out;
}

void require(bool same, const char* what, int step, Implementation& library,
             Implementation& reference) {
  if (same) return;
  std::fprintf(stderr, "step %d: %s differs\n", step, what);
  for (size_t i = 0; i < library.log.size() || i < reference.log.size(); ++i) {
    const std::string r = i < library.log.size() ? library.log[i] : "-";
    const std::string e = i < reference.log.size() ? reference.log[i] : "-";
    std::fprintf(stderr, "%s %-32s expected %s\n", r == e ? " " : "*", r.c_str(), e.c_str());
  }
  std::abort();
}

}  // namespace

void play(const uint8_t* data, size_t size) {
  const std::unique_ptr<Implementation> library = make_library();
  const std::unique_ptr<Implementation> reference = make_reference();
  Input input(data, size);
  bool borrowed = false;
  bool reference_borrowed = false;
  int step = 0;
  const auto same_on_both = [&](const Operation& op) {
    library->log.clear();
    reference->log.clear();
    const Outcome got = apply(*library, op, borrowed);
    const Outcome expected = apply(*reference, op, reference_borrowed);
    ++step;
    if (std::getenv("FUZZ_TRACE") != nullptr) {
      std::fprintf(stderr, "%d: operation %d on %d.%d (%d %d %d): %d (%d), expected %d (%d)\n",
                   step, op.what % 16, op.a % kKinds, op.a / kKinds % kObjects, op.b, op.c, op.d,
                   got.result, got.code, expected.result, expected.code);
      for (const std::string& line : library->log) std::fprintf(stderr, "    %s\n", line.c_str());
    }
    require(library->log == reference->log, "the order of callbacks", step, *library, *reference);
    require(got == expected, "the outcome", step, *library, *reference);
  };
  while (!input.empty()) {
    const uint8_t what = input.byte();
    const uint8_t a = input.byte();
    const uint8_t b = input.byte();
    const uint8_t c = input.byte();
    same_on_both({what, a, b, c, input.byte()});
  }
  if (borrowed) same_on_both({13, 0, 0, 0, 0});
  for (uint8_t object = 0; object < kKinds * kObjects; ++object) {
    same_on_both({15, object, 0, 0, 0});
  }
  // In the end nothing is left: callbacks that attach on other objects run out of script.
  for (int round = 0; round == 0 || (round < 8 && library->attributes() != 0); ++round) {
    for (uint8_t object = 0; object < kKinds * kObjects; ++object) {
      same_on_both({12, object, 0, 1, 0});
    }
  }
  require(library->attributes() == 0, "what is left in the end", step, *library, *reference);
}

}  // namespace attrcache::fuzz
