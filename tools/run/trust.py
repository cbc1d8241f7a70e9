# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Who may have written what we run, load or have loaded: nobody but root, this user, and who owns attrcache-run itself."""

import os
import stat


def is_private(group):
    """Whether a group is that of this user alone, as many systems make one for each user, whose files are open to it."""
    import grp
    import pwd

    try:
        user, of = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return group == user.pw_gid and of.gr_name == user.pw_name and set(of.gr_mem) <= {user.pw_name}


def has_list(path):
    """Whether an access control list lets further users in. What these may do at most is then shown as the group's."""
    try:
        return "system.posix_acl_access" in os.listxattr(path)
    except OSError:
        return False


def others(path):
    """The file, or the link to it, or a folder above these, that another user may have written to; None if there is none. In
    a folder like /tmp (sticky), nobody replaces what belongs to somebody else."""
    while os.path.islink(path):
        folder = os.path.dirname(os.path.abspath(path))
        written = path if os.lstat(path).st_uid not in owners() else written_from(folder, True)
        if written:
            return written
        path = os.path.join(folder, os.readlink(path))
    return written_from(path, False)


def code():
    """Our own. Who may write to it needs nothing else."""
    return os.stat(os.path.dirname(os.path.realpath(__file__)))


def owners():
    return 0, os.geteuid(), code().st_uid


def written_from(path, is_above):
    """The same for a path on which links count for nothing. `is_above`: it is a folder above what is looked at."""
    path, group = os.path.realpath(path), code()
    while True:
        there = os.stat(path)
        writers = there.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        is_sticky = is_above and there.st_mode & stat.S_ISVTX
        ours = there.st_gid == group.st_gid and writers & group.st_mode or is_private(there.st_gid)
        if writers == stat.S_IWGRP and ours and not has_list(path):
            writers = 0
        if there.st_uid not in owners() or writers and not is_sticky:
            return path
        if path == "/":
            return None
        path, is_above = os.path.dirname(path), True


def cached(what):
    """A folder for what is to be found again, such as Python's bytecode, which nobody else can write to: "" if there is none.
    Root has none: what HOME and XDG_CACHE_HOME say may come from another user."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.environ.get("HOME", "") + "/.cache"
    if os.geteuid() == 0 or not cache.startswith("/"):
        return ""
    try:
        folder = os.path.realpath(cache)
        for name in ("", "attrcache", what):
            folder = os.path.join(folder, name) if name else folder
            if name and not os.path.lexists(folder):
                os.mkdir(folder, 0o700)
            there = os.lstat(folder)
            if not stat.S_ISDIR(there.st_mode) or others(folder):
                return ""
        return folder if not there.st_mode & 0o077 else ""
    except OSError:
        return ""
