// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the C API's opaque types are inside.

#ifndef ATTRCACHE_C_API_INSIDE_H_
#define ATTRCACHE_C_API_INSIDE_H_

#include "attrcache/attrcache.h"
#include "domain/domain.h"

namespace attrcache {

inline Domain* inside(attrcache_domain* domain) { return reinterpret_cast<Domain*>(domain); }
inline Registry& inside(attrcache_kind* kind) { return Registry::of(kind); }
inline const Registry& inside(const attrcache_kind* kind) { return Registry::of(kind); }

}  // namespace attrcache

#endif  // ATTRCACHE_C_API_INSIDE_H_
