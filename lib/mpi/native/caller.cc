// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/caller.h"

#include <unwind.h>

namespace attrcache::mpi {
namespace {

struct Walk {
  Place found;
  Place outside;  // the first caller outside of attrcache, for when all others are MPI's
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* context, void* argument) {
  static const char here = 0;
  auto& walk = *static_cast<Walk*>(argument);
  const auto* address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (address == nullptr) return _URC_END_OF_STACK;
  if (same_library(address, &here)) return _URC_NO_REASON;
  if (walk.outside.address == nullptr) walk.outside = call_place(address);
  if (in_mpi_library(address)) return _URC_NO_REASON;
  walk.found = call_place(address);
  return _URC_END_OF_STACK;
}

}  // namespace

Origin origin_of(Place place) {
  return place.is_call ? origin_of_call(place.address) : origin_of_code(place.address);
}

Place find_caller() {
  Walk walk = {};
  _Unwind_Backtrace(look_at_frame, &walk);
  return walk.found.address != nullptr ? walk.found : walk.outside;
}

}  // namespace attrcache::mpi
