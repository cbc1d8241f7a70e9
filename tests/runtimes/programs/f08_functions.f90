! SPDX-License-Identifier: Apache-2.0 OR MIT
!
! The same in the module mpi_f08, which has such functions of its own.
program f08_functions
  use mpi_f08
  implicit none
  interface
    subroutine put_in_c(comm, type, keyval) bind(c)
      integer, value :: comm, type, keyval
    end subroutine
    integer function failed_in_c(comm, type, keyval) bind(c)
      integer, value :: comm, type, keyval
    end function
  end interface
  integer :: keyval, type_keyval, failed = 0
  integer(kind=MPI_ADDRESS_KIND) :: zero = 0
  type(MPI_Comm) :: comm, dup
  type(MPI_Datatype) :: type, type_dup
  call MPI_Init()
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, zero)
  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, type_keyval, zero)
  call MPI_Comm_dup(MPI_COMM_SELF, comm)
  call MPI_Type_dup(MPI_INTEGER, type)
  call put_in_c(comm%MPI_VAL, -1, keyval)
  call put_in_c(-1, type%MPI_VAL, type_keyval)
  call MPI_Comm_dup(comm, dup)
  call MPI_Type_dup(type, type_dup)
  failed = failed_in_c(dup%MPI_VAL, -1, keyval) + failed_in_c(-1, type_dup%MPI_VAL, type_keyval)
  call MPI_Comm_free(dup)
  call MPI_Comm_free(comm)
  call MPI_Type_free(type_dup)
  call MPI_Type_free(type)
  call MPI_Finalize()
  if (failed /= 0) stop 1
end program
