// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Marks a function that the interposer exports. Everything else is hidden by exports.map,
// attrcache's own C API included, so that a program may bring an attrcache of its own.

#ifndef ATTRCACHE_MPI_NATIVE_ENTRY_H_
#define ATTRCACHE_MPI_NATIVE_ENTRY_H_

#define ATTRCACHE_ENTRY __attribute__((visibility("default")))

#endif  // ATTRCACHE_MPI_NATIVE_ENTRY_H_
