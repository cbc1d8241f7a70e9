/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* As mpiimpl.h beside it, for MPICH's Fortran bindings. */
#ifndef ATTRCACHE_MPICH_DECLARATIONS_MPI_FORTIMPL_H_
#define ATTRCACHE_MPICH_DECLARATIONS_MPI_FORTIMPL_H_

typedef void MPII_Attr_fn(void);
void MPII_Keyval_set_fortran(int keyval, int of_mpi1, MPII_Attr_fn* (*known)(MPII_Attr_fn*));
void MPII_Keyval_set_f77_proxy(int keyval);
void MPII_Keyval_set_f90_proxy(int keyval);

#endif /* ATTRCACHE_MPICH_DECLARATIONS_MPI_FORTIMPL_H_ */
