// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Exceptions that leave the program's callbacks.
//
// An exception must not leave a table half changed. So it is kept here while attrcache's part of
// the call ends as after a failure, and then goes on to the program as it would natively. It isn't
// caught as C++ would do it: a program may bring an unwinder and a C++ runtime of its own, whose
// state the interposer's couldn't share, and other languages' exceptions may be caught by nobody
// else. The same happens to a thread that ends in a callback (pthread_exit).

#ifndef ATTRCACHE_MPI_NATIVE_EXCEPTIONS_H_
#define ATTRCACHE_MPI_NATIVE_EXCEPTIONS_H_

namespace attrcache::mpi {

// Makes the call; 1 if an exception left it, which is kept then, in place of an earlier one. For
// the core's callbacks (attrcache_catch_exceptions).
int keep_exception(void (*call)(void* argument), void* argument);

// How many exceptions this thread has kept so far.
unsigned exceptions_kept();

// Lets the exception that this thread has kept go on, from the function that called this one. It
// returns if there is none. No object with a destructor may be alive in attrcache's functions up to
// the program's.
void let_exception_go_on();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_EXCEPTIONS_H_
