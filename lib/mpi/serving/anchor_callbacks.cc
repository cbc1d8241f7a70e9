// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/serving/anchor_callbacks.h"

#include <cstdlib>
#include <new>

#include "mpi/native/errors.h"
#include "mpi/native/exceptions.h"
#include "mpi/native/native.h"
#include "mpi/objects/process.h"
#include "mpi/recording/living.h"
#include "mpi/recording/trace.h"
#include "mpi/serving/freeing.h"
#include "mpi/watching/misuse.h"
#include "platform/wait.h"

namespace attrcache::mpi {
namespace {

size_t attribute_count(attrcache_kind* kind, const Anchor& anchor) {
  size_t n = 0;
  attrcache_attribute_list(kind, &anchor.table, nullptr, 0, &n);
  return n;
}

// MPI's copy callback for anchors: MPI is duplicating the object. MPI doesn't say yet what handle
// the copy has. So if a copy_fn fails, the delete_fn of each attribute that was copied before it
// gets the null handle.
template <typename Kind>
int copy_anchor(typename Kind::Handle old, void* value, void* copy, int* flag) {
  auto* from = static_cast<Anchor*>(value);
  *flag = 0;
  if (from == nullptr) return MPI_SUCCESS;  // attach() had no memory for it
  const report::Operation operation(report::What::kDup, Kind::kNumber, ATTRCACHE_KEYVAL_INVALID);
  attrcache_kind* kind = kind_of<Kind>();
  if (attribute_count(kind, *from) == 0) return MPI_SUCCESS;
  // The callbacks must find the object that they are called for.
  remember<Kind>(facts::to_key(old), from);
  Anchor* to = new_anchor();
  if (to == nullptr) return MPI_ERR_NO_MEM;
  int code = 0;
  const int result = attrcache_copy_all(kind, &from->table, facts::to_object(old), &to->table,
                                        facts::to_object(native().null<Kind>()), &code);
  if (result != ATTRCACHE_OK || attribute_count(kind, *to) == 0) {
    // Nothing is attached to the copy, but its table may have allocated slots for what the copy_fns
    // might have returned.
    attrcache_delete_all(kind, &to->table, facts::to_object(native().null<Kind>()), ATTRCACHE_DRAIN,
                         nullptr);
    delete_anchor(to);
    return result == ATTRCACHE_OK ? MPI_SUCCESS : error_code(result, code);
  }
  count(counts.objects);
  report::duplicated(Kind::kNumber, facts::to_object(old), to);
  *static_cast<void**>(copy) = to;
  *flag = 1;
  return MPI_SUCCESS;
}

// The same, and an exception of a copy_fn goes on through MPI.
template <typename Kind>
int copy_anchor_of(typename Kind::Handle old, int, void*, void* value, void* copy, int* flag) {
  const unsigned before = exceptions_kept();
  const int code = copy_anchor<Kind>(old, value, copy, flag);
  if (code != MPI_SUCCESS && exceptions_kept() != before) let_exception_go_on();
  return code;
}

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

struct Freed {
  int code;     // what to tell MPI: MPI_SUCCESS or a callback's code
  bool kept;    // the object is not freed, and attributes are still attached
  bool leaked;  // the object is freed, but something is still attached, so its table must be kept
};

// Deletes all attributes of an object that MPI is freeing. When a delete callback fails, it does
// what the MPI underneath would do (FreeMode, behaviour.h).
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

// For code_at_finalize(): the codes of MPI_COMM_WORLD and MPI_COMM_SELF. They need not be atomic,
// because only MPI_Finalize deletes these attributes, in one thread.
constinit int finalize_codes[2] = {MPI_SUCCESS, MPI_SUCCESS};

// The code that the anchor's delete callback returns to MPI after the program's callbacks gave
// `code`.
template <typename Kind>
int to_tell(typename Kind::Handle handle, int code) {
  if (Kind::kNumber != kCommunicator || !is_predefined<Kind>(facts::to_key(handle))) return code;
  const bool self = facts::to_key(handle) == facts::to_key(native().self);
  // Such an MPI stops at a failure, so it would never get to the attributes by which we notice the
  // end.
  if (behaviour().finalize_forgets) return MPI_SUCCESS;
  finalize_codes[self] = code;
  return code;
}

// The object is being freed. If a delete_fn throws (`thrown` counts on), MPI's function doesn't get
// to its end, and the object, with its anchor, stays MPI's.
template <typename Kind>
int free_anchor(typename Kind::Handle handle, Anchor* anchor, unsigned thrown) {
  const uintptr_t key = facts::to_key(handle);
  // The callbacks must find the object even if it was never used under this handle.
  remember<Kind>(key, anchor);
  const report::Operation operation(report::What::kFree, Kind::kNumber, ATTRCACHE_KEYVAL_INVALID);
  report::ends(Kind::kNumber, anchor);
  if (begins_callbacks_again(Kind::kNumber, key))
    caught(Misuse::kFreedInItsDelete, {Doing::kUnknown, Kind::kNumber});
  Freed freed = free_attributes(kind_of<Kind>(), &anchor->table, facts::to_object(handle),
                                behaviour().free_modes[Kind::kNumber]);
  if (exceptions_kept() != thrown) freed.kept = true;
  if (freed.kept) report::known_as(Kind::kNumber, anchor, facts::to_object(handle));
  // If the map doesn't have the anchor any more, a callback has freed the object, and the anchor
  // with it.
  if (!freed.kept && (objects<Kind>.find(key) == anchor || is_threadcomm<Kind>(key))) {
    objects<Kind>.erase(key);
    if (Freeing* const freeing = find_freeing(Kind::kNumber, key)) freeing->anchor_deleted = true;
    report::ended(anchor);
    if (!freed.leaked) delete_anchor(anchor);
  }
  return to_tell<Kind>(handle, freed.code);
}

// MPI's delete callback for anchors. Either the object is being freed, or an error is to be raised
// on it (Refusal, errors.h), and the object goes on.
template <typename Kind>
int delete_anchor_of(typename Kind::Handle handle, int, void* value, void*) {
  int code;
  if (Refusal::asked(Kind::kNumber, facts::to_object(handle), &code)) [[unlikely]]
    return code;
  if (value == nullptr) return MPI_SUCCESS;  // attach() had no memory for it
  const unsigned before = exceptions_kept();
  code = free_anchor<Kind>(handle, static_cast<Anchor*>(value), before);
  if (exceptions_kept() != before) let_exception_go_on();
  return code;
}

}  // namespace

Anchor* new_anchor() {
  void* memory;  // programs that bring an allocator rarely have aligned_alloc
  if (posix_memalign(&memory, alignof(Anchor), sizeof(Anchor)) != 0) return nullptr;
  // The parentheses zero the anchor. Without them the compiler may treat what the memory held
  // before as lost, even if it was zeroed.
  return new (memory) Anchor();
}

void delete_anchor(Anchor* anchor) { std::free(anchor); }

template <typename Kind>
void delete_late_anchor(typename Kind::Handle handle, Anchor* anchor) {
  const unsigned before = exceptions_kept();
  {
    const report::Operation operation(report::What::kFree, Kind::kNumber, ATTRCACHE_KEYVAL_INVALID);
    report::ends(Kind::kNumber, anchor);
    // MPI's free has ended already, with its code.
    const Freed freed = free_attributes(kind_of<Kind>(), &anchor->table, facts::to_object(handle),
                                        FreeMode::kDrain);
    report::ended(anchor);
    if (!freed.leaked) delete_anchor(anchor);
  }
  if (exceptions_kept() != before) let_exception_go_on();
}

template <typename Kind>
int create_anchor_keyval(int* keyval) {
  return native().of<Kind>().create_keyval(copy_anchor_of<Kind>, delete_anchor_of<Kind>, keyval,
                                           nullptr);
}

#define ATTRCACHE_KIND(kind, ...)                                \
  template void delete_late_anchor<kind>(kind::Handle, Anchor*); \
  template int create_anchor_keyval<kind>(int*);
#include "mpi/native/kinds.def"

int code_at_finalize(MPI_Comm comm) { return finalize_codes[comm == native().self]; }

void forget_all_objects() {
  for_each_kind([](auto kind) { objects<decltype(kind)>.clear(); });
}

}  // namespace attrcache::mpi
