! SPDX-License-Identifier: Apache-2.0 OR MIT
!
! Attributes in Fortran, by the interface that FORTRAN_INTERFACE names (fortran.inc), and between Fortran and C: every way to set a
! value with every way to read it; callbacks in the language of their keyval; the callback constants; predefined
! attributes; MPI-1's routines. The C half is fortran_c.c.
#include "fortran.inc"

! What callbacks did, and the checks.
module state
  implicit none
  integer, parameter :: address = selected_int_kind(18)
  integer :: copies = 0, deletes = 0
  integer(address) :: last_copied = -1, last_deleted = -1, last_extra = -1
  integer :: checks = 0, failures = 0, me = 0
  logical :: served = .false.
contains
  subroutine check(line, condition)
    integer, intent(in) :: line
    logical, intent(in) :: condition
    checks = checks + 1
    if (.not. condition) then
      failures = failures + 1
      print '(a,i0,a,i0)', 'rank ', me, ': FAILED fortran.F90:', line
    end if
  end subroutine
  subroutine equal(line, actual, expected)
    integer, intent(in) :: line
    integer(address), intent(in) :: actual, expected
    checks = checks + 1
    if (actual /= expected) then
      failures = failures + 1
      print '(a,i0,a,i0,a,i0,a,i0)', 'rank ', me, ': FAILED fortran.F90:', line, ': ', actual, ', not ', expected
    end if
  end subroutine
  subroutine forget()
    copies = 0
    deletes = 0
    last_copied = -1
    last_deleted = -1
  end subroutine
end module

module callbacks
  implicit none
contains
#define COPY_CALLBACK(name, handle_t) \
  subroutine name(object, keyval, extra_state, value_in, value_out, flag, ierror); \
    USE_MPI;\
    use state, only: copies, last_copied, last_extra;\
    handle_t :: object;\
    integer :: keyval, ierror;\
    integer(ADDRESS) :: extra_state, value_in, value_out;\
    logical :: flag;\
    copies = copies + 1;\
    last_copied = value_in;\
    last_extra = extra_state;\
    value_out = value_in + 1;\
    flag = value_in /= 13;\
    ierror = 0;\
    if (value_in == 14) ierror = 55;\
  end subroutine

#define DELETE_CALLBACK(name, handle_t) \
  subroutine name(object, keyval, value, extra_state, ierror); \
    USE_MPI;\
    use state, only: deletes, last_deleted, last_extra;\
    handle_t :: object;\
    integer :: keyval, ierror;\
    integer(ADDRESS) :: extra_state, value;\
    deletes = deletes + 1;\
    last_deleted = value;\
    last_extra = extra_state;\
    ierror = 0;\
  end subroutine

#define ADDRESS MPI_ADDRESS_KIND
#if FORTRAN_INTERFACE == 1
#undef ADDRESS
#define ADDRESS selected_int_kind(18)
#endif
  COPY_CALLBACK(copy_comm, COMM_T)
  COPY_CALLBACK(copy_type, TYPE_T)
  DELETE_CALLBACK(delete_comm, COMM_T)
  DELETE_CALLBACK(delete_type, TYPE_T)
  DELETE_CALLBACK(delete_win, WIN_T)

  ! MPI-1's
  subroutine copy_mpi1(object, keyval, extra_state, value_in, value_out, flag, ierror)
    use state, only: copies, last_copied, last_extra
    integer :: object, keyval, extra_state, value_in, value_out, ierror
    logical :: flag
    copies = copies + 1
    last_copied = value_in
    last_extra = extra_state
    value_out = value_in + 1
    flag = .true.
    ierror = 0
  end subroutine
  subroutine delete_mpi1(object, keyval, value, extra_state, ierror)
    use state, only: deletes, last_deleted, last_extra
    integer :: object, keyval, value, extra_state, ierror
    deletes = deletes + 1
    last_deleted = value
    last_extra = extra_state
    ierror = 0
  end subroutine
end module

program fortran
  use, intrinsic :: iso_c_binding
  USE_MPI
  use state
  use callbacks
  implicit none
  INCLUDE_MPI
  interface
    subroutine c_set(kind, object, keyval, value) bind(c)
      import
      integer(c_int), value :: kind, object, keyval
      integer(c_intptr_t), value :: value
    end subroutine
    ! What C reads: 0 the pointer; 1 the int, 2 the address-sized integer that it points at; -77 nothing.
    integer(c_intptr_t) function c_get(kind, object, keyval, how) bind(c)
      import
      integer(c_int), value :: kind, object, keyval, how
    end function
    integer(c_int) function c_create(kind) bind(c)
      import
      integer(c_int), value :: kind
    end function
    integer(c_int) function c_copies() bind(c)
      import
    end function
    integer(c_int) function c_deletes() bind(c)
      import
    end function
    integer(c_int) function c_served() bind(c)
      import
    end function
    integer(c_int) function c_on_openmpi() bind(c)
      import
    end function
  end interface
  integer(address), parameter :: big = 5000000123_address, negative = -5_address
  integer :: ierr
  COMM_T :: comm, copied
  TYPE_T :: dtype, dup_type
  WIN_T :: win
  integer, target, asynchronous :: memory(4)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  served = c_served() == 1
  call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
  call MPI_Type_contiguous(2, MPI_INTEGER, dtype, ierr)
  call MPI_Win_create(memory, 16_address, 4, MPI_INFO_NULL, MPI_COMM_SELF, win, ierr)
  call communicators()
  call datatypes()
  call windows()
  call errors()
  call mpi1()
  call predefined()
  call languages_comm()
  call languages_type()
  call languages_win()
#if FORTRAN_INTERFACE == 3
  call without_ierror()
#endif
  call MPI_Win_free(win, ierr)
  call MPI_Type_free(dtype, ierr)
  call MPI_Comm_free(comm, ierr)
  if (failures == 0) print '(a,i0,a,i0,a)', 'rank ', me, ': ', checks, ' checks passed'
  flush (6)
  call MPI_Finalize(ierr)

contains

  subroutine communicators()
    integer :: k, saved, dup_key, null_key
    integer(address) :: extra, value
    logical :: flag
    call forget()
    extra = 1000
    call MPI_Comm_create_keyval(copy_comm, delete_comm, k, extra, ierr)
    call equal(__LINE__, int(ierr, address), 0_address)
    if (served) extra = 2000 ! it was copied (not so by MPICH itself)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dup_key, extra, ierr)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, null_key, extra, ierr)
    call MPI_Comm_get_attr(comm, k, value, flag, ierr)
    call check(__LINE__, .not. flag .and. ierr == MPI_SUCCESS)
    call MPI_Comm_set_attr(comm, k, big, ierr)
    call MPI_Comm_set_attr(comm, dup_key, negative, ierr)
    call MPI_Comm_set_attr(comm, null_key, negative, ierr)
    call MPI_Comm_get_attr(comm, k, value, flag, ierr)
    call check(__LINE__, flag)
    call equal(__LINE__, value, big)
    call MPI_Comm_dup(comm, copied, ierr)
    call equal(__LINE__, int(copies, address), 1_address)
    call equal(__LINE__, last_copied, big)
    call equal(__LINE__, last_extra, 1000_address)
    call MPI_Comm_get_attr(copied, k, value, flag, ierr)
    call check(__LINE__, flag)
    call equal(__LINE__, value, big + 1)
    call MPI_Comm_get_attr(copied, dup_key, value, flag, ierr)
    call check(__LINE__, flag)
    call equal(__LINE__, value, negative)
    call MPI_Comm_get_attr(copied, null_key, value, flag, ierr)
    call check(__LINE__, .not. flag)
    call MPI_Comm_free(copied, ierr)
    call equal(__LINE__, int(deletes, address), 1_address)
    call equal(__LINE__, last_deleted, big + 1)
    call MPI_Comm_set_attr(comm, k, 13_address, ierr) ! its copy_fn says no
    call equal(__LINE__, last_deleted, big)
    call MPI_Comm_dup(comm, copied, ierr)
    call MPI_Comm_get_attr(copied, k, value, flag, ierr)
    call check(__LINE__, .not. flag)
    call MPI_Comm_free(copied, ierr)
    call equal(__LINE__, int(deletes, address), 2_address)
    saved = k
    call MPI_Comm_free_keyval(k, ierr)
    call check(__LINE__, k == MPI_KEYVAL_INVALID)
    call MPI_Comm_get_attr(comm, saved, value, flag, ierr)
    call check(__LINE__, flag)
    call MPI_Comm_delete_attr(comm, saved, ierr)
    call equal(__LINE__, last_deleted, 13_address)
    call equal(__LINE__, last_extra, 1000_address)
    call MPI_Comm_delete_attr(comm, dup_key, ierr)
    call MPI_Comm_delete_attr(comm, null_key, ierr)
    call MPI_Comm_free_keyval(dup_key, ierr)
    call MPI_Comm_free_keyval(null_key, ierr)
  end subroutine

  subroutine datatypes()
    integer :: k, dup_key
    integer(address) :: extra, value
    logical :: flag
    call forget()
    extra = 3000
    call MPI_Type_create_keyval(copy_type, delete_type, k, extra, ierr)
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, dup_key, extra, ierr)
    call MPI_Type_set_attr(dtype, k, big, ierr)
    call MPI_Type_set_attr(dtype, dup_key, negative, ierr)
    call MPI_Type_dup(dtype, dup_type, ierr)
    call equal(__LINE__, int(copies, address), 1_address)
    call equal(__LINE__, last_extra, 3000_address)
    call MPI_Type_get_attr(dup_type, k, value, flag, ierr)
    call check(__LINE__, flag)
    call equal(__LINE__, value, big + 1)
    call MPI_Type_get_attr(dup_type, dup_key, value, flag, ierr)
    call check(__LINE__, flag)
    call equal(__LINE__, value, negative)
    call MPI_Type_free(dup_type, ierr)
    call equal(__LINE__, int(deletes, address), 1_address)
    call equal(__LINE__, last_deleted, big + 1)
    call MPI_Type_delete_attr(dtype, k, ierr)
    call equal(__LINE__, last_deleted, big)
    call MPI_Type_get_attr(dtype, k, value, flag, ierr)
    call check(__LINE__, .not. flag)
    call MPI_Type_delete_attr(dtype, dup_key, ierr)
    call MPI_Type_free_keyval(k, ierr)
    call check(__LINE__, k == MPI_KEYVAL_INVALID)
    call MPI_Type_free_keyval(dup_key, ierr)
  end subroutine

  subroutine windows()
    integer :: k
    integer(address) :: extra, value
    logical :: flag
    call forget()
    extra = 4000
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, k, extra, ierr)
    call MPI_Win_set_attr(win, k, big, ierr)
    call MPI_Win_get_attr(win, k, value, flag, ierr)
    call check(__LINE__, flag)
    call equal(__LINE__, value, big)
    call MPI_Win_set_attr(win, k, negative, ierr)
    call equal(__LINE__, last_deleted, big)
    call MPI_Win_delete_attr(win, k, ierr)
    call equal(__LINE__, last_deleted, negative)
    call equal(__LINE__, last_extra, 4000_address)
    call MPI_Win_free_keyval(k, ierr)
    call check(__LINE__, k == MPI_KEYVAL_INVALID)
  end subroutine

  ! Errors come back as codes: MPI's, and those of failing callbacks.
  subroutine errors()
    integer :: k, type_key
    integer(address) :: value
    logical :: flag
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
    call MPI_Comm_create_keyval(copy_comm, delete_comm, k, 0_address, ierr)
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, type_key, 0_address, ierr)
    if (served) then
      ! Which code that is, is the MPI's; Open MPI's has no class.
      call MPI_Comm_get_attr(comm, type_key, value, flag, ierr)
      call check(__LINE__, ierr /= MPI_SUCCESS)
      call MPI_Comm_set_attr(comm, type_key, value, ierr)
      call check(__LINE__, ierr /= MPI_SUCCESS)
    end if
    call MPI_Comm_set_attr(comm, k, 14_address, ierr) ! its copy_fn fails
    call MPI_Comm_dup(comm, copied, ierr)
    call check(__LINE__, ierr == 55)
    call MPI_Comm_delete_attr(comm, k, ierr)
    call MPI_Comm_free_keyval(k, ierr)
    call MPI_Type_free_keyval(type_key, ierr)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL, ierr)
  end subroutine

  ! MPI-1: INTEGER values and callbacks. mpi_f08 has no such interface: there, by external names.
  subroutine mpi1()
    integer :: k, value, dup_key
    logical :: flag
#if FORTRAN_INTERFACE == 3
    external :: mpi_keyval_create, mpi_keyval_free, mpi_attr_put, mpi_attr_get, mpi_attr_delete
    external :: mpi_dup_fn, mpi_null_delete_fn
#endif
    call forget()
    call mpi_keyval_create(copy_mpi1, delete_mpi1, k, 321, ierr)
    call mpi_keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, dup_key, 0, ierr)
    call mpi_attr_put(FINT(comm), k, -9, ierr)
    call mpi_attr_put(FINT(comm), dup_key, 6, ierr)
    call mpi_attr_get(FINT(comm), k, value, flag, ierr)
    call check(__LINE__, flag .and. value == -9)
    call MPI_Comm_dup(comm, copied, ierr)
    call equal(__LINE__, last_copied, -9_address)
    call equal(__LINE__, last_extra, 321_address)
    call mpi_attr_get(FINT(copied), k, value, flag, ierr)
    call check(__LINE__, flag .and. value == -8)
    call mpi_attr_get(FINT(copied), dup_key, value, flag, ierr)
    call check(__LINE__, flag .and. value == 6)
    call MPI_Comm_free(copied, ierr)
    call equal(__LINE__, last_deleted, -8_address)
    call mpi_attr_delete(FINT(comm), k, ierr)
    call equal(__LINE__, last_deleted, -9_address)
    call mpi_attr_delete(FINT(comm), dup_key, ierr)
    call mpi_attr_get(FINT(comm), k, value, flag, ierr)
    call check(__LINE__, .not. flag)
    call mpi_keyval_free(k, ierr)
    call check(__LINE__, k == MPI_KEYVAL_INVALID)
    call mpi_keyval_free(dup_key, ierr)
  end subroutine

  subroutine predefined()
    integer(address) :: value
    integer :: fint
    logical :: flag, flag1
#if FORTRAN_INTERFACE == 3
    external :: mpi_attr_get
#endif
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
    call check(__LINE__, flag .and. value >= 32767)
    call mpi_attr_get(FINT(MPI_COMM_WORLD), MPI_TAG_UB, fint, flag1, ierr)
    call check(__LINE__, flag1 .and. fint == value)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
    call check(__LINE__, flag .and. value == 16)
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierr)
    call check(__LINE__, flag .and. value == 4)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierr)
    ! MPICH by itself gives Fortran something else
    call check(__LINE__, flag .and. (c_on_openmpi() == 0 .or. value == transfer(c_loc(memory), value)))
    ! C's int, as C and both Fortrans read it
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
    call equal(__LINE__, int(c_get(3, FINT(MPI_COMM_WORLD), 0, 1), address), value)
  end subroutine

  ! Set as C pointer, Fint, Aint; read as C, Fint, Aint.
  subroutine languages_comm()
    integer :: k(3), i, fint, c_before
    integer(address) :: value
    logical :: flag
#if FORTRAN_INTERFACE == 3
    external :: mpi_keyval_create, mpi_attr_put, mpi_attr_get, mpi_dup_fn, mpi_null_delete_fn
#endif
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, k(1), 0_address, ierr)
    call mpi_keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, k(2), 0, ierr)
    k(3) = c_create(0) ! C's own callbacks, that do the same
    do i = 1, 3 ! a keyval made in one language works in all
      call c_set(0, FINT(comm), k(i), big)
      call equal(__LINE__, int(c_get(0, FINT(comm), k(i), 0), address), big)
      call mpi_attr_get(FINT(comm), k(i), fint, flag, ierr)
      call check(__LINE__, flag .and. fint == int(ibits(big, 0, 32), 4))
      call MPI_Comm_get_attr(comm, k(i), value, flag, ierr)
      call equal(__LINE__, value, big)

      call mpi_attr_put(FINT(comm), k(i), -5, ierr)
      call equal(__LINE__, int(c_get(0, FINT(comm), k(i), 1), address), negative)
      call mpi_attr_get(FINT(comm), k(i), fint, flag, ierr)
      call check(__LINE__, flag .and. fint == -5)
      call MPI_Comm_get_attr(comm, k(i), value, flag, ierr)
      call equal(__LINE__, value, negative)

      call MPI_Comm_set_attr(comm, k(i), big, ierr)
      call equal(__LINE__, int(c_get(0, FINT(comm), k(i), 2), address), big)
      call mpi_attr_get(FINT(comm), k(i), fint, flag, ierr)
      call check(__LINE__, flag .and. fint == int(ibits(big, 0, 32), 4))
      call MPI_Comm_get_attr(comm, k(i), value, flag, ierr)
      call equal(__LINE__, value, big)
    end do
    ! The constants keep the value as it was set: C's pointer stays one.
    call c_set(0, FINT(comm), k(1), big)
    call c_set(0, FINT(comm), k(2), big + 1)
    call MPI_Comm_dup(comm, copied, ierr)
    if (served) then
      call equal(__LINE__, int(c_get(0, FINT(copied), k(1), 0), address), big)
      call equal(__LINE__, int(c_get(0, FINT(copied), k(2), 0), address), big + 1)
    end if
    call MPI_Comm_free(copied, ierr)
    call MPI_Comm_set_attr(comm, k(1), big, ierr)
    ! Callbacks of a C keyval run for a dup that Fortran makes; DUP keeps value and tag.
    c_before = c_copies()
    call MPI_Comm_dup(comm, copied, ierr)
    call check(__LINE__, c_copies() == c_before + 1)
    call MPI_Comm_get_attr(copied, k(1), value, flag, ierr)
    call equal(__LINE__, value, big)
    call equal(__LINE__, int(c_get(0, FINT(copied), k(1), 2), address), big)
    c_before = c_deletes()
    call MPI_Comm_free(copied, ierr)
    call check(__LINE__, c_deletes() == c_before + 1)
    do i = 1, 3
      call MPI_Comm_delete_attr(comm, k(i), ierr)
      call MPI_Comm_free_keyval(k(i), ierr)
    end do
  end subroutine

  subroutine languages_type()
    integer :: k(2), i
    integer(address) :: value
    logical :: flag
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, k(1), 0_address, ierr)
    k(2) = c_create(1)
    do i = 1, 2
      call c_set(1, FINT(dtype), k(i), big)
      call equal(__LINE__, int(c_get(1, FINT(dtype), k(i), 0), address), big)
      call MPI_Type_get_attr(dtype, k(i), value, flag, ierr)
      call equal(__LINE__, value, big)
      call MPI_Type_set_attr(dtype, k(i), negative, ierr)
      call equal(__LINE__, int(c_get(1, FINT(dtype), k(i), 2), address), negative)
      call MPI_Type_get_attr(dtype, k(i), value, flag, ierr)
      call equal(__LINE__, value, negative)
      call MPI_Type_delete_attr(dtype, k(i), ierr)
      call MPI_Type_free_keyval(k(i), ierr)
    end do
  end subroutine

  subroutine languages_win()
    integer :: k(2), i
    integer(address) :: value
    logical :: flag
    call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, k(1), 0_address, ierr)
    k(2) = c_create(2)
    do i = 1, 2
      call c_set(2, FINT(win), k(i), big)
      call equal(__LINE__, int(c_get(2, FINT(win), k(i), 0), address), big)
      call MPI_Win_get_attr(win, k(i), value, flag, ierr)
      call equal(__LINE__, value, big)
      call MPI_Win_set_attr(win, k(i), negative, ierr)
      call equal(__LINE__, int(c_get(2, FINT(win), k(i), 2), address), negative)
      call MPI_Win_get_attr(win, k(i), value, flag, ierr)
      call equal(__LINE__, value, negative)
      call MPI_Win_delete_attr(win, k(i), ierr)
      call MPI_Win_free_keyval(k(i), ierr)
    end do
    ! C's int of a window (MPI_WIN_DISP_UNIT)
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierr)
    call equal(__LINE__, int(c_get(4, FINT(win), 0, 1), address), value)
  end subroutine

#if FORTRAN_INTERFACE == 3
  subroutine without_ierror()
    integer :: k
    integer(address) :: value
    logical :: flag
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, k, 0_address)
    call MPI_Comm_set_attr(comm, k, big)
    call MPI_Comm_get_attr(comm, k, value, flag)
    call check(__LINE__, flag)
    call equal(__LINE__, value, big)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    call check(__LINE__, flag .and. value >= 32767)
    call MPI_Comm_delete_attr(comm, k)
    call MPI_Comm_free_keyval(k)
    call check(__LINE__, k == MPI_KEYVAL_INVALID)
  end subroutine
#endif
end program
