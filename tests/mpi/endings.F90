! SPDX-License-Identifier: Apache-2.0 OR MIT
!
! How attribute calls that fail end in Fortran: endings_fortran CONFIG FIRST; see endings.c.
module callbacks
  use mpi
  implicit none
  integer, parameter :: address = MPI_ADDRESS_KIND
  logical :: fails = .false.
  integer :: calls = 0
contains
  subroutine on_error(comm, code)
    integer :: comm, code
    calls = calls + 1
  end subroutine
  subroutine delete_comm(comm, keyval, value, extra_state, ierror)
    integer :: comm, keyval, ierror
    integer(address) :: value, extra_state
    ierror = merge(77, 0, fails)
  end subroutine
  subroutine copy_comm(comm, keyval, extra_state, value_in, value_out, flag, ierror)
    integer :: comm, keyval, ierror
    integer(address) :: extra_state, value_in, value_out
    logical :: flag
    value_out = value_in
    flag = .true.
    ierror = merge(77, 0, fails)
  end subroutine
  subroutine delete_mpi1(comm, keyval, value, extra_state, ierror)
    integer :: comm, keyval, value, extra_state, ierror
    ierror = merge(77, 0, fails)
  end subroutine
end module

program endings
  use callbacks
  implicit none
  integer, parameter :: unknown = int(z'40000ff0')
  character(64) :: config, argument
  integer :: scenario = 0, wanted, ierr, handler, k, k1, copied, k_type, dup, type, before
  integer(address) :: value, nothing = 0
  logical :: flag

  call get_command_argument(1, config)
  call get_command_argument(2, argument)
  read (argument, *) wanted
  call MPI_Init(ierr)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, k, nothing, ierr)
  call MPI_Comm_create_keyval(copy_comm, MPI_COMM_NULL_DELETE_FN, copied, nothing, ierr)
  call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_comm, k_type, nothing, ierr)
  call MPI_Keyval_create(MPI_NULL_COPY_FN, delete_mpi1, k1, 0, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, before, ierr)
  call MPI_Comm_create_errhandler(on_error, handler, ierr)
  if (index(config, 'return') > 0) handler = MPI_ERRORS_RETURN
  if (index(config, 'world') > 0) call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierr)
  if (index(config, 'self') > 0) call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler, ierr)
  call MPI_Type_contiguous(2, MPI_INTEGER, type, ierr)

  call on_communicator('world', MPI_COMM_WORLD)
  if (index(config, 'none') == 0) then
    call on_communicator('self', MPI_COMM_SELF)
    call on_communicator('before', before)
  end if
  call on_type()
  print '(a,i0)', 'end: all ', scenario
  call MPI_Finalize(ierr)

contains
#define TRY(object, what, statement) if (begin(object, what)) then; statement; call end(); end if

  logical function begin(object, what)
    character(*), intent(in) :: object, what
    scenario = scenario + 1
    begin = scenario > wanted
    if (.not. begin) return
    write (*, '(7a)', advance='no') 'end: ', trim(config), ', ', object, ', ', what, ':'
    flush (6)
    calls = 0
    fails = .true.
    ierr = 0
  end function

  subroutine end()
    integer :: class, ierror
    fails = .false.
    class = ierr
    ! A negative number is no error code, and has no class. The class is printed, as MPICH's codes hold more.
    if (ierr > 77) call MPI_Error_class(ierr, class, ierror)
    print '(a,i0,a,i0,a)', ' returned ', class, ', heard ', calls, ' times'
    flush (6)
  end subroutine

  subroutine on_communicator(object, comm)
    character(*), intent(in) :: object
    integer, intent(in) :: comm
    integer :: number
    TRY(object, 'set unknown', call MPI_Comm_set_attr(comm, unknown, nothing, ierr))
    TRY(object, 'get unknown', call MPI_Comm_get_attr(comm, unknown, value, flag, ierr))
    TRY(object, 'delete unknown', call MPI_Comm_delete_attr(comm, unknown, ierr))
    call MPI_Comm_set_attr(comm, k, nothing, ierr)
    TRY(object, 'failing overwrite', call MPI_Comm_set_attr(comm, k, nothing, ierr))
    TRY(object, 'failing delete', call MPI_Comm_delete_attr(comm, k, ierr))
    call MPI_Comm_get_attr(comm, k, value, flag, ierr)
    print '(a,l1)', 'kept: ', flag
    call MPI_Comm_delete_attr(comm, k, ierr)
    call MPI_Comm_get_attr(comm, k, value, flag, ierr)
    print '(a,l1)', 'gone: ', .not. flag
    TRY(object, 'put unknown', call MPI_Attr_put(comm, unknown, 0, ierr))
    TRY(object, 'get of MPI-1 unknown', call MPI_Attr_get(comm, unknown, number, flag, ierr))
    call MPI_Attr_put(comm, k1, 1, ierr)
    TRY(object, 'failing put', call MPI_Attr_put(comm, k1, 2, ierr))
    TRY(object, 'failing delete of MPI-1', call MPI_Attr_delete(comm, k1, ierr))
    call MPI_Attr_delete(comm, k1, ierr)
    call MPI_Comm_set_attr(comm, copied, nothing, ierr)
    TRY(object, 'failing dup', call MPI_Comm_dup(comm, dup, ierr))
    call MPI_Comm_delete_attr(comm, copied, ierr)
    call MPI_Comm_dup(comm, dup, ierr)
    call MPI_Comm_set_attr(dup, k, nothing, ierr)
    TRY(object, 'failing free', call MPI_Comm_free(dup, ierr))
  end subroutine

  subroutine on_type()
    TRY('type', 'set unknown', call MPI_Type_set_attr(type, unknown, nothing, ierr))
    TRY('type', 'delete unknown', call MPI_Type_delete_attr(type, unknown, ierr))
    call MPI_Type_set_attr(type, k_type, nothing, ierr)
    TRY('type', 'failing overwrite', call MPI_Type_set_attr(type, k_type, nothing, ierr))
    TRY('type', 'failing delete', call MPI_Type_delete_attr(type, k_type, ierr))
    call MPI_Type_delete_attr(type, k_type, ierr)
  end subroutine
end program
