! SPDX-License-Identifier: Apache-2.0 OR MIT
!
! An MPI program in Fortran that launcher.sh runs: it caches on a communicator, and duplicates it.

program fortran
  use mpi
  implicit none
  integer :: keyval, rank, comm, ierror
  integer(kind=MPI_ADDRESS_KIND) :: value, nothing
  logical :: found

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  nothing = 0
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, nothing, ierror)
  value = 4000000000_MPI_ADDRESS_KIND + rank
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  value = 0
  call MPI_Comm_get_attr(comm, keyval, value, found, ierror)
  if (found .and. value == 4000000000_MPI_ADDRESS_KIND + rank) print '(a, i0, a)', 'rank ', rank, ' passed'
  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_free_keyval(keyval, ierror)
  call MPI_Finalize(ierror)
end program
