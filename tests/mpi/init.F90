! SPDX-License-Identifier: Apache-2.0 OR MIT
!
! A program that touches no attribute: init [thread]; see init.c.
program init
#ifdef F08
  use mpi_f08
#endif
  implicit none
#ifndef F08
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
  print '(a)', '0 checks passed'
  flush (6)
  call MPI_Finalize(ierr)
end program
