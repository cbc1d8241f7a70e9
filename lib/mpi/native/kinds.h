// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The kinds of MPI objects that have attributes, from their rows in kinds.def, as types that the
// interposer's templates take as an argument.

#ifndef ATTRCACHE_MPI_NATIVE_KINDS_H_
#define ATTRCACHE_MPI_NATIVE_KINDS_H_

#include <cstdlib>

#include "keyval/id.h"
#include "mpi/native/facts.h"
#include "platform/atomic.h"

namespace attrcache::mpi {

enum KindNumber {
#define ATTRCACHE_KIND(kind, ...) k##kind,
#include "mpi/native/kinds.def"
  kMpiKinds,
  // Kinds without attributes in MPI (serving/unanchored.h).
  kSession = kMpiKinds,
  kFile,
  kAllKinds
};
static_assert(kCommunicator == int{ATTRCACHE_COMMUNICATOR} &&
              kDatatype == int{ATTRCACHE_DATATYPE} && kWindow == int{ATTRCACHE_WINDOW});

// The names of a kind.
struct KindNames {
  const char* word;  // as people call such an object
  const char* c;     // in the names of its functions: MPI_Comm_set_attr
};
inline constexpr KindNames kKindNames[] = {
#define ATTRCACHE_KIND(kind, word, Comm, ...) {#word, #Comm},
#include "mpi/native/kinds.def"
    {"session", "Session"},
    {"file", "File"},
};
static_assert(sizeof kKindNames / sizeof *kKindNames == kAllKinds);

// `kPredefined` is how many predefined keyvals the kind has, and predefined_index() the index of
// one among them. For any other keyval the index is at least kPredefined.
#define ATTRCACHE_KIND(kind, word, Comm, comm, COMM, Type, null, NULL_, has_handler)            \
  struct kind {                                                                                 \
    using Handle = MPI_##Type;                                                                  \
    using CopyFn = MPI_##Comm##_copy_attr_function;                                             \
    using DeleteFn = MPI_##Comm##_delete_attr_function;                                         \
    static constexpr int kNumber = k##kind;                                                     \
    static constexpr bool kHasErrorHandler = has_handler;                                       \
    static constexpr unsigned kPredefined = facts::kPredefined##Comm;                           \
    static unsigned predefined_index(int keyval) { return facts::comm##_keyval_index(keyval); } \
  };
#include "mpi/native/kinds.def"

// These kinds. The others are in serving/unanchored.h.
template <typename Kind>
concept Anchored = Kind::kNumber < kMpiKinds;

// Calls visit(Kind{}) for each kind.
template <typename Visit>
void for_each_kind(Visit visit) {
#define ATTRCACHE_KIND(kind, ...) visit(kind{});
#include "mpi/native/kinds.def"
}

// The attribute functions and the callback constants come in families, one for each kind, and after
// these one for MPI-1.
inline constexpr int kMpi1Family = kMpiKinds;
inline constexpr int kFamilies = kMpiKinds + 1;

// Calls visit(Kind{}) for the kind with this number, and returns what that returns. A number that
// is no kind ends the process.
template <typename Visit>
auto with_kind(int number, Visit visit) {
  switch (number) {
#define ATTRCACHE_KIND(kind, ...) \
  case k##kind:                   \
    return visit(kind{});
#include "mpi/native/kinds.def"
    default:
      std::abort();
  }
}

// The standard ABI leaves open which ints an MPI hands out as keyvals. Attrcache's are those from
// ATTRCACHE_KEYVAL_MIN on, XOR this, so that they are others: begin_first() compares. Relaxed:
// it is stored before there is any keyval of attrcache's.
[[gnu::visibility("hidden")]] extern constinit Atomic<uint32_t> keyval_mask;

// A keyval as the core has it inside.
inline id::Keyval inner(int keyval) {
  const auto bits = static_cast<uint32_t>(keyval);
  return id::Keyval{facts::kStandardAbi ? bits ^ keyval_mask.load(kRelaxed) : bits};
}

// Whether attrcache handed this keyval out. MPI's own keyvals are outside the range, so one
// comparison is enough.
inline bool ours(int keyval) {
  return id::bits(inner(keyval)) - ATTRCACHE_KEYVAL_MIN <=
         static_cast<unsigned>(ATTRCACHE_KEYVAL_MAX - ATTRCACHE_KEYVAL_MIN);
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_KINDS_H_
