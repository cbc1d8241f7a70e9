// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "tests/fuzz/implementation.h"
#ifdef ATTRCACHE_MODEL
#include "tests/model/explorer/explore.h"
#endif

namespace attrcache::fuzz {
namespace {

// ---- What callbacks do ----

// Callbacks set values whose callbacks set values: deep enough to find bugs, and finite.
constexpr int kMaxDepth = 5;

void note(Implementation& implementation, const char* callback, Object object, int keyval,
          int64_t value) {
  std::ostringstream line;
  line << callback << ' ' << object.kind << '.' << object.number << ' ' << keyval << ' ' << value;
  implementation.log.push_back(line.str());
}

// The part of a script that copy_fn and delete_fn share. Its upper bits are the script of the
// values that it sets, so every script ends.
int act(Implementation& implementation, Object object, int keyval, uint8_t script) {
  if (implementation.depth >= kMaxDepth) return 0;
  ++implementation.depth;
  const uint8_t rest = script >> 3;
  const int next_keyval = (keyval + 1) % static_cast<int>(implementation.plans.size());
  const Object next = {object.kind, (object.number + 1) % kObjects};
  const auto mode = static_cast<attrcache_delete_mode>(rest >> 2 & 3);
  int failed = 0;
  int result = 0;
  int code = 0;
  switch (script & 7) {
    case 1:
      switch (rest & 3) {
        case 0:
          result = implementation.touch(object, keyval);
          break;
        case 1:
          result = implementation.copy_all(object, next, &code);
          break;
        case 2:
          result = implementation.copy_all(next, object, &code);
          break;
        default:
          result = implementation.get(object, next_keyval, false).result;
          implementation.log.push_back("listed " +
                                       std::to_string(implementation.list(object).size()));
      }
      break;
    case 2:
      failed = 7 + keyval;
      break;
    case 3:
      result = implementation.del(object, keyval, &code);
      break;
    case 4:
      result = implementation.set(object, keyval, scripted_value(implementation, rest),
                                  ATTRCACHE_AS_POINTER, &code);
      break;
    case 5:
      result = implementation.free_keyval(keyval);
      break;
    case 6:
      result = implementation.set(object, next_keyval, scripted_value(implementation, rest),
                                  ATTRCACHE_AS_AINT, &code);
      break;
    case 7:
      if ((rest & 1) != 0) {
        result = implementation.delete_all((rest & 2) != 0 ? object : next, mode, &code);
      } else {
        result = implementation.del(next, next_keyval, &code);
      }
      break;
    default:
      break;
  }
  implementation.log.push_back("gave " + std::to_string(result) + ' ' + std::to_string(code));
  --implementation.depth;
  return failed;
}

}  // namespace

ScriptedCopy script_copy(Implementation& implementation, Object object, int keyval, int64_t value) {
  note(implementation, "copy", object, keyval, value);
  const int code = act(implementation, object, keyval, static_cast<uint8_t>(value));
  return {code, (value & 0x100) == 0,
          scripted_value(implementation, static_cast<uint8_t>(value >> 3))};
}

int script_delete(Implementation& implementation, Object object, int keyval, int64_t value) {
  note(implementation, "delete", object, keyval, value);
  return act(implementation, object, keyval, static_cast<uint8_t>(value));
}

void script_destructor(Implementation& implementation, int keyval) {
  const KeyvalPlan& plan = implementation.plans[keyval];
  const Object object = {plan.kind, keyval % kObjects};
  int ignored = 0;
  implementation.log.push_back("destructor " + std::to_string(keyval) + " beside " +
                               std::to_string(implementation.list(object).size()));
  if (plan.frees) implementation.delete_all(object, ATTRCACHE_DRAIN, &ignored);
}

namespace {

// ---- The input ----

struct Outcome {
  int result = 0;
  int code = 0;
  int64_t value = 0;
  std::vector<int64_t> list;
  bool operator==(const Outcome&) const = default;
};

// One operation, applied to either implementation: five bytes of the input, or zeroes at its end.
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
    plan.copy = static_cast<Copy>(op.c % 3);
    plan.deletes = op.c / 3 % 2 != 0;
    plan.destructor = (op.d & 1) != 0;
    plan.once = (op.d & 4) != 0;
    plan.frees = (op.d & 8) != 0;
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
      out.result = implementation.delete_all(object, static_cast<attrcache_delete_mode>(op.c % 4),
                                             &out.code);
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
    case 14: {
      const Reading reading =
          implementation.set_if_absent(object, keyval, scripted_value(implementation, op.c));
      out.result = reading.result;
      out.value = reading.value;
      break;
    }
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

// Runs `size` bytes of operations on both implementations, and aborts with a message where they
// differ.
void play(const uint8_t* data, size_t size) {
  const std::unique_ptr<Implementation> library = make_library();
  const std::unique_ptr<Implementation> reference = make_reference();
  bool borrowed = false;
  bool reference_borrowed = false;
  int step = 0;
  const auto same_on_both = [&](const Operation& op) {
    library->log.clear();
    reference->log.clear();
    const Outcome got = apply(*library, op, borrowed);
    const Outcome expected = apply(*reference, op, reference_borrowed);
    ++step;
    require(library->log == reference->log, "the order of callbacks", step, *library, *reference);
    require(got == expected, "the outcome", step, *library, *reference);
  };
  while (size != 0) {
    const size_t bytes = std::min(size, sizeof(Operation));
    Operation op = {};
    std::memcpy(&op, data, bytes);
    data += bytes;
    size -= bytes;
    same_on_both(op);
  }
  if (borrowed) same_on_both({13, 0, 0, 0, 0});
  for (uint8_t object = 0; object < kKinds * kObjects; ++object) {
    same_on_both({15, object, 0, 0, 0});
  }
  // At the end nothing is left: what callbacks attach without end is abandoned.
  for (int round = 0; round == 0 || (round < 8 && library->attributes() != 0); ++round) {
    const auto mode = static_cast<uint8_t>(round == 0 ? ATTRCACHE_DRAIN : kAbandon);
    for (uint8_t object = 0; object < kKinds * kObjects; ++object) {
      same_on_both({12, object, 0, mode, 0});
    }
  }
  require(library->attributes() == 0, "what is left at the end", step, *library, *reference);
}

}  // namespace
}  // namespace attrcache::fuzz

// libFuzzer's entry point.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attrcache;
#ifdef ATTRCACHE_MODEL  // in tests/model/mutate.py
  if (!model::explore({}, [=] { fuzz::play(data, size); }).ok()) std::abort();
#else
  fuzz::play(data, size);
#endif
  return 0;
}
