# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs the command, hears of its ranks, and says at the end which of them were served."""

import os

import collector
import counting
import launchers
import main
import ranks
import reports
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


def say_count(command, library, hellos, spawned):
    """Whether all ranks were served; if not, it says so. One of whom each rank has one of its own sees no more."""
    count = counting.Count(hellos, spawned)
    mine = ranks.mine()
    if mine:
        count.ranks = 1 + count.spawned_unheard
    line = counting.text(count, command, library, None if count.complete() else reason(command))
    if line and mine and not count.served and not count.declined:
        line = "not served" + line.partition(":")[1] + line.partition(":")[2]
    if line:
        say((ranks.mark() + ": " if mine else "") + line)
    return not line


def run(here, command, wanted, library):
    wants = reports.Reports(here, wanted)
    # One that was started under another one leaves the count and the reports to that.
    mine = "ATTRCACHE_LAUNCHER" not in os.environ
    heard = collector.Collector(spool()) if mine else None
    if mine:
        os.environ["ATTRCACHE_LAUNCHER"] = heard.setting()
        wants.settings(wanted)
    given = launchers.Given(command.words, library, settings())
    words = launchers.made(command, given)
    preload = os.environ.pop("LD_PRELOAD", None) if command.launcher < 0 else None
    if not mine and not given.files:
        os.execvpe(words[0], words, supervising.environment(preload))
    ended = supervising.run(words, preload, heard.start if mine else lambda: None)
    for file in given.files:
        os.unlink(file)
    if mine:
        messages = heard.end()
        hellos = [message for message in messages if message.what == "hello"]
        documents = [message for message in messages if message.what == "report"]
        if wants.any and ranks.mine():
            ranks.bring_together(wants, documents)
        elif wants.any:
            wants.make([message.body for message in documents], spool())
            wants.tell_missing(hellos, documents)
        spawned = [message for message in messages if message.what == "spawned"]
        if not say_count(command, library, hellos, spawned) and wanted.require_served_ and ended.code == 0:
            ended.code = main.UNSERVED
    ended.pass_on()
