// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/watching/watch.h"

#include <cstdio>
#include <cstdlib>

#include "callback/frame.h"
#include "keyval/id.h"
#include "mpi/objects/anchor.h"
#include "mpi/objects/process.h"
#include "mpi/recording/keyvals.h"
#include "mpi/watching/checked.h"
#include "platform/memory.h"

namespace attrcache::mpi {
namespace {

// Returns the kind that a predefined keyval belongs to, or kNoKind. Fortran's keyvals are C's plus
// an offset that depends on the MPI.
int kind_of_predefined(int keyval) {
  int found = kNoKind;
  for (const int offset : {0, facts::kFortranKeyvalOffset}) {
    for_each_kind([&](auto kind) {
      using Kind = decltype(kind);
      if (found == kNoKind && Kind::predefined_index(keyval - offset) < Kind::kPredefined)
        found = Kind::kNumber;
    });
  }
  return found;
}

// Whether MPI has sessions, since then calls without MPI_Init may be right. (It looks in MPI's
// libraries, because attrcache's own function of that name says nothing.)
bool has_sessions() { return find_symbol_in_libraries("PMPI_Session_init") != nullptr; }

// Whether this thread is in a delete callback. One may free its keyval, and may delete what another
// thread, or a callback further up the stack, is deleting already, without misuse.
bool in_delete_callback() {
  for (const Frame* f = this_thread().innermost; f != nullptr; f = f->outer) {
    if (f->use == Frame::Use::kDeleting) return true;
  }
  return false;
}

bool describe_keyval(int kind, int keyval, attrcache_keyval_info* info) {
  if (attrcache_keyval_describe(process()->kinds[kind], keyval, info) != ATTRCACHE_OK) return false;
  report::unwrap(info->callbacks);
  return true;
}

}  // namespace

void note_result(int result, Doing doing, int kind, int keyval) {
  Case c = {doing, kind, keyval, nullptr};
  switch (result) {
    case ATTRCACHE_ERR_KEYVAL_STALE:
      caught(doing == Doing::kFree ? Misuse::kFreedTwice : Misuse::kStaleKeyval, c);
      break;
    case ATTRCACHE_ERR_KEYVAL_UNKNOWN:
      caught(Misuse::kUnknownKeyval, c);
      break;
    case ATTRCACHE_ERR_KEYVAL_KIND: {
      char detail[32];
      const unsigned its = id::kind(id::of(keyval));
      if (its < unsigned{kAllKinds}) {
        std::snprintf(detail, sizeof detail, "a %s's", kKindNames[its].word);
        c.detail = detail;
      }
      caught(Misuse::kWrongKind, c);
      break;
    }
    default:
      break;
  }
}

void note_passed_on(Doing doing, int kind, int keyval) {
  const bool ended = over() || (!ending() && checking() && finalized());
  if (ended || (checking() && !initialized() && !has_sessions())) {
    caught(Misuse::kOutsideInitFinalize,
           {doing, kind, keyval, ended ? "it is over" : "it has not begun"});
    return;
  }
  if (doing == Doing::kCreate) return;
  if (keyval == MPI_KEYVAL_INVALID) {
    caught(Misuse::kInvalidKeyval,
           {doing, kind, keyval, doing == Doing::kFree ? "freed before, or never made" : nullptr});
    return;
  }
  if (ours(keyval)) {
    // There is no domain that could have made the keyval.
    caught(Misuse::kUnknownKeyval, {doing, kind, keyval, nullptr});
    return;
  }
  const int predefined = kind_of_predefined(keyval);
  if (predefined == kNoKind) return;
  if (predefined != kind) {
    caught(Misuse::kWrongKind, {doing, kind, keyval, "predefined for another kind"});
  } else if (doing != Doing::kGet) {
    caught(Misuse::kPredefined, {doing, kind, keyval, nullptr});
  }
}

void watch_thread(Doing doing, int kind, int keyval) {
  using Ask = int(int*);
  static Ask* const query = reinterpret_cast<Ask*>(find_symbol("PMPI_Query_thread"));
  static Ask* const is_main = reinterpret_cast<Ask*>(find_symbol("PMPI_Is_thread_main"));
  int level = MPI_THREAD_MULTIPLE;
  int main = 1;
  if (query == nullptr || is_main == nullptr || ending() || !initialized() || finalized()) return;
  if (query(&level) != MPI_SUCCESS || level >= MPI_THREAD_SERIALIZED) return;
  if (is_main(&main) != MPI_SUCCESS || main != 0) return;
  caught(Misuse::kWrongThread,
         {doing, kind, keyval,
          level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SINGLE"});
}

void watch_set(int kind, int keyval) {
  attrcache_keyval_info info;
  if (describe_keyval(kind, keyval, &info) && info.freed != 0) {
    caught(Misuse::kSetOnFreed, {Doing::kSet, kind, keyval, nullptr});
  }
}

void watch_delete(int kind, const attrcache_table* table, int keyval) {
  void* value;
  if (attrcache_get(process()->kinds[kind], table, keyval, &value) == ATTRCACHE_ABSENT &&
      !in_delete_callback()) {
    caught(Misuse::kDeleteAbsent, {Doing::kDelete, kind, keyval, nullptr});
  }
}

void watch_free(int kind, int keyval) {
  attrcache_keyval_info info;
  if (describe_keyval(kind, keyval, &info) && info.freed != 0 && !in_delete_callback()) {
    caught(Misuse::kFreedTwice, {Doing::kFree, kind, keyval, "attributes of it are left"});
  }
}

void watch_fint(const attrcache_kind* kind, const attrcache_table* table, int keyval,
                MPI_Fint value) {
  intptr_t all;
  if (attrcache_get_aint(kind, table, keyval, &all) == ATTRCACHE_OK && all != value &&
      static_cast<MPI_Fint>(all) == value) {
    caught(Misuse::kTruncated, {Doing::kUnknown, ATTRCACHE_COMMUNICATOR, keyval, nullptr});
  }
}

namespace {

// Counts the attributes on predefined objects. Nobody can free those, so leaving attributes on them
// is no misuse.
class OnPredefined {
 public:
  explicit OnPredefined(int kind) : kind_(kind) {
    if (kind >= kMpiKinds) return;  // there are none
    with_kind(kind, [this](auto k) {
      using Kind = decltype(k);
      objects<Kind>.for_each([this](uintptr_t handle, void* anchor) {
        // What MPI_Finalize has left on MPI_COMM_SELF is something that it failed to delete.
        const bool self = Kind::kNumber == kCommunicator && handle == facts::to_key(native().self);
        if (is_predefined<Kind>(handle) && !self) add(static_cast<Anchor*>(anchor)->table);
      });
    });
  }
  uint64_t count(int keyval) const {
    uint64_t n = 0;
    for (size_t i = 0; i < used_; ++i) n += keyvals_[i] == keyval;
    return n;
  }
  // Whether there are more than can be remembered. Nothing must be concluded then.
  bool overflown() const { return overflown_; }

 private:
  void add(const attrcache_table& table) {
    attrcache_attribute_info some[kMost];
    size_t count = 0;
    attrcache_attribute_list(process()->kinds[kind_], &table, some, kMost, &count);
    for (size_t i = 0; i < count; ++i) {
      if (i >= kMost || used_ == kMost) {
        overflown_ = true;
        return;
      }
      keyvals_[used_++] = some[i].keyval;
    }
  }

  static constexpr size_t kMost = 64;
  const int kind_;
  int keyvals_[kMost];
  size_t used_ = 0;
  bool overflown_ = false;
};

void note_left(int kind, const attrcache_keyval_info& info, uint64_t attributes) {
  const Place made = creation_place(info);
  if (info.freed == 0) {
    caught(Misuse::kKeyvalNotFreed,
           {Doing::kUnknown, kind, info.keyval, made.is_call ? "made there" : nullptr}, made);
  }
  if (attributes != 0) {
    char detail[64];
    std::snprintf(detail, sizeof detail, "%llu attribute%s%s",
                  static_cast<unsigned long long>(attributes), attributes == 1 ? "" : "s",
                  made.is_call ? " of the keyval made there" : "");
    caught(Misuse::kAttributesLeft, {Doing::kUnknown, kind, info.keyval, detail}, made);
  }
}

}  // namespace

void watch_end() {
  for (int kind = 0; kind < kAllKinds; ++kind) {
    const OnPredefined predefined(kind);
    attrcache_kind* of = process()->kinds[kind];
    size_t count = 0;
    attrcache_keyval_list(of, nullptr, 0, &count);
    const size_t capacity = count;
    auto* infos = static_cast<attrcache_keyval_info*>(
        kProcessMemory.allocate_zeroed((capacity + 1) * sizeof(attrcache_keyval_info)));
    if (infos == nullptr) return;
    attrcache_keyval_list(of, infos, capacity, &count);
    for (size_t i = 0; i < count && i < capacity; ++i) {
      report::unwrap(infos[i].callbacks);
      const attrcache_keyval_info& info = infos[i];
      const uint64_t unavoidable = predefined.count(info.keyval);
      const bool known = !predefined.overflown() && unavoidable <= info.attributes;
      note_left(kind, info, known ? info.attributes - unavoidable : 0);
    }
    kProcessMemory.release(infos);
  }
}

}  // namespace attrcache::mpi
