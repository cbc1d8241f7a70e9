! SPDX-License-Identifier: Apache-2.0 OR MIT
! extra_state is a value. Its variable may change, and may be gone, before a callback runs.
module callbacks
  use mpi
  integer(kind=MPI_ADDRESS_KIND) :: seen = 0
contains
  subroutine delete_fn(comm, keyval, val, extra_state, ierror)
    integer :: comm, keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: val, extra_state
    seen = extra_state
    ierror = MPI_SUCCESS
  end subroutine
end module
program main
  use callbacks
  integer :: keyval, ierror
  integer(kind=MPI_ADDRESS_KIND) :: extra_state = 1
  call MPI_Init(ierror)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, keyval, extra_state, ierror)
  extra_state = 2
  call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 0_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval, ierror)
  call MPI_Finalize(ierror)
  print '(a,i0)', 'delete_fn got extra_state ', seen
  if (seen /= 1) stop 1
end program
