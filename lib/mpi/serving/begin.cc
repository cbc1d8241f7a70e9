// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/serving/begin.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>

#include "mpi/native/exceptions.h"
#include "mpi/native/native.h"
#include "mpi/objects/anchor.h"
#include "mpi/objects/tsan.h"
#include "mpi/report/hello.h"
#include "mpi/report/life.h"
#include "mpi/serving/anchor_callbacks.h"
#include "mpi/serving/lifetime.h"
#include "mpi/serving/touch.h"
#include "mpi/serving/unanchored.h"
#include "mpi/watching/misuse.h"
#include "mpi/watching/watch.h"
#include "platform/memory.h"

namespace attrcache::mpi {

namespace {

constinit Atomic<bool> watching{false};

template <typename Kind>
int fortran_handle(void* object) {
  return native().of<Kind>().to_fortran(facts::from_object<typename Kind::Handle>(object));
}

template <typename Kind>
attrcache_kind_options options() {
  attrcache_kind_options o = {};
  o.name = kKindNames[Kind::kNumber].word;
  o.handle = facts::kHandleForm;
  if (facts::kFortran && facts::kHandleForm == ATTRCACHE_HANDLE_POINTER)
    o.fortran_handle = fortran_handle<Kind>;
  return o;
}

// The communicator whose attributes MPI_Finalize deletes last. It deletes those of MPI_COMM_SELF
// first, and some MPIs then those of MPI_COMM_WORLD.
MPI_Comm finalize_object() {
  return behaviour().finalize_deletes_on_world ? native().world : native().self;
}

// The delete callback by which MPI_Finalize is noticed. It runs last among the delete callbacks of
// finalize_object(), because its attribute was set first.
int finalize_attribute_deleted(MPI_Comm comm, int, void*, void*) {
  const int left = end_all_unanchored();
  // What a session still uses isn't left behind.
  if (checking() && !session_lives(1)) watch_end();
  ending_state.store(true, kRelease);  // (MP2)
  world_ended();
  // From here on every lookup misses the map and asks MPI, which knows best what it still allows.
  forget_all_objects();
  if (verbose()) {
    attrcache_counters c = {};
    attrcache_domain_counters(process()->domain, &c);
    std::fprintf(
        stderr,
        "attrcache[%d]: served %" PRIu64 " keyvals, %" PRIu64 " objects, %" PRIu64 " sets, %" PRIu64
        " deletes; left: %" PRIu64 " keyvals, %" PRIu64 " attributes (rank %d on %s)\n",
        getpid(), c.keyvals_created, counts.objects.load(kRelaxed), counts.sets.load(kRelaxed),
        counts.deletes.load(kRelaxed), c.keyvals_created - c.keyvals_freed, c.attributes,
        identity().rank, identity().host);
  }
  const int code = code_at_finalize(comm);
  return code != MPI_SUCCESS || behaviour().finalize_forgets ? code : left;
}

int create_anchor_keyvals(Process& s) {
  int code = MPI_SUCCESS;
  for_each_kind([&](auto kind) {
    using Kind = decltype(kind);
    if (code == MPI_SUCCESS) code = create_anchor_keyval<Kind>(&s.anchor_keyvals[Kind::kNumber]);
  });
  if (code == MPI_SUCCESS) {
    code = native().comm.create_keyval(copy_nothing, finalize_attribute_deleted, &s.finalize_keyval,
                                       nullptr);
  }
  return code;
}

// Gives attrcache's keyvals a range that has none of MPI's that were made just now, and none that
// MPI predefines.
void choose_keyval_numbers(const Process& s) {
  const auto used = [&s](uint32_t base) {
    return std::any_of(std::begin(s.anchor_keyvals), std::end(s.anchor_keyvals), [=](int keyval) {
      return (static_cast<uint32_t>(keyval) & id::kMarkerMask) == base;
    });
  };
  for (const uint32_t base : {0x40000000u, 0x20000000u, 0x60000000u}) {
    if (used(base)) continue;
    keyval_mask.store(base ^ ATTRCACHE_KEYVAL_MIN, kRelaxed);
    if (facts::kStandardAbi || base == ATTRCACHE_KEYVAL_MIN) return;
  }
  die("cannot serve this process:", "the MPI's keyvals might be taken for attrcache's");
}

// Whether the program's calls of the function with this name reach attrcache first.
bool comes_to_us(const std::string& name) {
  static const char here = 0;
  Dl_info us;
  Dl_info front;
  void* entry = nullptr;
  void* symbol = dlsym(RTLD_DEFAULT, name.c_str());
  if (symbol == nullptr || dladdr(&here, &us) == 0 ||
      dladdr1(symbol, &front, &entry, RTLD_DL_SYMENT) == 0) {
    return false;
  }
  if (front.dli_fbase == us.dli_fbase) return true;
  // In a program that is loaded at a fixed address, taking a function's address gives the address
  // of a stub in the program itself. The symbol is undefined there, unlike a wrapper's.
  const auto* defined = static_cast<const ElfW(Sym)*>(entry);
  return defined != nullptr && defined->st_shndx == SHN_UNDEF;
}

void find_wrapped(Process& s) {
  for (int family = 0; family < kFamilies; ++family) {
    const bool is_mpi1 = family == kMpi1Family;
    bool& wrapped = s.wrapped_by_tool[is_mpi1 ? int{kCommunicator} : family];
    for (int operation = 0; operation < kOperations; ++operation) {
      const std::string name = "MPI_" + operation_name(family, operation);
      if (!comes_to_us(name)) wrapped = true;
      if (!facts::kFortran) continue;
      if (!comes_to_us(in_fortran(name) + "_")) wrapped = true;
      if (!is_mpi1 && !comes_to_us(in_fortran(name) + "_f08_")) wrapped = true;
    }
  }
}

int create_domain(Process& s) {
  attrcache_kind_options kinds[kAllKinds];
  for_each_kind([&kinds](auto kind) { kinds[kind.kNumber] = options<decltype(kind)>(); });
  kinds[kSession] = {sizeof *kinds, Session::kHandleForm, kKindNames[kSession].word, nullptr};
  kinds[kFile] = {sizeof *kinds, File::kHandleForm, kKindNames[kFile].word, nullptr};
  attrcache_domain_options o = {};
  o.communicator = &kinds[kCommunicator];
  o.datatype = &kinds[kDatatype];
  o.window = &kinds[kWindow];
  o.catch_exceptions = keep_exception;
  // A variable whose keyval was freed has MPI's value before the destructor runs.
  const attrcache_keyval_numbers numbers = {ATTRCACHE_KEYVAL_MIN ^ keyval_mask.load(kRelaxed),
                                            MPI_KEYVAL_INVALID};
  o.numbers = &numbers;
  int result = attrcache_domain_create(&o, &s.domain);
  for (int i = 0; i < kAllKinds && result == ATTRCACHE_OK; ++i) {
    // The core makes its own kinds with the domain.
    result = attrcache_kind_of(s.domain, i, &s.kinds[i]);
    if (result != ATTRCACHE_OK) result = attrcache_kind_register(s.domain, &kinds[i], &s.kinds[i]);
  }
  return result;
}

void discard(Process* s) {
  const Native& n = native();
  for_each_kind([&](auto kind) {
    using Kind = decltype(kind);
    n.of<Kind>().free_keyval(&s->anchor_keyvals[Kind::kNumber]);
  });
  n.comm.free_keyval(&s->finalize_keyval);
  attrcache_domain_destroy(s->domain, ATTRCACHE_DESTROY_IF_UNUSED, nullptr);
  kProcessMemory.destroy(s);
}

}  // namespace

std::string left_to_mpi() {
  Process s = {};
  find_wrapped(s);
  std::string found;
  for (int kind = 0; kind < kMpiKinds; ++kind) {
    if (s.wrapped_by_tool[kind])
      found += (found.empty() ? "" : ", ") + std::string(kKindNames[kind].word) + "s";
  }
  return found;
}

int begin_first(const Process** state) {
  auto* made = kProcessMemory.make<Process>();
  if (made == nullptr) die("out of", "memory");
  const int code = create_anchor_keyvals(*made);
  if (code != MPI_SUCCESS) {
    kProcessMemory.destroy(made);
    return code;
  }
  choose_keyval_numbers(*made);
  const int result = create_domain(*made);
  if (result != ATTRCACHE_OK) die("cannot serve this process:", attrcache_strerror(result));

  find_wrapped(*made);
  if (why_not_served() != nullptr) {
    std::fprintf(stderr, "attrcache[%d]: not serving: this is %s\n", getpid(), why_not_served());
    for (bool& left_to_mpi : made->wrapped_by_tool) left_to_mpi = true;
  }
  lives_already();
  if (report::wanted()) watch_state.fetch_or(kCounted, kRelaxed);
  if (tsan::is_there()) watch_state.fetch_or(kSanitized, kRelaxed);
  if (watched() & (kCounted | kSanitized))
    for_each_kind([](auto kind) { objects<decltype(kind)>.hide_from_hot_path(); });

  Process* expected = nullptr;
  // (MP1) The release publishes the domain. On failure another thread's state is used instead,
  // which the acquire makes visible.
  if (!process_state.compare_exchange_strong(expected, made, kAcqRel, kAcquire)) {
    discard(made);
    *state = expected;
    return MPI_SUCCESS;
  }
  *state = made;
  if (is_wanted("ATTRCACHE_VERBOSE") && why_not_served() == nullptr) {
    watch_state.fetch_or(kVerbose, kRelaxed);
    std::fprintf(stderr,
                 "attrcache[%d]: serving the attributes of this %s%s process (attrcache "
                 "%d.%d.%d" ATTRCACHE_VERSION_SUFFIX "), rank %d on %s\n",
                 getpid(), behaviour().name, facts::kSuffix, ATTRCACHE_VERSION_MAJOR,
                 ATTRCACHE_VERSION_MINOR, ATTRCACHE_VERSION_PATCH, identity().rank,
                 identity().host);
  }
  if (checking()) {
    watch_state.fetch_or(kChecked, kRelaxed);
    identity();  // warnings name the rank, also those of threads that may not ask MPI for it
  }
  for (int kind = 0; kind < kMpiKinds && verbose(); ++kind) {
    if (!made->wrapped_by_tool[kind]) continue;
    std::fprintf(stderr, "attrcache[%d]: not serving %ss: a tool in front wraps their functions\n",
                 getpid(), kKindNames[kind].word);
  }
  watch_for_end(*made);
  report::begin(code_at_finalize);
  if (initialized() && !finalized()) {
    // So that gets of their predefined attributes find anchors from now on (predefined.h). The map
    // gets these at their first use: until then they would only be in others' way.
    attach_if_there_is_memory(native().world);
    attach_if_there_is_memory(native().self);
  }
  return MPI_SUCCESS;
}

void watch_for_end(const Process& state) {
  if (watching.load(kRelaxed)) return;
  // A program that uses MPI sessions alone has no MPI_COMM_WORLD.
  if (!initialized() || finalized()) return;
  if (watching.exchange(true, kAcqRel)) return;
  native().comm.set_attr(finalize_object(), state.finalize_keyval, nullptr);
}

void begin_anew() {
  Process* state = process_state.load(kAcquire);  // (MP1)
  if (state == nullptr) return;
  // Plain stores will do: other threads look at (ML1), lifetime.cc, before they use these.
  if (create_anchor_keyvals(*state) != MPI_SUCCESS) die("no keyvals for", "further sessions");
  forget_all_objects();
  ending_state.store(false, kRelease);  // (MP2)
}

}  // namespace attrcache::mpi
