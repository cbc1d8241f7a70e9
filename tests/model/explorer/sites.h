// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The atomic accesses of the code under test, by file and line: which of them a model reaches, and
// one of them with a weaker order than is written there. For mutate.py; without it, every access
// has the order that it asks for.
//
//   ATTRCACHE_MODEL_SITES=FILE        appends "TEST FILE:LINE KIND ORDER [FAILURE ORDER]" lines
//   ATTRCACHE_MODEL_WEAKEN=SITE:ORDER SITE is FILE:LINE:KIND or pair:KIND (all accesses to Pairs,
//                                     whose orders are written once); KIND is load, store, update,
//                                     swap, or fail, for the failure order of a swap

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_SITES_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_SITES_H_

#include "tests/model/explorer/types.h"

namespace attrcache::model::sites {

// Whether anything of the above is asked for.
bool active();

// Takes note of an access, and weakens it if it is the one.
void visit(Access& access, std::memory_order* failure);

// Writes the sites that were reached since the last call, as those of a test.
void dump(const char* suite, const char* test);

}  // namespace attrcache::model::sites

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_SITES_H_
