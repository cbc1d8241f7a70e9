#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""stand_in.py [-|NAME] ARGUMENT...: a launcher that can't be had here, parsing its command line as its manual says.

It starts the ranks of an MPICH program one by one on this machine with none of our environment but what NAME's would
pass on: what env(1) before the program sets, or what the launcher's own options say. As NAME it takes the name that it
was started by. Unknown options are refused.
"""

import os
import subprocess
import sys

# Options with the number of words that they take, by what tools/run/README.md says that they are known from.
OPTIONS = {
    "flux": "-n 1 --ntasks 1 -N 1 --nodes 1 -c 1 -o 1 --setopt 1 -l 0 --label-io 0 -u 0 --env 1 --env-remove 1 -x 0 --exclusive 0 -t 1 -v 0 --cwd 1 --dry-run 0",
    "aprun": "-n 1 -N 1 -d 1 -e 1 -L 1 -cc 1 -S 1 -b 0 -q 0 -ss 0 -j 1 -D 1 -B 0 -T 0 --pes 1 --quiet 0 --wdir 1",
    "jsrun": "-n 1 --nrs 1 -a 1 -c 1 -g 1 -b 1 -E 1 -D 1 -r 1 -d 1 -i 0 --np 1 -p 1 -h 1 -X 1 -V 0",
    "ibrun": "-n 1 -o 1 -np 1",
    "mpirun_rsh": "-np 1 -n 1 -hostfile 1 -rsh 0 -ssh 0 -debug 0 -export 0 -export-all 0 -sg 1 -config 1",
    "mpiexec": "-n 1 -np 1 --np 1 --ppn 1 -d 1 --depth 1 --cpu-bind 1 --env 1 --envnone 0 --envall 0 --hosts 1 -l 0 --label 0 --no-abort-on-failure 0 --include-tasks 1 --unheard-of 0",
}
COUNTS = ("-n", "-np", "--np", "--ntasks", "--nrs", "-p", "--pes")


def fail(text):
    sys.exit("stand-in: " + text)


def taken(name, words):
    """(ranks, what the environment is to have, the program and its arguments) of one program."""
    known = OPTIONS[name].split()
    known = dict(zip(known[::2], map(int, known[1::2])))
    ranks, environment, at, hosts = 1, {}, 0, "mpirun_rsh" == name
    if name == "flux":
        if words[:1] != ["run"]:
            fail("flux " + " ".join(words[:1]))
        at = 1
    while at < len(words) and words[at].startswith("-"):
        option, equals, value = words[at].partition("=")
        if option not in known:
            fail("unknown option " + words[at])
        if not equals and known[option]:
            at += 1
            value = words[at]
        at += 1
        if option in COUNTS:
            ranks = int(value)
        if option == "-hostfile":
            hosts = False
        if option == "-config":
            return 0, {}, [word for line in open(value) for word in line.replace(" : ", " ").split() + [":"]][:-1]
        if option == "--env" and name == "mpiexec" and "=" not in value:
            environment[value] = words[at]
            at += 1
        elif option in ("-e", "-E", "--env") and "=" in value:
            environment.update([value.split("=", 1)])
    if hosts and "=" not in words[at]:
        at += ranks
    while name == "mpirun_rsh" and "=" in words[at]:
        environment.update([words[at].split("=", 1)])
        at += 1
    return ranks, environment, words[at:]


def main():
    name = os.path.basename(sys.argv[0])
    words, parts = sys.argv[1:], [[]]
    if os.environ.get("LD_PRELOAD"):
        fail("the launcher is preloaded")
    for word in words:
        if word == ":":
            parts.append([])
        else:
            parts[-1].append(word)
    command = ["mpirun.mpich", "-genvnone"]
    for number, part in enumerate(parts):
        ranks, environment, program = taken(name, part)
        command += [":"] if number else []
        command += ["-n", str(ranks)] if ranks else []
        for pair in list(environment.items()) + [("UCX_LOG_LEVEL", "fatal")] if ranks else []:
            command += ["-env"] + list(pair)
        command += program
    sys.exit(subprocess.run(command).returncode)


main()
