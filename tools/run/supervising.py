# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs a command as if it had been started in our place, and goes on when it has ended."""

import os
import resource
import signal
import subprocess

from words import say

# What others send to a launcher. Whatever comes from the terminal, the command has got by itself.
FORWARDED = {
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGCONT,
}
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


def run(command, preload, begun, endangered):
    """Runs it; calls begun() when it has been started, and endangered() when we are asked to end; either may be None."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED | {signal.SIGCHLD})
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
    if begun:
        begun()
    while child.poll() is None:
        news = signal.sigwaitinfo(FORWARDED | {signal.SIGCHLD})
        if news.si_signo != signal.SIGCHLD and news.si_code != SI_KERNEL:
            child.send_signal(news.si_signo)
            if endangered and news.si_signo == signal.SIGTERM:
                endangered()
    # While the report is made, signals mean what they mean to any process.
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return Ended(child.returncode)
