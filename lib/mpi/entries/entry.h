// SPDX-License-Identifier: Apache-2.0
//
// What the interposer exports: marked one by one; exports.map hides all else, the engine included,
// so that a program may have an attrcache of its own.

#ifndef ATTRCACHE_MPI_ENTRIES_ENTRY_H_
#define ATTRCACHE_MPI_ENTRIES_ENTRY_H_

#define ATTRCACHE_ENTRY __attribute__((visibility("default")))

#endif  // ATTRCACHE_MPI_ENTRIES_ENTRY_H_
