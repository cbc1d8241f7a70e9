! SPDX-License-Identifier: Apache-2.0 OR MIT
!
! Fortran's attribute functions, which the checks of languages.c call from C, through the interface that FACE chooses:
! 1 is mpif.h, 2 use mpi, 3 use mpi_f08. What is between lines with @ and has xxx in it is repeated for each kind of
! object, or for those that it names; xxx and Xxx stand for it, as in check.h.
#if FACE == 1
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#elif FACE == 2
#define USE_MPI use mpi
#define INCLUDE_MPI
#else
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#endif
!@
#if FACE == 3
#define xxx_t type(MPI_Xxx)
#define xxx_of(handle) MPI_Xxx(handle)
#define number_of(handle) handle%MPI_VAL
#else
#define xxx_t integer
#define xxx_of(handle) handle
#define number_of(handle) handle
#endif
!@

module attributes
  USE_MPI
  use iso_c_binding
  implicit none
  INCLUDE_MPI
  ! What the callbacks were called with.
  type, bind(C) :: calls
    integer(c_int) :: copies, deletes, handle, keyval
    integer(c_intptr_t) :: val, extra
  end type
  type(calls), bind(C, name="f_seen") :: seen = calls(0, 0, -1, -1, -1, -1)
  ! Fortran's own constants.
  integer(c_int), bind(C, name="f_keyvals") :: constants(5) = &
    [MPI_TAG_UB, MPI_WIN_BASE, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_KEYVAL_INVALID]
contains

  subroutine see(handle, keyval, val, extra)
    integer :: handle, keyval
    integer(c_intptr_t) :: val, extra
    seen%handle = handle
    seen%keyval = keyval
    seen%val = val
    seen%extra = extra
  end subroutine

  ! Callbacks. The copy of a value is the value + 1. 13 is not copied, and its deletion fails; copying 14 fails.
!@
  subroutine copy_xxx(object, keyval, extra_state, value_in, value_out, flag, ierror)
    xxx_t :: object
    integer :: keyval, ierror
    integer(c_intptr_t) :: extra_state, value_in, value_out
    logical :: flag
    seen%copies = seen%copies + 1
    call see(number_of(object), keyval, value_in, extra_state)
    value_out = value_in + 1
    flag = value_in /= 13
    ierror = MPI_SUCCESS
    if (value_in == 14) ierror = MPI_ERR_OTHER
  end subroutine
  subroutine delete_xxx(object, keyval, val, extra_state, ierror)
    xxx_t :: object
    integer :: keyval, ierror
    integer(c_intptr_t) :: val, extra_state
    seen%deletes = seen%deletes + 1
    call see(number_of(object), keyval, val, extra_state)
    ierror = MPI_SUCCESS
    if (val == 13) ierror = MPI_ERR_OTHER
  end subroutine
!@
  ! MPI-1's.
  subroutine copy_mpi1(object, keyval, extra_state, value_in, value_out, flag, ierror)
    integer :: object, keyval, extra_state, value_in, value_out, ierror
    logical :: flag
    seen%copies = seen%copies + 1
    call see(object, keyval, int(value_in, c_intptr_t), int(extra_state, c_intptr_t))
    value_out = value_in + 1
    flag = .true.
    ierror = 0
  end subroutine
  subroutine delete_mpi1(object, keyval, val, extra_state, ierror)
    integer :: object, keyval, val, extra_state, ierror
    seen%deletes = seen%deletes + 1
    call see(object, keyval, int(val, c_intptr_t), int(extra_state, c_intptr_t))
    ierror = 0
  end subroutine

!@
  ! which: 0 for the callbacks above, 1 for the predefined ones that copy nothing, 2 for those that copy.
  subroutine f_xxx_create_keyval(which, keyval, extra, ierror) bind(C)
    integer(c_int), value :: which
    integer(c_int) :: keyval, ierror
    integer(c_intptr_t), value :: extra
    if (which == 0) then
      call MPI_Xxx_create_keyval(copy_xxx, delete_xxx, keyval, extra, ierror)
    else if (which == 1) then
      call MPI_Xxx_create_keyval(MPI_XXX_NULL_COPY_FN, MPI_XXX_NULL_DELETE_FN, keyval, extra, ierror)
    else
      call MPI_Xxx_create_keyval(MPI_XXX_DUP_FN, MPI_XXX_NULL_DELETE_FN, keyval, extra, ierror)
    end if
  end subroutine

  subroutine f_xxx_free_keyval(keyval, ierror) bind(C)
    integer(c_int) :: keyval, ierror
    call MPI_Xxx_free_keyval(keyval, ierror)
  end subroutine

  subroutine f_xxx_set_attr(handle, keyval, val, ierror) bind(C)
    integer(c_int), value :: handle, keyval
    integer(c_intptr_t), value :: val
    integer(c_int) :: ierror
    call MPI_Xxx_set_attr(xxx_of(handle), keyval, val, ierror)
  end subroutine

  subroutine f_xxx_get_attr(handle, keyval, val, flag, ierror) bind(C)
    integer(c_int), value :: handle, keyval
    integer(c_intptr_t) :: val
    integer(c_int) :: flag, ierror
    logical :: found
    found = .false.
    call MPI_Xxx_get_attr(xxx_of(handle), keyval, val, found, ierror)
    flag = merge(1, 0, found)
  end subroutine

  subroutine f_xxx_delete_attr(handle, keyval, ierror) bind(C)
    integer(c_int), value :: handle, keyval
    integer(c_int) :: ierror
    call MPI_Xxx_delete_attr(xxx_of(handle), keyval, ierror)
  end subroutine

  subroutine f_xxx_free(handle, ierror) bind(C)
    integer(c_int) :: handle, ierror
    xxx_t :: object
    object = xxx_of(handle)
    call MPI_Xxx_free(object, ierror)
    handle = number_of(object)
  end subroutine
!@

!@
  subroutine f_xxx_dup(handle, duplicate, ierror) bind(C) ! kinds: comm type
    integer(c_int), value :: handle
    integer(c_int) :: duplicate, ierror
    xxx_t :: object
    call MPI_Xxx_dup(xxx_of(handle), object, ierror)
    duplicate = number_of(object)
  end subroutine
!@

#if FACE == 3
  ! A key's whole life, by calls without ierror, which is optional in mpi_f08.
  subroutine f_without_ierror(handle, val, keyval, seen_val, flag) bind(C)
    integer(c_int), value :: handle
    integer(c_intptr_t), value :: val
    integer(c_int) :: keyval, flag
    integer(c_intptr_t) :: seen_val
    logical :: found
    type(MPI_Comm) :: duplicate
    found = .false.
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_c_intptr_t)
    call MPI_Comm_set_attr(MPI_Comm(handle), keyval, val)
    call MPI_Comm_dup(MPI_Comm(handle), duplicate)
    call MPI_Comm_get_attr(duplicate, keyval, seen_val, found)
    call MPI_Comm_free(duplicate)
    call MPI_Comm_delete_attr(MPI_Comm(handle), keyval)
    call MPI_Comm_free_keyval(keyval)
    flag = merge(1, 0, found)
  end subroutine
#endif

  ! MPI-1's, which mpi_f08 doesn't have.
#if FACE != 3
  ! which: as above.
  subroutine f_keyval_create(which, keyval, extra, ierror) bind(C)
    integer(c_int), value :: which, extra
    integer(c_int) :: keyval, ierror
    if (which == 0) then
      call MPI_Keyval_create(copy_mpi1, delete_mpi1, keyval, extra, ierror)
    else
      call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, keyval, extra, ierror)
    end if
  end subroutine

  subroutine f_keyval_free(keyval, ierror) bind(C)
    integer(c_int) :: keyval, ierror
    call MPI_Keyval_free(keyval, ierror)
  end subroutine

  subroutine f_attr_put(handle, keyval, val, ierror) bind(C)
    integer(c_int), value :: handle, keyval, val
    integer(c_int) :: ierror
    call MPI_Attr_put(handle, keyval, val, ierror)
  end subroutine

  subroutine f_attr_get(handle, keyval, val, flag, ierror) bind(C)
    integer(c_int), value :: handle, keyval
    integer(c_int) :: val, flag, ierror
    logical :: found
    found = .false.
    call MPI_Attr_get(handle, keyval, val, found, ierror)
    flag = merge(1, 0, found)
  end subroutine

  subroutine f_attr_delete(handle, keyval, ierror) bind(C)
    integer(c_int), value :: handle, keyval
    integer(c_int) :: ierror
    call MPI_Attr_delete(handle, keyval, ierror)
  end subroutine
#endif
end module
