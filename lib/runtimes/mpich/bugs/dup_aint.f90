! SPDX-License-Identifier: Apache-2.0 OR MIT
! An attribute that Fortran has set under a keyval that C has made, with MPI_COMM_DUP_FN, is duplicated as it is.
program main
  use mpi
  use iso_c_binding
  interface
    integer(c_int) function c_create(copy_fn, delete_fn, keyval, extra_state) bind(c, name='MPI_Comm_create_keyval')
      import
      type(c_funptr), value :: copy_fn, delete_fn
      integer(c_int) :: keyval
      type(c_ptr), value :: extra_state
    end function
    integer(c_int) function c_dup_fn() bind(c, name='MPIR_Dup_fn')
      import
    end function
  end interface
  integer :: keyval, comm, ierror
  integer(kind=MPI_ADDRESS_KIND) :: val = 0
  logical :: flag
  call MPI_Init(ierror)
  ierror = c_create(c_funloc(c_dup_fn), c_null_funptr, keyval, c_null_ptr)
  call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 42_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
  call MPI_Comm_get_attr(comm, keyval, val, flag, ierror)
  call MPI_Comm_free(comm, ierror)
  call MPI_Finalize(ierror)
  print '(a,i0)', 'set to 42; the copy is ', val
  if (val /= 42) stop 1
end program
