! SPDX-License-Identifier: Apache-2.0 OR MIT
!
! The handle that a delete callback of Fortran's gets must be that of the object, of all three kinds.
! Natively it is something in memory beside the keyval.
module callbacks
  use mpi
  implicit none
  integer :: told = -99
contains
  subroutine tell(object, keyval, value, extra_state, ierror)
    integer :: object, keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
    told = object
    ierror = MPI_SUCCESS
  end subroutine
end module
program fortran_handle
  use mpi
  use callbacks
  implicit none
  integer :: comm, type, win, k, saved, ierror, failed = 0
  integer(kind=MPI_ADDRESS_KIND) :: zero = 0
  call MPI_Init(ierror)
  call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, tell, k, zero, ierror)
  call MPI_Comm_set_attr(comm, k, zero, ierror)
  saved = comm
  call MPI_Comm_free(comm, ierror)
  call check('communicator')
  call MPI_Type_dup(MPI_INTEGER, type, ierror)
  call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, tell, k, zero, ierror)
  call MPI_Type_set_attr(type, k, zero, ierror)
  saved = type
  call MPI_Type_free(type, ierror)
  call check('datatype')
  call MPI_Win_create(MPI_BOTTOM, zero, 1, MPI_INFO_NULL, MPI_COMM_SELF, win, ierror)
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, tell, k, zero, ierror)
  call MPI_Win_set_attr(win, k, zero, ierror)
  saved = win
  call MPI_Win_free(win, ierror)
  call check('window')
  call MPI_Finalize(ierror)
  if (failed /= 0) stop 1
contains
  subroutine check(what)
    character(*) :: what
    if (told == saved) return
    print '(a, a, a, i0, a, i0)', 'FAILED: the delete callback of a ', what, ' got the handle ', told, ', not ', saved
    failed = failed + 1
  end subroutine
end program
