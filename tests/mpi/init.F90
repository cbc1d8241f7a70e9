! SPDX-License-Identifier: Apache-2.0 OR MIT
!
! A program that touches no attribute: init [thread]; see init.c.
program init
#if FORTRAN_INTERFACE == 3
  use mpi_f08
#elif FORTRAN_INTERFACE == 2
  use mpi
#endif
  implicit none
#if FORTRAN_INTERFACE == 1
  include 'mpif.h'
#endif
  character(16) :: how
  integer :: provided, ierr
  call get_command_argument(1, how)
  if (how == 'thread') then
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  else
    call MPI_Init(ierr)
  end if
  print '(a)', 'through'
  flush (6)
  call MPI_Finalize(ierr)
end program
