/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* As mpiimpl.h beside it, for MPICH's Fortran bindings. */
#ifndef ATTRCACHE_MPICH_DECLARATIONS_MPI_FORTIMPL_H_
#define ATTRCACHE_MPICH_DECLARATIONS_MPI_FORTIMPL_H_

void MPII_Keyval_set_fortran(int keyval);
void MPII_Keyval_set_fortran90(int keyval);
void MPII_Keyval_set_f77_proxy(int keyval);
void MPII_Keyval_set_f90_proxy(int keyval);

#endif /* ATTRCACHE_MPICH_DECLARATIONS_MPI_FORTIMPL_H_ */
