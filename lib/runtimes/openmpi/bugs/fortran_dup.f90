! SPDX-License-Identifier: Apache-2.0 OR MIT
!
! What Fortran has attached under a keyval of C's that is copied by MPI_COMM_DUP_FN has the same value on a dup, also
! when the original is gone. Natively the dup has the address of where the original's value was.
program fortran_dup
  use mpi
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function create_keyval(copy, del, keyval, extra_state) bind(C, name='MPI_Comm_create_keyval')
      import c_funptr, c_int, c_ptr
      type(c_funptr), value :: copy, del
      integer(c_int) :: keyval
      type(c_ptr), value :: extra_state
    end function
    subroutine dup_fn() bind(C, name='OMPI_C_MPI_COMM_DUP_FN')
    end subroutine
    subroutine null_delete_fn() bind(C, name='OMPI_C_MPI_COMM_NULL_DELETE_FN')
    end subroutine
  end interface
  integer :: comm, dup, k, ierror
  logical :: flag
  integer(kind=MPI_ADDRESS_KIND) :: value
  call MPI_Init(ierror)
  ierror = create_keyval(c_funloc(dup_fn), c_funloc(null_delete_fn), k, c_null_ptr)
  call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
  value = 4711
  call MPI_Comm_set_attr(comm, k, value, ierror)
  call MPI_Comm_dup(comm, dup, ierror)
  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_get_attr(dup, k, value, flag, ierror)
  if (.not. flag .or. value /= 4711) then
    print '(a, l1, a, i0)', 'FAILED: on the dup it is ', flag, ', ', value
    stop 1
  end if
  call MPI_Comm_free(dup, ierror)
  call MPI_Finalize(ierror)
end program
