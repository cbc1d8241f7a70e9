# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs a command as if it had been started instead of us, and goes on when it has ended."""

import os
import re
import resource
import signal
import subprocess
import time

from words import contents, say

# Signals that users and batch systems send to a launcher. The command gets those of the terminal itself.
FORWARDED = {
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGCONT,
}
# Asks for a report of what was done until now. By default it is ignored, so it does no harm to other processes that get it.
REPORT_NOW = signal.SIGURG
SI_KERNEL = 0x80


class Ended:
    """How a command ended."""

    def __init__(self, code):
        self.code = code

    def pass_on(self):
        """Ends this process in the same way."""
        if self.code >= 0:
            os._exit(self.code)
        number = -self.code
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
        os._exit(128 + number)


def environment(preload):
    return dict(os.environ, **({"LD_PRELOAD": preload} if preload else {}))


class Witness:
    """A process in our group that leaves all its signals pending. A signal that is pending there was sent to the group, so
    the command has got it, too; any other was sent to us alone. The process ends with us."""

    def __init__(self):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/", "env": {}}
        self._process = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, **quiet)

    def has_got(self, number):
        # timeout(1) sends a signal to its child first, and then to the group: this counts as one.
        time.sleep(0.05)
        signal.sigtimedwait({number}, 0)
        found = re.search(r"ShdPnd:\s*(\w+)", contents("/proc/%d/status" % self._process.pid))
        return bool(found and int(found.group(1), 16) >> (number - 1) & 1)

    def end(self):
        self._process.kill()
        self._process.wait()


def run(command, preload, begun, endangered, report_now):
    """Runs it; calls begun() when it has started, endangered() when a signal asks us to end, and report_now() when one
    asks for a report; each may be None. From then on no signal but SIGKILL ends this process until Ended.pass_on(), as
    there is a report to make."""
    awaited = FORWARDED | {signal.SIGCHLD, REPORT_NOW}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    try:
        child = subprocess.Popen(
            command,
            close_fds=False,
            env=environment(preload),
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before),
        )
    except OSError as error:
        say(command[0] + ": " + error.strerror)
        return Ended(127 if isinstance(error, FileNotFoundError) else 126)
    witness = Witness()
    if begun:
        begun()
    while child.poll() is None:
        news = signal.sigwaitinfo(awaited)
        if news.si_signo == REPORT_NOW and report_now:
            report_now()
        if news.si_signo in (signal.SIGCHLD, REPORT_NOW) or news.si_code == SI_KERNEL:
            continue
        if not witness.has_got(news.si_signo):
            child.send_signal(news.si_signo)
        witness.end()
        witness = Witness()
        if endangered and news.si_signo in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            endangered()
    witness.end()
    return Ended(child.returncode)
