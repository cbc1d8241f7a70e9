// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/serving/free.h"

#include "mpi/native/errors.h"
#include "mpi/native/kinds.h"
#include "platform/wait.h"

namespace attrcache::mpi {
namespace {

// What a free has returned so far. A callback's failure counts even if it came in an earlier one of
// the calls that a free takes.
struct Outcome {
  FreeMode mode;
  int code = 0;
};

void note(void* context, int, int code) {
  Outcome& outcome = *static_cast<Outcome*>(context);
  if (code != 0) code = error_code(ATTRCACHE_ERR_CALLBACK, code);
  if (code != 0 || outcome.mode == FreeMode::kLastCode) outcome.code = code;
}

}  // namespace

Freed free_attributes(attrcache_kind* kind, attrcache_table* table, void* object, FreeMode mode) {
  const bool stops = mode == FreeMode::kStop;
  const attrcache_delete_mode how = stops ? ATTRCACHE_STOP_AT_FAILURE : ATTRCACHE_DRAIN;
  Outcome outcome = {mode};
  int result;
  // Until no other thread is in the middle of deleting one of the attributes.
  for (Backoff backoff;; backoff.relax()) {
    // Most often there is no callback to run; then attrcache_delete_all is faster.
    result = mode == FreeMode::kDrain || mode == FreeMode::kStop
                 ? attrcache_delete_all(kind, table, object, how, &outcome.code)
                 : attrcache_delete_each(kind, table, object, how, note, &outcome);
    if (result != ATTRCACHE_ERR_BUSY) break;
  }
  const bool failed = result != ATTRCACHE_OK && result != ATTRCACHE_ERR_CALLBACK;
  switch (mode) {
    case FreeMode::kStop:
      if (result == ATTRCACHE_OK) return {0, false, false};
      if (result == ATTRCACHE_ERR_REATTACHED) return {0, false, true};  // stays, as natively
      return {error_code(result, outcome.code), true, false};
    case FreeMode::kDrain:
      return {0, false, failed};
    default:
      if (outcome.code == 0 && failed && result != ATTRCACHE_ERR_REATTACHED)
        outcome.code = error_code(result, 0);
      return {outcome.code, false, failed};
  }
}

}  // namespace attrcache::mpi
