// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A domain: one epoch, and a registry for each kind of object. Domains share nothing with each
// other.

#ifndef ATTRCACHE_DOMAIN_DOMAIN_H_
#define ATTRCACHE_DOMAIN_DOMAIN_H_

#include "attrcache/attrcache.h"
#include "epoch/epoch.h"
#include "keyval/registry.h"
#include "readers/readers.h"

namespace attrcache {

class Domain {
 public:
  // A domain is what users have as an attrcache_domain.
  static Domain& of(attrcache_domain* domain) { return *reinterpret_cast<Domain*>(domain); }

  // Makes a domain, with the three kinds of the options, none of which is null. Returns
  // ATTRCACHE_OK or an error.
  static int create(const attrcache_domain_options& options, Domain** domain);

  // Fills *leaks, and destroys the domain unless attributes are attached and `anyway` is false.
  int end(bool anyway, attrcache_leaks* leaks);

  // The kind with that number, or null. Wait-free.
  Registry* kind(int number) const;

  // Adds a kind. Returns ATTRCACHE_OK or an error. Lock-free.
  int add_kind(const attrcache_kind_options& options, Registry** kind);

  Readers& readers() { return readers_; }

  attrcache_counters counters() const;

 private:
  friend class Memory;  // makes and destroys it

  Domain(unsigned stripes, const attrcache_thread_hooks& threads, const DomainSettings& settings)
      : stripes_(stripes),
        threads_(threads),
        readers_(threads_, settings.memory, settings.full_fences),
        settings_(settings),
        epoch_(settings.memory) {
    settings_.kinds = kinds_;
  }
  ~Domain();

  template <typename Visit>
  void for_each_kind(Visit visit) const {
    for (const Atomic<Registry*>& kind : kinds_) {
      if (Registry* registry = kind.load(kAcquire)) visit(*registry);  // (D1) pairs with D2
    }
  }

  const unsigned stripes_;
  const Threads threads_;
  Readers readers_;
  DomainSettings settings_;
  Atomic<Registry*> kinds_[id::kMaxKinds] = {};
  Epoch epoch_;  // last, so that what every free of a keyval writes is apart from what all read
};

}  // namespace attrcache

#endif  // ATTRCACHE_DOMAIN_DOMAIN_H_
