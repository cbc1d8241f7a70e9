# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs the command, collects its ranks' messages, and says at the end which of them were served."""

import os

import collector
import counting
import launchers
import library
import ranks
import reports
import supervising
import which_mpi
from words import say

UNSERVED = 97
# Settings that are passed to the ranks.
SETTINGS = ["VERBOSE", "CHECK", "REPORT", "TRACE", "TRACE_SLOW", "TRACE_EVENTS", "LAUNCHER"]


def settings():
    """The settings for the ranks that our environment has."""
    names = ["ATTRCACHE_" + name for name in SETTINGS]
    return [(name, os.environ[name]) for name in names if os.environ.get(name)]


def reason(command):
    """Why the program can't be served, if that is known."""
    for word in command.words[command.launcher + 1 :] if command.launcher >= 0 else command.words[:1]:
        path = which_mpi.real_path(word)
        why = path and os.path.isfile(path) and which_mpi.out_of_reach(path)
        if why:
            return "%s %s" % (word, why)
    return None


def say_count(command, file, messages, mark, missing, started):
    """Returns whether all ranks were served, and says so if not. If each rank has an attrcache-run of its own (`mark` names
    the rank), this one sees only its own rank, which runs natively if the library is missing."""
    if missing:
        say("%s: not served: %s" % (mark, missing))
        return False
    count = counting.Count(messages, counting.asked_ranks(command))
    if mark:
        count.ranks = 1 + count.spawned_unheard
    line = counting.text(count, command, file, None if count.complete() else reason(command), started)
    if line and mark and not count.served and not count.declined:
        line = "not served" + line.partition(":")[1] + line.partition(":")[2]
    if line:
        say((mark + ": " if mark else "") + line)
    return not line


def run(here, command, wanted, file):
    wants = reports.Reports(here, wanted)
    # A nested attrcache-run leaves the count and the reports to the outermost one.
    outermost = "ATTRCACHE_LAUNCHER" not in os.environ
    rank = ranks.mine(command)
    parts = heard = None
    started = {}  # hosts of launchers that a script starts, by the worlds heard of

    def take(message):
        world = message.fields.get("world", "")
        if command.launcher < 0 and message.number("size") > 1 and world not in started and len(started) < 100:
            started[world] = counting.running(token)
        parts.take(message)

    if outermost:
        token = os.urandom(16).hex()
        parts = ranks.Parts(wants, *rank) if rank else reports.Parts(wants, token)
        heard = collector.Collector(token, parts.folder.path, take, parts.lacking)
        os.environ["ATTRCACHE_LAUNCHER"] = heard.setting()
        wants.settings()
    given = launchers.Given(command.words, file, settings())
    words = launchers.made(command, given)
    preload = os.environ.pop("LD_PRELOAD", None) if command.launcher < 0 else None
    if not outermost and not given.files:
        os.execvpe(words[0], words, supervising.environment(preload))
    asked = (heard.start, parts.endangered, parts.report_now) if outermost else (None, None, None)
    ended = supervising.run(words, preload, *asked)
    for name in given.files:
        try:
            os.unlink(name)
        except OSError:
            pass  # somebody was quicker
    if outermost:
        messages = heard.end()
        missing = None if file else library.missing(here, command.served)
        parts.end(messages, ended)
        all_served = say_count(command, file, messages, rank and ranks.mark(rank), missing, sum(started.values(), []))
        if wanted.require_served_ and not all_served and ended.code == 0:
            ended.code = UNSERVED
    ended.pass_on()
