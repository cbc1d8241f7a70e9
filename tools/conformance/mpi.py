# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An MPI: its compilers, its launcher, and what it has."""

import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time


class BadInput(Exception):
    """A mistake in the user's input, in one sentence."""


SESSION = ("MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);"
           " MPI_Group_from_session_pset(s, \"mpi://SELF\", &g);"
           " MPI_Comm_create_from_group(g, \"probe\", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c); MPI_Group_free(&g);")
WELL = " puts(\"probe: well\");"
SESSION_TWICE = ("int i; for (i = 0; i < 2; ++i) { MPI_Session s; MPI_Group g; MPI_Comm c; " + SESSION +
                 " MPI_Comm_free(&c); MPI_Session_finalize(&s); }" + WELL)


def function(name):
    """Finds out whether the MPI has a function that its headers don't declare."""
    return ("extern int %s() __attribute__((weak)); MPI_Init(NULL, NULL); if (%s)%s MPI_Finalize();" % (name, name, WELL))


# What some MPIs lack: name, what is said of an MPI without it, and statements that compile and link only on an MPI that has it.
# If there is a WELL in them, each rank must come to it, too.
FEATURES = {
    "mpi1": ("it has no MPI-1 names",
             "int k; MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &k, 0);"
             " MPI_Attr_put(MPI_COMM_SELF, k, 0); MPI_Attr_delete(MPI_COMM_SELF, k); MPI_Keyval_free(&k); (void)MPI_DUP_FN;"),
    "sessions": ("it has no sessions",
                 "MPI_Session s; MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s); MPI_Session_finalize(&s);"),
    "host": ("it has no MPI_HOST", "int k = MPI_HOST; (void)k;"),
    "win_notification": ("it has none of MPI-5.1's attributes of windows", "int k = MPI_WIN_NOTIFICATION_VALUE_UB; (void)k;"),
    "session_again": ("its second session ends badly, without attributes too", SESSION_TWICE),
    "session_after": ("a session after MPI_Finalize ends badly, without attributes too",
                      "MPI_Init(NULL, NULL); MPI_Finalize(); " + SESSION_TWICE),
    "session_outlives": ("a session that outlives MPI_Finalize ends badly, without attributes too",
                         "MPI_Session s; MPI_Group g; MPI_Comm c; " + SESSION + " MPI_Init(NULL, NULL); MPI_Finalize();"
                         " MPI_Comm_free(&c); MPI_Session_finalize(&s);" + WELL),
    # An MPI's own interface says that it is not the standard ABI of MPI-5.0.
    "standard_abi": ("", "int major = -1, minor; MPI_Abi_get_version(&major, &minor); if (major >= 0)" + WELL),
    "mpix_session": ("it has no attributes on sessions", "MPI_Session s; (void)s; " + function("MPIX_Session_create_keyval")),
    "mpix_file": ("it has no attributes on files", function("MPIX_File_create_keyval")),
    "mpix_if_absent": ("it has no set_attr_if_absent", function("MPIX_Comm_set_attr_if_absent")),
}
FEATURES.update(("mpix_" + kind.lower(), ("its keyvals have no destructors", function("MPIX_%s_create_keyval_once" % kind)))
                for kind in ("Comm", "Win", "Type"))

PROBE = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv) {
  int version, subversion, length, provided, rank, ranks;
  char library[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Get_version(&version, &subversion);
  MPI_Get_library_version(library, &length);
  if (rank == 0) {
    printf("probe: %d.%d|%d|%d|%s\n", version, subversion, ranks,
           provided == MPI_THREAD_MULTIPLE ? 3 : provided == MPI_THREAD_SERIALIZED ? 2 :
           provided == MPI_THREAD_FUNNELED ? 1 : 0, library);
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
"""

LEVELS = ["MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"]


def run(command, seconds, cwd=None, environment=None):
    """(exit code, output, seconds) of a command; the exit code is None if it had to be killed.

    It has a process group of its own, and writes to a file, so that we don't wait for what it leaves behind.
    environment replaces this process's own.
    """
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                   cwd=cwd, env=environment, start_new_session=True)
        code = None
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            # A launcher that is asked to end takes its ranks with it.
            for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
                try:
                    os.killpg(process.pid, number)
                except ProcessLookupError:
                    break
                try:
                    process.wait(timeout=patience)
                    break
                except subprocess.TimeoutExpired:
                    continue
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    return code, text, time.monotonic() - began


def telling_line(text):
    """The most telling line of a compiler's or launcher's output."""
    lines = [line.strip() for line in text.splitlines() if line.strip(" \t-=")]
    for line in lines:
        if re.search(r"\berror\b|cannot|not found|unable|No such", line, re.I):
            return line[:300]
    return lines[-1][:300] if lines else "it said nothing"


class Mpi:
    """Compiles programs in a folder of its own and runs them. It looks only for those FEATURES that are in needs."""

    def __init__(self, arguments, folder, needs):
        self.folder = folder
        self.timeout = arguments.timeout
        self.mpicc = self._words("--mpicc", arguments.mpicc)
        self.mpif90 = self._words("--mpif90", arguments.mpif90) if arguments.mpif90 else None
        self.mpicxx = self._words("--mpicxx", arguments.mpicxx) if arguments.mpicxx else None
        self.mpirun = self._words("--mpirun", arguments.mpirun)
        self.served_by = arguments.served_by
        self._probe()
        self.features = {name for name in needs & set(FEATURES) if self._has(name, FEATURES[name][1])}

    @staticmethod
    def _words(option, value):
        try:
            words = shlex.split(value)
        except ValueError as error:
            raise BadInput("%s: %s: %s" % (option, value, error)) from None
        if not words:
            raise BadInput("%s is empty" % option)
        if shutil.which(words[0]) is None:
            raise BadInput("%s: there is no command %s" % (option, words[0]))
        return words

    def compile(self, compiler, source, output, *flags):
        """Its output if it fails, else None."""
        code, text, _ = run(compiler + ["-O1", "-pthread", *flags, source, "-o", output], 300, self.folder)
        return None if code == 0 and os.path.exists(os.path.join(self.folder, output)) else text or "it says nothing"

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def launch(self, program, seconds=None, **environment):
        """As run, of a program in the folder.

        Each launch has a $TMPDIR of its own, because they run in parallel: when Open MPI's launcher ends, it removes a
        folder there that another one may just have made, and that one then fails to start ("mkdir was unable").
        """
        command = [*self.served_by, *self.mpirun, os.path.join(self.folder, program)]
        # A short name, since there will be sockets in it.
        with tempfile.TemporaryDirectory(prefix="", ignore_cleanup_errors=True) as scratch:
            ended = run(command, seconds or self.timeout, environment={**os.environ, "TMPDIR": scratch, **environment})
        # libfabric's PSM writes a file about each crash of this program into the user's folder.
        for left in glob.glob(glob.escape(program) + ".80s-*.btr"):
            os.remove(left)
        return ended

    def _probe(self):
        wrong = self.compile(self.mpicc, self.write("probe.c", PROBE), "probe")
        if wrong:
            raise BadInput("%s does not compile a small MPI program: %s" % (" ".join(self.mpicc), telling_line(wrong)))
        # The launcher of attrcache may build its library first.
        seconds = 1800 if self.served_by else self.timeout
        code, text, _ = self.launch("probe", seconds=seconds, ATTRCACHE_VERBOSE="1")
        # attrcache's lines may be anywhere within the program's output.
        program = re.sub(r"attrcache\[\d+\]: [^\n]*\n?", "", text)
        line = re.search(r"probe: (\d+)\.(\d+)\|(\d+)\|(\d+)\|(.*)", program)
        command = " ".join([*self.served_by, *self.mpirun])
        if code is None:
            raise BadInput("%s: a small MPI program does not end within %d seconds" % (command, seconds))
        if not line:
            raise BadInput("%s does not run a small MPI program (exit code %d): %s" % (
                command, code, telling_line(text)))
        if self.served_by:
            self._expect_served(text, int(line.group(3)))
        self.version = (int(line.group(1)), int(line.group(2)))
        self.ranks = int(line.group(3))
        self.level = int(line.group(4))
        self.library = " ".join(line.group(5).split())

    @staticmethod
    def _expect_served(text, ranks):
        """Results must not be called served if they are the MPI's own."""
        if len(re.findall(r"attrcache\[\d+\]: serving", text)) < ranks:
            said = [line for line in text.splitlines() if "attrcache" in line]
            raise BadInput("--served: attrcache does not serve this MPI: %s" % (said[0] if said else "it says nothing"))

    def _has(self, name, code):
        text = "#include <mpi.h>\n#include <stdio.h>\nint main(void) { %s return 0; }\n" % code
        source = self.write("has_%s.c" % name, text)
        if self.compile(self.mpicc, source, "has_" + name, "-Wno-deprecated-declarations", "-Werror=implicit-function-declaration"):
            return False
        return WELL not in code or self.launch("has_" + name)[1].count("probe: well") == self.ranks
