// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/stack_place.h"

#include <unwind.h>

#include <cstdint>

namespace attrcache::mpi {
namespace {

struct Search {
  uintptr_t address;
  uintptr_t function;  // that must have the frame in which the address is
  uintptr_t inner;     // the function of the last frame
  bool passed;
  bool found;
};

// A frame reaches from what _Unwind_GetCFA says of it to what it says of the next one.
_Unwind_Reason_Code search_frame(_Unwind_Context* context, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  if (_Unwind_GetCFA(context) > search.address) {
    search.passed = true;
    search.found = search.inner == search.function;
    return _URC_END_OF_STACK;
  }
  search.inner = _Unwind_GetRegionStart(context);
  return _URC_NO_REASON;
}

}  // namespace

bool StackPlace::lives() const {
  if (address == nullptr) return false;
  auto* const call = const_cast<char*>(static_cast<const char*>(code)) - 1;
  Search search = {reinterpret_cast<uintptr_t>(address),
                   reinterpret_cast<uintptr_t>(_Unwind_FindEnclosingFunction(call)), 0, false,
                   false};
  _Unwind_Backtrace(search_frame, &search);
  return search.found || !search.passed;
}

NestedCall::NestedCall(StackPlace& outermost) : outermost_(outermost) {
  if (outermost.address <= this || !outermost.lives())
    outermost = {this, __builtin_return_address(0)};
}

NestedCall::~NestedCall() {
  if (is_outermost()) outermost_ = {};
}

}  // namespace attrcache::mpi
