/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* As mpiimpl.h beside it, for MPICH's Fortran bindings. */
#ifndef ATTRCACHE_MPICH_DECLARATIONS_MPI_FORTIMPL_H_
#define ATTRCACHE_MPICH_DECLARATIONS_MPI_FORTIMPL_H_

#include "mpiimpl.h"

#ifdef MPIR_ATTR_AS_FORTRAN
typedef void F90_CopyFunction(MPI_Fint*, MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Aint*, MPI_Fint*,
                              MPI_Fint*);
typedef void F90_DeleteFunction(MPI_Fint*, MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Fint*);
enum F77_handle_type { F77_COMM, F77_DATATYPE, F77_WIN };
int MPII_Keyval_create(F90_CopyFunction*, F90_DeleteFunction*, int*, void*, enum F77_handle_type);
int MPII_Keyval_create_mpi1(F90_CopyFunction*, F90_DeleteFunction*, int*, void*);

/* mpi.h */
#define MPI_ERR_NO_MEM 34
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)
#define MPI_COMM_DUP_FN MPIR_Dup_fn
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function*)0)
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function*)0)
#define MPI_TYPE_DUP_FN MPIR_Dup_fn
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function*)0)
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function*)0)
#define MPI_WIN_DUP_FN MPIR_Dup_fn
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function*)0)
#define MPIX_Comm_create_keyval_x MPIR_Comm_create_keyval_x_impl
#define MPIX_Type_create_keyval_x MPIR_Type_create_keyval_x_impl
#define MPIX_Win_create_keyval_x MPIR_Win_create_keyval_x_impl
#else
void MPII_Keyval_set_f77_proxy(int keyval);
void MPII_Keyval_set_f90_proxy(int keyval);
#endif

#endif /* ATTRCACHE_MPICH_DECLARATIONS_MPI_FORTIMPL_H_ */
