// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// For mutate.py: the atomic accesses of the code under test, by file and line. It records which of
// them a model reaches, and may give one of them a weaker order than the one in the source. Without
// these environment variables every access has the order in the source.
//
//   ATTRCACHE_MODEL_SITES=FILE        appends "TEST FILE:LINE KIND ORDER [FAILURE ORDER]" lines
//   ATTRCACHE_MODEL_WEAKEN=FILE:LINE:KIND:ORDER
//
// KIND is load, store, update, swap, or fail, for the failure order of a swap. All accesses to Pairs,
// whose orders are written once, are at "pair:0".

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_SITES_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_SITES_H_

#include "tests/model/explorer/types.h"

namespace attrcache::model::sites {

// Whether one of these variables is set.
bool active();

// Records an access, and weakens it if it is the one that was asked for.
void visit(Access& access, std::memory_order* failure);

// Writes the sites that were reached since the last call, under the name of a test.
void dump(const char* suite, const char* test);

}  // namespace attrcache::model::sites

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_SITES_H_
