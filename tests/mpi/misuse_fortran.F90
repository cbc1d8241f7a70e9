! SPDX-License-Identifier: Apache-2.0 OR MIT
!
! Misuse from Fortran that ATTRCACHE_CHECK=1 warns of; like misuse.c, it prints what it expects.

module misuse
  use mpi
  implicit none
  integer :: comm, error, checks = 0
  integer(MPI_ADDRESS_KIND) :: value
  logical :: flag
contains

subroutine expect(sort, function)
  character(*), intent(in) :: sort, function
  print '(4a)', 'expect ', sort, ' __misuse_MOD_', function
end subroutine

! An attribute that doesn't fit an INTEGER, and one that does, read by MPI-1's function.
subroutine cut()
  integer(MPI_ADDRESS_KIND) :: big
  integer :: keyval, got, i
  big = 0
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, big, error)
  do i = 1, 2
    big = 2_MPI_ADDRESS_KIND**40 + 5
    if (i == 2) big = -6
    call MPI_Comm_set_attr(comm, keyval, big, error)
    got = 0
    call MPI_Attr_get(comm, keyval, got, flag, error)
    if (flag .and. got == merge(5, -6, i == 1)) checks = checks + 1
  end do
  call expect('truncated', 'cut')
  call MPI_Comm_delete_attr(comm, keyval, error)
  call MPI_Comm_free_keyval(keyval, error)
end subroutine

subroutine use_stale()
  integer :: keyval, stale, i
  call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, keyval, 0, error)
  stale = keyval
  call MPI_Keyval_free(keyval, error)
  do i = 1, 2
    call MPI_Comm_get_attr(comm, stale, value, flag, error)
    if (error /= MPI_SUCCESS) checks = checks + 1
  end do
  call expect('stale-keyval', 'use_stale')
  call MPI_Keyval_free(stale, error)
  call expect('freed-twice', 'use_stale')
  call MPI_Attr_delete(comm, MPI_TAG_UB, error)
  call expect('predefined', 'use_stale')
  call MPI_Comm_get_attr(MPI_COMM_SELF, MPI_TAG_UB, value, flag, error)
  if (.not. flag) call expect('not-on-this-one', 'use_stale')
end subroutine

subroutine copy_without_flag(comm, keyval, extra, in, out, flag, error)
  integer :: comm, keyval, error
  integer(MPI_ADDRESS_KIND) :: extra, in, out
  logical :: flag
  error = MPI_SUCCESS
end subroutine

subroutine copy_without_value(comm, keyval, extra, in, out, flag, error)
  integer :: comm, keyval, error
  integer(MPI_ADDRESS_KIND) :: extra, in, out
  logical :: flag
  flag = .true.
  error = MPI_SUCCESS
end subroutine

subroutine copy_old_without_flag(comm, keyval, extra, in, out, flag, error)
  integer :: comm, keyval, extra, in, out, error
  logical :: flag
  error = MPI_SUCCESS
end subroutine

! Correct; stores what it gets as extra_state.
subroutine copy_right(comm, keyval, extra, in, out, flag, error)
  integer :: comm, keyval, error
  integer(MPI_ADDRESS_KIND) :: extra, in, out
  logical :: flag
  extra = extra + 1
  out = in + extra
  flag = .true.
  error = MPI_SUCCESS
end subroutine

subroutine delete_with_bad_code(comm, keyval, value, extra, error)
  integer :: comm, keyval, error
  integer(MPI_ADDRESS_KIND) :: value, extra
  error = -99
end subroutine

subroutine copy_all()
  integer :: keyvals(4), dup, i
  value = 100
  call MPI_Comm_create_keyval(copy_without_flag, MPI_COMM_NULL_DELETE_FN, keyvals(1), value, error)
  call MPI_Comm_create_keyval(copy_without_value, MPI_COMM_NULL_DELETE_FN, keyvals(2), value, error)
  call MPI_Comm_create_keyval(copy_right, MPI_COMM_NULL_DELETE_FN, keyvals(3), value, error)
  call MPI_Keyval_create(copy_old_without_flag, MPI_NULL_DELETE_FN, keyvals(4), 7, error)
  value = 1000
  do i = 1, 4
    call MPI_Comm_set_attr(comm, keyvals(i), value, error)
  end do
  do i = 1, 2
    call MPI_Comm_dup(comm, dup, error)
    call MPI_Comm_get_attr(dup, keyvals(1), value, flag, error)
    if (.not. flag) checks = checks + 1
    call MPI_Comm_get_attr(dup, keyvals(2), value, flag, error)
    if (flag .and. value == 0) checks = checks + 1
    call MPI_Comm_get_attr(dup, keyvals(3), value, flag, error)
    if (flag .and. value == 1100 + i) checks = checks + 1
    call MPI_Comm_get_attr(dup, keyvals(4), value, flag, error)
    if (.not. flag) checks = checks + 1
    call MPI_Comm_free(dup, error)
  end do
  call expect('flag-not-set', 'copy_without_flag')
  call expect('value-not-set', 'copy_without_value')
  call expect('flag-not-set', 'copy_old_without_flag')
  do i = 1, 4
    call MPI_Comm_delete_attr(comm, keyvals(i), error)
    call MPI_Comm_free_keyval(keyvals(i), error)
  end do
end subroutine

subroutine fail()
  integer :: keyval, type, i
  value = 0
  call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_with_bad_code, keyval, value, error)
  do i = 1, 2
    call MPI_Type_contiguous(2, MPI_INTEGER, type, error)
    call MPI_Type_set_attr(type, keyval, value, error)
    call MPI_Type_free(type, error)
    if (error == MPI_SUCCESS) checks = checks + 1
  end do
  call expect('callback-code', 'delete_with_bad_code')
  call MPI_Type_free_keyval(keyval, error)
end subroutine

end module

program misuse_fortran
  use misuse
  implicit none
  integer :: rank
  integer, parameter :: all_checks = 2 + 2 + 8 + 2
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  call cut()
  call use_stale()
  call copy_all()
  call fail()
  if (checks == all_checks) then
    print '("rank ", i0, ": ", i0, " checks passed")', rank, checks
  else
    print '("rank ", i0, ": FAILED: ", i0, " of ", i0)', rank, checks, all_checks
  end if
  call MPI_Comm_free(comm, error)
  call MPI_Finalize(error)
end program
