// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/fuzz/implementation.h"

namespace attrcache::fuzz {
namespace {

// Callbacks that set values whose callbacks set values: deep enough to find trouble, and finite.
constexpr int kMaxDepth = 5;

std::string name(Object object) {
  return std::to_string(object.kind) + "." + std::to_string(object.number);
}

// The part of a script that both callbacks share. The upper bits are the script of the values it
// sets, so scripts run out.
int act(Implementation& implementation, Object object, int keyval, uint8_t script) {
  if (implementation.depth >= kMaxDepth) return 0;
  ++implementation.depth;
  const uint8_t rest = script >> 3;
  const int keyvals = static_cast<int>(implementation.plans.size());
  int code = 0;
  int ignored = 0;
  switch (script & 7) {
    case 2:
      code = 7;
      break;
    case 3:
      implementation.del(object, keyval, &ignored);
      break;
    case 4:
      implementation.set(object, keyval, scripted_value(implementation, rest), ATTRCACHE_AS_POINTER,
                         &ignored);
      break;
    case 5:
      implementation.free_keyval(keyval);
      break;
    case 6:
      implementation.set(object, (keyval + 1) % keyvals, scripted_value(implementation, rest),
                         ATTRCACHE_AS_AINT, &ignored);
      break;
    case 7:
      if ((rest & 1) != 0) {
        implementation.delete_all(
            object, (rest & 2) != 0 ? ATTRCACHE_DRAIN : ATTRCACHE_STOP_AT_FAILURE, &ignored);
      } else {
        implementation.del({object.kind, (object.number + 1) % kObjects}, (keyval + rest) % keyvals,
                           &ignored);
      }
      break;
    default:
      break;
  }
  --implementation.depth;
  return code;
}

}  // namespace

ScriptedCopy script_copy(Implementation& implementation, Object object, int keyval, int64_t value) {
  implementation.log.push_back("copy " + name(object) + " " + std::to_string(keyval) + " " +
                               std::to_string(value));
  const int code = act(implementation, object, keyval, static_cast<uint8_t>(value));
  return {code, (value & 0x100) == 0,
          scripted_value(implementation, static_cast<uint8_t>(value >> 3))};
}

int script_delete(Implementation& implementation, Object object, int keyval, int64_t value) {
  implementation.log.push_back("delete " + name(object) + " " + std::to_string(keyval) + " " +
                               std::to_string(value));
  return act(implementation, object, keyval, static_cast<uint8_t>(value));
}

void script_destructor(Implementation& implementation, int keyval) {
  implementation.log.push_back("destructor " + std::to_string(keyval));
}

}  // namespace attrcache::fuzz
