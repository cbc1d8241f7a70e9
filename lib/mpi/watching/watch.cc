// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/watching/watch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "callback/frame.h"
#include "keyval/registry.h"
#include "mpi/objects/anchor.h"
#include "mpi/objects/process.h"
#include "mpi/recording/keyvals.h"
#include "mpi/recording/living.h"

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
  return attrcache_keyval_describe(process()->kinds[kind], keyval, info, nullptr) == ATTRCACHE_OK;
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

void note_exhausted(int kind) {
  static constinit Atomic<bool> told{false};
  if (verbose() && !told.exchange(true, kRelaxed)) {
    std::fprintf(stderr, "attrcache[%d]: all %u keyvals of %ss are alive; MPI makes further ones\n",
                 getpid(), unsigned{Registry::kCapacity}, kKindNames[kind].word);
  }
  caught(Misuse::kKeyvalsExhausted, {Doing::kCreate, kind, kNoKeyval, nullptr});
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

void watch_set(Doing doing, int kind, int keyval) {
  watch_thread(doing, kind, keyval);
  attrcache_keyval_info info;
  if (describe_keyval(kind, keyval, &info) && info.freed != 0)
    caught(Misuse::kSetOnFreed, {doing, kind, keyval, nullptr});
}

void watch_delete(int kind, const attrcache_table* table, int keyval) {
  watch_thread(Doing::kDelete, kind, keyval);
  void* value;
  if (attrcache_get(process()->kinds[kind], table, keyval, &value) == ATTRCACHE_ABSENT &&
      !in_delete_callback()) {
    caught(Misuse::kDeleteAbsent, {Doing::kDelete, kind, keyval, nullptr});
  }
}

void watch_free(int kind, int keyval) {
  attrcache_keyval_info info;
  if (describe_keyval(kind, keyval, &info) && info.freed != 0 && !in_delete_callback())
    caught(Misuse::kFreedTwice, {Doing::kFree, kind, keyval, "attributes of it are left"});
}

void watch_absent(MPI_Comm comm, int keyval) {
  void* value;
  int there = 0;
  const Native& n = native();
  if (comm == n.world || comm == n.null_comm || ending() || !initialized() || finalized()) return;
  if (n.comm.get_attr(n.world, keyval, &value, &there) != MPI_SUCCESS || there == 0) return;
  caught(Misuse::kNotOnThis,
         {Doing::kGet, kCommunicator, keyval, keyval == MPI_TAG_UB ? "MPI_TAG_UB" : nullptr});
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

// How many attributes predefined objects have, by keyval. No program can free those objects, so
// leaving attributes on them is no misuse.
std::map<int, uint64_t> on_predefined(int kind) {
  std::map<int, uint64_t> counts;
  if (kind >= kMpiKinds) return counts;
  with_kind(kind, [&](auto k) {
    using Kind = decltype(k);
    objects<Kind>.for_each([&](uintptr_t handle, void* anchor) {
      // What MPI_Finalize has left on MPI_COMM_SELF is something that it failed to delete.
      const bool self = Kind::kNumber == kCommunicator && handle == facts::to_key(native().self);
      if (!is_predefined<Kind>(handle) || self) return;
      for (const attrcache_attribute_info& a : report::attributes(kind, anchor)) ++counts[a.keyval];
    });
  });
  return counts;
}

void note_left(int kind, const attrcache_keyval_info& info, uint64_t attributes) {
  Place made = report::made_at(kind, info.keyval);
  const bool known = made.address != nullptr;
  made.is_call = known;  // else it would be this one's caller
  if (info.freed == 0) {
    caught(Misuse::kKeyvalNotFreed,
           {Doing::kUnknown, kind, info.keyval, known ? "made there" : nullptr}, made);
  }
  if (attributes != 0) {
    char detail[64];
    std::snprintf(detail, sizeof detail, "%llu attribute%s%s",
                  static_cast<unsigned long long>(attributes), attributes == 1 ? "" : "s",
                  known ? " of the keyval made there" : "");
    caught(Misuse::kAttributesLeft, {Doing::kUnknown, kind, info.keyval, detail}, made);
  }
}

}  // namespace

void watch_end() {
  for (int kind = 0; kind < kAllKinds; ++kind) {
    std::map<int, uint64_t> unavoidable = on_predefined(kind);
    attrcache_kind* of = process()->kinds[kind];
    size_t count = 0;
    attrcache_keyval_list(of, nullptr, 0, &count);
    std::vector<attrcache_keyval_info> infos(count + 1);
    attrcache_keyval_list(of, infos.data(), infos.size(), &count);
    infos.resize(std::min(count, infos.size()));
    for (const attrcache_keyval_info& info : infos) {
      const uint64_t left = std::min(unavoidable[info.keyval], info.attributes);
      note_left(kind, info, info.attributes - left);
    }
  }
}

}  // namespace attrcache::mpi
