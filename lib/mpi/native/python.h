// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Places in Python code. All keyvals of an extension module such as mpi4py have the module's own
// callbacks, and are made in one place of it: only Python knows who asks for them.

#ifndef ATTRCACHE_MPI_NATIVE_PYTHON_H_
#define ATTRCACHE_MPI_NATIVE_PYTHON_H_

#include "mpi/native/modules.h"

namespace attrcache::mpi {

// Returns the line of Python code that has called the extension module `caller`, as a module whose
// path is its name: "solver.py: Solver.setup (solver.py:12)". Null if `caller` is no such module,
// or if this thread doesn't hold Python's global interpreter lock, as in functions that mpi4py
// calls without it. Slow.
const Module* python_code(const Module* caller);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_PYTHON_H_
