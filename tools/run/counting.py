# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How many ranks were served, and where the others were, as far as that can be known."""

import itertools
import os
import re
import shutil
import subprocess

from words import contents

# Variables in which launchers list the hosts of a job.
NODE_LISTS = ("SLURM_JOB_NODELIST", "SLURM_NODELIST")
NODE_FILES = ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE", "COBALT_NODEFILE", "HYDRA_HOST_FILE")
HOST_OPTIONS = ("-H", "-host", "--host", "-hosts", "--hosts")
SRUN_HOST_OPTIONS = ("-w", "--nodelist")
HOST_FILE_OPTIONS = ("-hostfile", "--hostfile", "-machinefile", "--machinefile", "-f", "-default-hostfile", "--default-hostfile")
LAUNCHERS = re.compile(r"(mpirun|mpiexec|orterun|prterun|prun|srun)(\.\w+)?")
COUNT_OPTIONS = re.compile(r"(?:-n|-np|--np|-c|--n|--ntasks)(?:=(\d+))?|-n(\d+)|--(?:np|ntasks)=(\d+)")


class Count:
    """The result of all messages: the processes' hellos, and how many others they have spawned. `asked` is the number of
    ranks that the launcher was asked for, if it is known."""

    def __init__(self, messages, asked=None):
        hellos = [message for message in messages if message.what == "hello"]
        self.served = [hello for hello in hellos if "declined" not in hello.fields]
        self.declined = [hello for hello in hellos if "declined" in hello.fields]
        self.left = sorted({hello.fields["left"] for hello in self.served if "left" in hello.fields})
        found = worlds(hellos)
        spawned = [size for size, members in found if "spawned" in next(iter(members.values())).fields]
        heard_of = sum(max(size, len(members)) for size, members in found)
        self.spawned_unheard = max(0, sum(int(m.body) for m in messages if m.what == "spawned") - sum(spawned))
        # Ranks that were started one by one, without their launcher, don't know of each other.
        self.ranks = max(heard_of, (asked or 0) + sum(spawned)) + self.spawned_unheard
        self.missing = [absent(size, members) for size, members in found if size > len(members)]

    def complete(self):
        return bool(self.served) and len(self.served) >= self.ranks and not self.left


def absent(size, members, most=8):
    """Which ranks of a world aren't among its members, for a line: the first few, and how many more. (What a message says of
    the size may be anything.)"""
    first = list(itertools.islice((rank for rank in range(size) if rank not in members), most))
    more = size - len(members) - len(first)
    return "rank%s %s%s" % ("s" * (len(first) > 1), ", ".join(map(str, first)), " and %d more" % more if more > 0 else "")


def worlds(hellos):
    """Each MPI_COMM_WORLD as (size, its members' hellos). Where the environment gives a world no name, a rank that
    appears again belongs to the next world of that size: the command has started several, one after the other."""
    found = {}
    for hello in hellos:
        rank, size = hello.number("rank"), hello.number("size")
        copies = found.setdefault((hello.fields.get("world"), size), [])
        for members in copies:
            if rank not in members and size > 1:
                members[rank] = hello
                break
        else:
            copies.append({rank: hello})
    return [(size, members) for (_, size), copies in found.items() for members in copies]


def asked_ranks(command):
    """The number of ranks that the launcher's arguments ask for; None if they don't say."""
    words = command.words[command.launcher + 1 :] if command.launcher >= 0 else []
    total, options = 0, True
    for word, following in zip(words, words[1:] + [""]):
        found = COUNT_OPTIONS.fullmatch(word)
        if word == ":":
            options = True
        elif options and found and not (command.is_srun and word == "-c"):  # there, it counts processors
            number = next((group for group in found.groups() if group), following)
            if not number.isdigit():
                return None
            total += int(number)
        elif options and shutil.which(word):
            options = False  # the program begins: its options aren't the launcher's
    return total or None


def expanded(names):
    """The hosts of a list, with Slurm's brackets expanded."""
    if re.fullmatch(r"[\w.][\w.,-]*\[[\w.,\[\]-]*", names) and shutil.which("scontrol"):  # and no option of its
        told = subprocess.run(
            ["scontrol", "show", "hostnames", names], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ).stdout
        return told.decode().split()
    return [name.split(":")[0] for name in names.split(",") if name and "[" not in name]


def listed(path):
    lines = [line.split("#")[0].split() for line in contents(path).splitlines()]
    return [line[0].split(":")[0] for line in lines if line]


def named(words, is_srun):
    """The hosts that a launcher's arguments name."""
    options = HOST_OPTIONS + (SRUN_HOST_OPTIONS if is_srun else ())
    found = []
    for word, following in zip(words, words[1:] + [""]):
        name, _, value = word.partition("=")
        if name in options:
            found += expanded(value or following)
        elif name in HOST_FILE_OPTIONS:
            found += listed(value or following)
    return found


def processes(token):
    """The command lines of the processes on this host that have `token` in their environment: what the command has started."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % process, "rb") as file:
                is_ours = token.encode() in file.read()
        except OSError:
            continue  # it has ended, or is another user's
        if is_ours:
            yield contents("/proc/%s/cmdline" % process).split("\0")


def running(token):
    """The hosts that are named to launchers which a script has started."""
    found = []
    for launcher, *words in processes(token):
        name = os.path.basename(launcher)
        if LAUNCHERS.fullmatch(name):
            found += named(words, name == "srun")
    return found


def hosts(command, started):
    """The hosts that the command runs on, as far as its words, those of launchers that it has started, or the environment
    say."""
    found = [*started] + (named(command.words[command.launcher + 1 :], command.is_srun) if command.launcher >= 0 else [])
    if not found:
        for name in NODE_LISTS:
            found = found or expanded(os.environ.get(name, ""))
        for name in NODE_FILES:
            found = found or listed(os.environ.get(name, "/dev/null"))
    return list(dict.fromkeys(found))


def names(hosts_, most=8):
    return ", ".join(hosts_[:most]) + (" and %d more" % (len(hosts_) - most) if len(hosts_) > most else "")


def text(count, command, library, reason, started=()):
    """One line about ranks that weren't served; None if all were. `reason`: why the program can't be served, if known;
    `started`: hosts that are named to launchers which the command has started."""
    if count.complete() and not count.declined:
        return None
    here = {hello.fields.get("host", "").split(".")[0] for hello in count.served}
    told = [host for hello in count.served[:1] for host in expanded(hello.fields.get("nodes", ""))]
    missing = [host for host in hosts(command, started) or told if host.split(".")[0] not in here]
    if not count.served and not count.declined:
        line = "served none of %d ranks" % count.ranks if count.ranks > 1 else "served no rank"
        line += ": no process that initializes MPI was heard of"
    else:
        line = "served %d of %d ranks" % (len(count.served), count.ranks)
        if count.missing:
            line += "; not " + " of one run, not ".join(count.missing[:4])
        if missing:
            line += "; none on " + names(missing)
        if count.spawned_unheard:
            line += "; not %d that MPI_Comm_spawn has started" % count.spawned_unheard
        if count.left:
            line += ", but not their %s: a tool in front wraps these functions" % " or ".join(count.left[:4])
    if count.declined:
        said = {(hello.fields["declined"], hello.fields.get("host", "?")) for hello in count.declined}
        return line + "; " + "; ".join("on %s: %s" % (host, why) for why, host in sorted(said)[:4])
    if reason:
        return line + "; " + reason
    if missing and count.served and not count.spawned_unheard and not count.left:
        return line + " (is %s there?)" % library
    if command.launcher < 0 and len(command.words) > 1 and not count.served:
        return line + "; if a launcher is in it, write attrcache-run after that: LAUNCHER ... attrcache-run ./program"
    return line
