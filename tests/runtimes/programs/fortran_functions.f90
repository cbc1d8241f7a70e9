! SPDX-License-Identifier: Apache-2.0 OR MIT
!
! Keyvals that Fortran has made. MPI's own functions copy values of all languages as they are: a pointer of C's is the same
! pointer on a dup. MPI-1's functions of users have INTEGERs, which keep their sign.
module callbacks
  use mpi
  implicit none
contains
  subroutine mpi1_copy(comm, keyval, extra_state, value_in, value_out, flag, ierror)
    integer :: comm, keyval, extra_state, value_in, value_out, ierror
    logical :: flag
    value_out = value_in + extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
end module
program fortran_functions
  use mpi
  use callbacks
  implicit none
  interface
    subroutine put_in_c(comm, type, keyval) bind(c)
      integer, value :: comm, type, keyval
    end subroutine
    integer function failed_in_c(comm, type, keyval) bind(c)
      integer, value :: comm, type, keyval
    end function
  end interface
  integer :: keyvals(3), signed, comm, dup, type, type_dup, i, ierror, failed = 0
  integer(kind=MPI_ADDRESS_KIND) :: zero = 0, value
  logical :: flag
  call MPI_Init(ierror)
  call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, keyvals(1), 0, ierror)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyvals(2), zero, ierror)
  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, keyvals(3), zero, ierror)
  call MPI_Keyval_create(mpi1_copy, MPI_NULL_DELETE_FN, signed, -3, ierror)
  call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
  call MPI_Type_dup(MPI_INTEGER, type, ierror)
  do i = 1, 2
    call put_in_c(comm, -1, keyvals(i))
  end do
  call put_in_c(-1, type, keyvals(3))
  call MPI_Attr_put(comm, signed, -5, ierror)
  call MPI_Comm_dup(comm, dup, ierror)
  call MPI_Type_dup(type, type_dup, ierror)
  do i = 1, 2
    failed = failed + failed_in_c(dup, -1, keyvals(i))
  end do
  failed = failed + failed_in_c(-1, type_dup, keyvals(3))
  call MPI_Comm_get_attr(dup, signed, value, flag, ierror)
  if (.not. flag .or. value /= -8) then
    print '(a, l1, a, i0)', 'FAILED: -5 and -3 is, as the copy of an INTEGER, ', flag, ', ', value
    failed = failed + 1
  end if
  call MPI_Comm_free(dup, ierror)
  call MPI_Comm_free(comm, ierror)
  call MPI_Type_free(type_dup, ierror)
  call MPI_Type_free(type, ierror)
  call MPI_Finalize(ierror)
  if (failed /= 0) stop 1
end program
