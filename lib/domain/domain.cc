// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "domain/domain.h"

#include <sched.h>
#include <unistd.h>

#include "platform/memory.h"
#include "platform/pair.h"

namespace attrcache {
namespace {

constexpr unsigned kMaxStripes = 64;

// In how many rounds destructors may make new keyvals while the domain ends.
constexpr int kMaxDestructorRounds = 16;

// How many processors this process may use; 0: unknown.
long processors() {
#if defined(__linux__) && !defined(ATTRCACHE_NO_AFFINITY)
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 0;
#elif defined(_SC_NPROCESSORS_ONLN)
  return sysconf(_SC_NPROCESSORS_ONLN);
#else
  return 0;
#endif
}

// Over how many counters the references of a keyval are spread, so that threads don't contend. Each
// takes 8 bytes per keyval. (tests/support/processors.h feigns another number of processors.)
unsigned stripes_to_use() {
  const long count = processors();
  if (count <= 0 || count > long{kMaxStripes}) return kMaxStripes;
  unsigned stripes = 1;
  while (stripes < static_cast<unsigned long>(count)) stripes *= 2;
  return stripes;
}

// Reads the options that hold for all kinds. False: one of them is out of its range.
bool read_settings(const attrcache_domain_options& options, DomainSettings* settings) {
  if (options.numbers != nullptr) {
    settings->mask = options.numbers->base ^ id::kMarker;
    settings->invalid = options.numbers->invalid;
    const id::Keyval invalid{static_cast<uint32_t>(settings->invalid) ^ settings->mask};
    if ((options.numbers->base & ~id::kMarkerMask) != 0 || id::well_formed(invalid)) return false;
  }
  if (options.threads != nullptr && options.threads->self == nullptr) return false;
  if (options.fint_bytes != 0 && options.fint_bytes != 4 && options.fint_bytes != 8) return false;
  if ((options.flags & ~unsigned{ATTRCACHE_TELL | ATTRCACHE_FULL_FENCES}) != 0) return false;
  settings->convention.catch_exceptions = options.catch_exceptions;
  if (options.allocator != nullptr) {
    if (options.allocator->allocate == nullptr || options.allocator->release == nullptr)
      return false;
    settings->memory = Memory(*options.allocator);
  }
  settings->convention.fint_is_64_bits = options.fint_bytes == 8;
  settings->convention.fortran_false = options.fortran_false;
  settings->tells_absence = (options.flags & ATTRCACHE_TELL) != 0;
  settings->full_fences = (options.flags & ATTRCACHE_FULL_FENCES) != 0;
  return true;
}

}  // namespace

int Domain::create(const attrcache_domain_options& options, Domain** domain) {
  if (!pair_supported()) return ATTRCACHE_ERR_UNSUPPORTED;
  // set and get_aint, and a callback's extra_state, have an address's size.
  if (options.fint_bytes == 8 && sizeof(intptr_t) < 8) return ATTRCACHE_ERR_UNSUPPORTED;
  static constexpr attrcache_thread_hooks kNoHooks = {};
  const attrcache_thread_hooks& threads = options.threads != nullptr ? *options.threads : kNoHooks;
  DomainSettings settings;
  if (!read_settings(options, &settings)) return ATTRCACHE_ERR_ARGUMENT;
  Domain* made = settings.memory.make<Domain>(stripes_to_use(), threads, settings);
  if (made == nullptr) return ATTRCACHE_ERR_MEMORY;
  if (!made->readers_.made()) {
    settings.memory.destroy(made);
    return ATTRCACHE_ERR_MEMORY;
  }
  for (const attrcache_kind_options* kind :
       {options.communicator, options.datatype, options.window}) {
    Registry* registry;
    if (const int error = made->add_kind(*kind, &registry)) {
      settings.memory.destroy(made);
      return error;
    }
  }
  *domain = made;
  return ATTRCACHE_OK;
}

Registry* Domain::kind(int number) const {
  if (number < 0 || number >= static_cast<int>(id::kMaxKinds)) return nullptr;
  return kinds_[number].load(kAcquire);  // (D1) pairs with D2
}

int Domain::add_kind(const attrcache_kind_options& options, Registry** kind) {
  if (static_cast<unsigned>(options.handle) > ATTRCACHE_HANDLE_INT) return ATTRCACHE_ERR_ARGUMENT;
  static constexpr const char* kNames[] = {"communicator", "datatype", "window"};
  for (unsigned number = 0; number < id::kMaxKinds; ++number) {
    if (kinds_[number].load(kRelaxed) != nullptr) continue;
    attrcache_kind_options named = options;
    if (named.name == nullptr) named.name = number < 3 ? kNames[number] : "object";
    auto* made =
        settings_.memory.make<Registry>(number, named, stripes_, epoch_, readers_, settings_);
    if (made == nullptr) return ATTRCACHE_ERR_MEMORY;
    Registry* expected = nullptr;
    // (D2) release: publishes the registry to D1. It reads null, which carries nothing.
    if (kinds_[number].compare_exchange_strong(expected, made, kRelease, kRelaxed)) {
      *kind = made;
      return ATTRCACHE_OK;
    }
    settings_.memory.destroy(made);
  }
  return ATTRCACHE_ERR_KINDS_EXHAUSTED;
}

attrcache_counters Domain::counters() const {
  attrcache_counters counters = {};
  for_each_kind([&counters](Registry& kind) { kind.count(&counters); });
  counters.reclaimable = epoch_.waiting();
  return counters;
}

int Domain::end(bool anyway, attrcache_leaks* leaks) {
  const attrcache_counters now = counters();
  *leaks = {};
  leaks->attributes = now.attributes;
  leaks->keyvals = now.keyvals_created - now.keyvals_freed;
  leaks->freed_keyvals = now.keyvals_freed - now.keyvals_gone;
  if (leaks->attributes != 0 && !anyway) return ATTRCACHE_ERR_BUSY;
  // Keyvals that have attributes are not freed: their destructors must not run, because the values
  // were not deleted. The loop is needed because a destructor may delete the last attribute under
  // another keyval, or make a keyval.
  bool any = true;
  for (int round = 0; any && round < kMaxDestructorRounds; ++round) {
    any = false;
    for_each_kind([&any](Registry& kind) { any |= kind.free_unused(); });
  }
  const uint64_t attached = counters().attributes;  // a destructor may have attached some
  if (attached > leaks->attributes) leaks->attributes = attached;
  if (attached != 0 && !anyway) return ATTRCACHE_ERR_BUSY;
  settings_.memory.destroy(this);
  return ATTRCACHE_OK;
}

Domain::~Domain() {
  for_each_kind([this](Registry& kind) { settings_.memory.destroy(&kind); });
}

}  // namespace attrcache
