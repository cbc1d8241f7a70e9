# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs the command, hears of its ranks, and says at the end which of them were served."""

import os

import collector
import counting
import launchers
import main
import ranks
import supervising
import which_mpi
from words import say


def spool():
    """A folder that other hosts are likely to see."""
    for folder in (os.getcwd(), os.environ.get("HOME", "")):
        if folder and os.access(folder, os.W_OK):
            return folder
    return ""


def settings():
    """What is set of what the ranks are told."""
    names = ["ATTRCACHE_" + name for name in main.SETTINGS]
    return [(name, os.environ[name]) for name in names if os.environ.get(name)]


def reason(command):
    """What is known of the program that keeps it from being served."""
    for word in command.words[command.launcher + 1 :] if command.launcher >= 0 else command.words[:1]:
        path = which_mpi.real_path(word)
        why = path and os.path.isfile(path) and which_mpi.out_of_reach(path)
        if why:
            return "%s %s" % (word, why)
    return None


def run(here, command, wanted, library):
    # One that was started under another one leaves the count to that.
    mine = "ATTRCACHE_LAUNCHER" not in os.environ
    heard = collector.Collector(spool()) if mine else None
    if mine:
        os.environ["ATTRCACHE_LAUNCHER"] = heard.setting()
    given = launchers.Given(library, settings())
    words = launchers.made(command, given)
    if not mine and not given.files:
        os.execvp(words[0], words)
    preloaded = os.environ.pop("LD_PRELOAD", None) if command.launcher < 0 else None
    ended = supervising.run(words, preloaded, heard.start if mine else lambda: None)
    for file in given.files:
        os.unlink(file)
    if mine:
        messages = heard.end()
        count = counting.Count([message for message in messages if message.what == "hello"])
        line = counting.text(count, command, library, reason(command) if not count.complete() else None)
        if line:
            mark = ranks.mark()
            say((mark + ": " if mark else "") + line)
            if wanted.require_served_ and ended.code == 0:
                ended.code = main.UNSERVED
    ended.pass_on()
