/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Recognizes MPI's own functions that a Fortran program has given for a keyval: MPI_COMM_DUP_FN,
 * MPI_NULL_COPY_FN and their like. attrcache knows what they do, and doesn't call them. In C, Open
 * MPI and MPICH know them by one address each. In Fortran each has as many linker names as there
 * are compilers, and a program may have the address of its own jump to one (in its PLT). So each
 * name is looked up in the way in which the program got its address.
 *
 * Each embedding, and the interposer, includes it in one source file, after attrcache.h, whose path
 * differs among them.
 */
#ifndef ATTRCACHE_KNOWN_IN_FORTRAN_H_
#define ATTRCACHE_KNOWN_IN_FORTRAN_H_

#include <stddef.h>

/* A name that isn't defined, as in a program that isn't Fortran or is from another compiler, is a
 * null pointer. */
#define ATTRCACHE_TEXT_(text) #text
#define ATTRCACHE_TEXT(text) ATTRCACHE_TEXT_(text)
#define ATTRCACHE_SYMBOL(variable, symbol) \
  extern __attribute__((weak))             \
  attrcache_callback variable __asm__(ATTRCACHE_TEXT(__USER_LABEL_PREFIX__) symbol)

/* mpif.h and `use mpi`, in the four ways to make a name for the linker; then those of the module
 * that `use mpi_f08` has them from, as gfortran, Intel's compilers, LLVM's and NVIDIA's name
 * them. */
#define ATTRCACHE_DECLARE_(lower, upper)                                           \
  ATTRCACHE_SYMBOL(attrcache_##lower##_0, "mpi_" #lower);                          \
  ATTRCACHE_SYMBOL(attrcache_##lower##_1, "mpi_" #lower "_");                      \
  ATTRCACHE_SYMBOL(attrcache_##lower##_2, "mpi_" #lower "__");                     \
  ATTRCACHE_SYMBOL(attrcache_##lower##_3, "MPI_" #upper);                          \
  ATTRCACHE_SYMBOL(attrcache_##lower##_4, "__mpi_f08_callbacks_MOD_mpi_" #lower);  \
  ATTRCACHE_SYMBOL(attrcache_##lower##_5, "mpi_f08_callbacks_mp_mpi_" #lower "_"); \
  ATTRCACHE_SYMBOL(attrcache_##lower##_6, "_QMmpi_f08_callbacksPmpi_" #lower);     \
  ATTRCACHE_SYMBOL(attrcache_##lower##_7, "mpi_f08_callbacks_mpi_" #lower "_");
#define ATTRCACHE_LIST_(lower, upper)                                                         \
  attrcache_##lower##_0, attrcache_##lower##_1, attrcache_##lower##_2, attrcache_##lower##_3, \
      attrcache_##lower##_4, attrcache_##lower##_5, attrcache_##lower##_6, attrcache_##lower##_7,

/* The first is MPI-1's. */
#define ATTRCACHE_DUP_FNS(X) \
  X(dup_fn, DUP_FN)          \
  X(comm_dup_fn, COMM_DUP_FN) X(type_dup_fn, TYPE_DUP_FN) X(win_dup_fn, WIN_DUP_FN)
#define ATTRCACHE_NULL_FNS(X)                 \
  X(null_copy_fn, NULL_COPY_FN)               \
  X(comm_null_copy_fn, COMM_NULL_COPY_FN)     \
  X(type_null_copy_fn, TYPE_NULL_COPY_FN)     \
  X(win_null_copy_fn, WIN_NULL_COPY_FN)       \
  X(null_delete_fn, NULL_DELETE_FN)           \
  X(comm_null_delete_fn, COMM_NULL_DELETE_FN) \
  X(type_null_delete_fn, TYPE_NULL_DELETE_FN) X(win_null_delete_fn, WIN_NULL_DELETE_FN)

ATTRCACHE_DUP_FNS(ATTRCACHE_DECLARE_)
ATTRCACHE_NULL_FNS(ATTRCACHE_DECLARE_)

/* What attrcache has for such a function, or the user's own function as it is. */
static inline attrcache_callback* attrcache_known_in_fortran(attrcache_callback* function) {
  attrcache_callback* const dups[] = {ATTRCACHE_DUP_FNS(ATTRCACHE_LIST_)};
  attrcache_callback* const nulls[] = {ATTRCACHE_NULL_FNS(ATTRCACHE_LIST_)};

  if (function == NULL) return function;
  for (size_t i = 0; i < sizeof dups / sizeof *dups; i++) {
    if (dups[i] == function) return ATTRCACHE_DUP_FN;
  }
  for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++) {
    if (nulls[i] == function) return ATTRCACHE_NO_CALLBACK;
  }
  return function;
}

#endif /* ATTRCACHE_KNOWN_IN_FORTRAN_H_ */
