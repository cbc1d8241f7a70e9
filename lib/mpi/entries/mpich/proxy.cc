// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Keyvals that are made through MPICH's C++ binding. The binding makes a keyval by calling the C
// function with the user's C++ functions as callbacks, and then tells MPICH by
// MPII_Keyval_set_proxy to call them through functions of the binding (proxies). Here the keyval is
// attrcache's, and its callbacks are copy_by_proxy and delete_by_proxy below, which call the
// proxies just as MPICH would.

#include <dlfcn.h>

#include "mpi/entries/binding.h"
#include "mpi/entries/operations.h"
#include "mpi/native/entry.h"
#include "mpi/native/modules.h"
#include "mpi/native/native.h"
#include "platform/atomic.h"
#include "platform/memory.h"

namespace attrcache::mpi {
namespace {

// How MPICH tells a proxy the type of an attribute. Here it is always the pointer that C sees.
constexpr int kPointerAttribute = 0;

using CopyProxy = int(attrcache_callback* user, int handle, int keyval, void* extra_state,
                      int attribute_type, void* value, void** copy, int* flag);
using DeleteProxy = int(attrcache_callback* user, int handle, int keyval, int attribute_type,
                        void* value, void* extra_state);

struct Proxied {
  attrcache_callback* copy_fn;
  attrcache_callback* delete_fn;
  void* extra_state;
  CopyProxy* copy_proxy;
  DeleteProxy* delete_proxy;
};

int copy_by_proxy(int handle, int keyval, void* extra_state, void* value, void* copy, int* flag) {
  const auto& p = *static_cast<Proxied*>(extra_state);
  *flag = 0;
  if (p.copy_fn == nullptr || p.copy_proxy == nullptr) return MPI_SUCCESS;
  return p.copy_proxy(p.copy_fn, handle, keyval, p.extra_state, kPointerAttribute, value,
                      static_cast<void**>(copy), flag);
}

int delete_by_proxy(int handle, int keyval, void* value, void* extra_state) {
  const auto& p = *static_cast<Proxied*>(extra_state);
  if (p.delete_fn == nullptr || p.delete_proxy == nullptr) return MPI_SUCCESS;
  return p.delete_proxy(p.delete_fn, handle, keyval, kPointerAttribute, value, p.extra_state);
}

void destroy_proxied(void* extra_state, void*) {
  kProcessMemory.destroy(static_cast<Proxied*>(extra_state));
}

Binding look_up(uintptr_t caller) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(caller), &info) == 0 || info.dli_fname == nullptr)
    return Binding::kC;
  constexpr const char* kCxx[] = {"libmpichcxx", "libmpicxx"};
  constexpr const char* kFortran[] = {"libmpichfort", "libmpifort"};
  if (is_named_like(info.dli_fname, kCxx)) return Binding::kCxx;
  if (is_named_like(info.dli_fname, kFortran)) return Binding::kFortran;
  return Binding::kC;
}

}  // namespace

Binding look_for_binding(const void* return_address) {
  // Return addresses that were found to be in plain C, by a hash of the address. Relaxed, because
  // each word stands for itself.
  static constinit Atomic<uintptr_t> plain_callers[64];
  const auto caller = reinterpret_cast<uintptr_t>(return_address);
  Atomic<uintptr_t>& known = plain_callers[caller * uint64_t{0x9e3779b97f4a7c15} >> 58];
  if (known.load(kRelaxed) == caller) return Binding::kC;
  const Binding binding = look_up(caller);
  if (binding == Binding::kC) known.store(caller, kRelaxed);
  return binding;
}

int create_keyval_for_cxx(const Process& state, int kind, attrcache_callback* copy_fn,
                          attrcache_callback* delete_fn, void* extra_state, int* keyval,
                          const void* caller) {
  auto* proxied =
      kProcessMemory.make<Proxied>(Proxied{copy_fn, delete_fn, extra_state, nullptr, nullptr});
  if (proxied == nullptr) return ATTRCACHE_ERR_MEMORY;
  const attrcache_callbacks callbacks = callbacks_of(
      ATTRCACHE_C, reinterpret_cast<attrcache_callback*>(copy_by_proxy),
      reinterpret_cast<attrcache_callback*>(delete_by_proxy), proxied, destroy_proxied);
  const int result =
      mpi::create_keyval(state, kind, callbacks, keyval, {caller, copy_fn, delete_fn});
  if (result != ATTRCACHE_OK) kProcessMemory.destroy(proxied);
  return result;
}

namespace {

// Stores the proxies. No lock is needed, because no other thread knows the keyval yet.
void set_proxy(int keyval, CopyProxy* copy_proxy, DeleteProxy* delete_proxy) {
  for (attrcache_kind* kind : process()->kinds) {
    attrcache_callbacks callbacks;
    if (attrcache_keyval_describe(kind, keyval, nullptr, &callbacks) != ATTRCACHE_OK) continue;
    callbacks = program_callbacks(callbacks);
    if (callbacks.destructor != destroy_proxied) return;
    auto& proxied = *static_cast<Proxied*>(callbacks.extra_state);
    proxied.copy_proxy = copy_proxy;
    proxied.delete_proxy = delete_proxy;
    return;
  }
}

using SetProxy = void(int, CopyProxy*, DeleteProxy*);

}  // namespace
}  // namespace attrcache::mpi

extern "C" ATTRCACHE_ENTRY void MPII_Keyval_set_proxy(int keyval,
                                                      attrcache::mpi::CopyProxy* copy_proxy,
                                                      attrcache::mpi::DeleteProxy* delete_proxy) {
  using namespace attrcache::mpi;
  if (ours(keyval) && process() != nullptr) {
    set_proxy(keyval, copy_proxy, delete_proxy);
  } else {
    static SetProxy* const hidden = behind<SetProxy>("MPII_Keyval_set_proxy");
    hidden(keyval, copy_proxy, delete_proxy);
  }
}
