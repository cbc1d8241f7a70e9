/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How the functions of a keyval that Fortran has made are called. Before MPICH 5.1 attrutil.c does
 * that, from then on the Fortran binding itself. Define MPIR_ATTR_FALSE, the value of .FALSE.,
 * before including it.
 */
#ifndef MPIR_ATTR_FORTRAN_H_INCLUDED
#define MPIR_ATTR_FORTRAN_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

typedef void Aint_copy(MPI_Fint*, MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Aint*, MPI_Fint*, MPI_Fint*);
typedef void Aint_delete(MPI_Fint*, MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Fint*);
/* Those of MPI_KEYVAL_CREATE, whose values and extra_state are INTEGERs. */
typedef void Mpi1_copy(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
typedef void Mpi1_delete(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);

typedef struct {
  void (*copy_fn)(void);
  void (*delete_fn)(void);
  int of_mpi1;
  MPI_Aint extra_state; /* functions get its address */
  MPI_Fint mpi1_extra_state;
} Fortran_functions;

/* The variable at the caller's address may soon be gone, so the keyval keeps its value. */
static inline Fortran_functions functions_of_fortran(void (*copy_fn)(void), void (*delete_fn)(void),
                                                     int of_mpi1, const void* extra_state) {
  const Fortran_functions functions = {
      .copy_fn = copy_fn,
      .delete_fn = delete_fn,
      .of_mpi1 = of_mpi1,
      .extra_state = of_mpi1 ? 0 : *(const MPI_Aint*)extra_state,
      .mpi1_extra_state = of_mpi1 ? *(const MPI_Fint*)extra_state : 0,
  };
  return functions;
}

/* Where there is no function, nothing is copied, or done. */
static inline int copy_by_fortran(Fortran_functions* functions, MPI_Fint object, MPI_Fint keyval,
                                  MPI_Aint value, MPI_Aint* copy, int* flag) {
  MPI_Fint copied = MPIR_ATTR_FALSE, error = 0;

  if (functions->copy_fn == NULL) {
    /* the flag stays .FALSE. */
  } else if (functions->of_mpi1) {
    MPI_Fint old_value = (MPI_Fint)value, new_value = 0;
    ((Mpi1_copy*)functions->copy_fn)(&object, &keyval, &functions->mpi1_extra_state, &old_value,
                                     &new_value, &copied, &error);
    *copy = new_value;
  } else {
    ((Aint_copy*)functions->copy_fn)(&object, &keyval, &functions->extra_state, &value, copy,
                                     &copied, &error);
  }
  *flag = copied != MPIR_ATTR_FALSE;
  return error;
}

static inline int delete_by_fortran(Fortran_functions* functions, MPI_Fint object, MPI_Fint keyval,
                                    MPI_Aint value) {
  MPI_Fint error = 0;

  if (functions->delete_fn == NULL) return error;
  if (functions->of_mpi1) {
    MPI_Fint old_value = (MPI_Fint)value;
    ((Mpi1_delete*)functions->delete_fn)(&object, &keyval, &old_value, &functions->mpi1_extra_state,
                                         &error);
  } else {
    ((Aint_delete*)functions->delete_fn)(&object, &keyval, &value, &functions->extra_state, &error);
  }
  return error;
}

#endif /* MPIR_ATTR_FORTRAN_H_INCLUDED */
