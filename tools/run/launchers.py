# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How the launchers of programs are told what the ranks are to have in their environment.

Open MPI's and MPICH's own have an option for that. Of all others, whatever their options pass on, the program is
started by env(1), which sets it: where the program stands among their words, is found by their options. Nothing is set
in the environment of the launcher itself, nor of what it starts besides the ranks (task prologs).
"""

import os
import re
import shutil


class Launcher:
    """A launcher's command line.

    flags     its options that take no value as a word of their own; all others do
    letters   likewise those of one letter, which may stand together, unless its options of one dash have names
    pairs     its options whose value, unless it has a =, is two words: NAME VALUE
    many      the word that separates several programs
    file      its option that names a file of such lines; multi-prog says that the program is one
    in_line   where the program stands among the words of such a line; as on the command line if that is None
    hosts     its options that name hosts
    assigns   whether NAME=VALUE may stand before the program
    sub       words of which one comes first: `flux run`
    """

    def __init__(
        self, flags, letters=None, pairs=(), many=None, file=None, in_line=None, hosts=(), assigns=False, sub=()
    ):
        self.flags = set(flags.split())
        self.letters = letters
        self.pairs = pairs
        self.many = many
        self.file = file
        self.in_line = in_line or self.program
        self.hosts = hosts
        self.assigns = assigns
        self.sub = sub

    def _words_of(self, option, value):
        """How many words an option is; its value may be the word behind it. An option that this table doesn't know,
        of another version or cut short, may take none: then an MPI program follows."""
        name = option.lstrip("-")
        if option.startswith("--") or self.letters is None:
            if "=" in option or name in self.flags or re.match(r"-\w\d+$", option):
                return 1
        elif name.lstrip(self.letters) == "" or len(name.lstrip(self.letters)) > 1:
            return 1
        if is_mpi_program(value):
            return 1
        return 3 if name in self.pairs and "=" not in value else 2

    def program(self, words, at=0):
        """The place of the program among the launcher's arguments, from `at` on; their number if there is none."""
        hostless = self.assigns and not any(word in self.hosts for word in words)
        while at < len(words):
            word = words[at]
            if self.assigns and re.match(r"\w+=", word):
                hostless = False  # mpirun_rsh -np 2 NAME=VALUE program: a file of the user's names the hosts
                at += 1
            elif word == "--":
                return at + 1
            elif not word.startswith("-") or word == "-":
                break
            else:
                at += self._words_of(word, words[at + 1] if at + 1 < len(words) else "")
        if hostless and at < len(words):  # mpirun_rsh -np 2 host1 host2 NAME=VALUE program
            at += int(next((words[i + 1] for i, w in enumerate(words[:at]) if w in ("-np", "-n")), 0))
            while at < len(words) and re.match(r"\w+=", words[at]):
                at += 1
        return at


def is_mpi_program(word):
    import which_mpi  # which imports us

    path = which_mpi.real_path(word)
    return bool(path and os.path.isfile(path) and which_mpi.linked_mpi(path))


# What takes no value. README.md says of each where this is known from.
KNOWN = {
    "srun": Launcher(
        "async bcast compress consolidate-segments contiguous debugger-test disable-status exact exclusive external "
        "external-launcher get-user-env help hold immediate interactive kill-on-bad-exit label multi-prog nice "
        "no-allocate no-kill oom-kill-step overcommit overlap oversubscribe parsable preserve-env propagate pty quiet "
        "quit-on-interrupt reboot resv-ports send-libs share spread-job spread-segments stepmgr test-only unbuffered "
        "usage use-min-nodes verbose version wait-for-children whole x11",
        letters="EHIKOQVXZhklsuv",
        many=":",
        file="multi-prog",
        in_line=lambda words: 1,
        hosts=("-w", "--nodelist"),
    ),
    "flux": Launcher(
        "debug-emulate dry dry-run exclusive help jps label-io list-plugins progress quiet unbuffered verbose",
        letters="hluvx",
        sub=("run", "alloc"),
    ),
    "aprun": Launcher(
        "abort-on-failure b B batch-args bypass-app-transfer C h help no-abort-on-failure no-sstartup q quiet reconnect "
        "silent ss sstartup strict-memory-containment sync-output T V version z zone-sort",
        many=":",
        hosts=("-L", "--node-list"),
    ),
    "jsrun": Launcher("help immediate usage version", letters="iV?", many=":"),
    "ibrun": Launcher("h help v"),
    "mpirun_rsh": Launcher(
        "debug dpm export export-all fastssh help legacy rsh show ssh startedByTv tv v xterm",
        file="config",
        in_line=lambda words: words.index(":") + 1 if ":" in words else len(words),
        hosts=("-hostfile", "--hostfile"),
        assigns=True,
    ),
    "pals": Launcher(
        "abort-on-failure envall envnone exclusive genvall genvnone h help l label line-buffer no-abort-on-failure "
        "no-label no-line-buffer no-sstartup no-transfer q quiet shared sstartup transfer V v verbose version",
        pairs=("env", "genv"),
        many=":",
        file="configfile",
        hosts=("-host", "--host", "-hosts", "--hosts"),
    ),
}
CONTAINERS = ("apptainer", "singularity")
# Of which the ranks run when the launcher has ended.
LATER = ("sbatch", "qsub", "bsub", "flux batch", "flux submit", "flux bulksubmit")


def find(word, path):
    """The launcher that a word of the command is, or None."""
    for name in (os.path.basename(word), os.path.basename(path)):
        if name in KNOWN and name != "pals":
            return KNOWN[name]
        # PALS' has the name of everybody's.
        if name in ("mpiexec", "mpirun") and re.search(r"/(cray-)?pals/", path):
            return KNOWN["pals"]
    return None


def after(preloaded, library):
    """What is preloaded already stays in front: tools that wrap MPI's functions."""
    return (preloaded + ":" if preloaded else "") + library


class Given:
    """What the ranks are to have in their environment."""

    def __init__(self, words, library, settings):
        self.library = library
        # What these set in a container whatever else of the environment gets into it (--cleanenv).
        self.prefixes = {name.upper() + "ENV_" for name in CONTAINERS for word in words if os.path.basename(word) == name}
        self.settings = settings
        self.preload = after(os.environ.get("LD_PRELOAD", ""), library)
        self.files = []  # to be taken away when the command has ended

    def all(self):
        made = ["LD_PRELOAD=" + self.preload] + [name + "=" + value for name, value in self.settings]
        return made + [prefix + setting for prefix in sorted(self.prefixes) for setting in made]

    def list(self):
        return ";".join(self.all())

    def temporary(self, lines):
        import tempfile  # takes as long as all others together

        file = tempfile.NamedTemporaryFile("w", prefix="attrcache-run.", delete=False)
        with file:
            file.write("".join(line + "\n" for line in lines))
        self.files.append(file.name)
        return file.name


def preloading(words, launcher, given):
    """The command, with the library also after what its words preload by themselves."""
    made, before, last, in_env = [], "", "", False
    for word in words:
        if word == "env" or word.endswith("/env"):
            in_env = True
        elif not word.startswith("-") and "=" not in word and last != "-u":
            in_env = False
        name, _, value = word.partition("=")
        if (before, last) in (("-env", "LD_PRELOAD"), ("-genv", "LD_PRELOAD")):
            word = after(word, given.library)
        elif last == "-x" and name == "LD_PRELOAD":
            word = "LD_PRELOAD=" + (after(value, given.library) if value else given.preload)
        elif in_env and name == "LD_PRELOAD" and value:
            if len(made) < launcher:
                given.preload = after(value, given.library)  # the launcher's, from which ranks would inherit it
            else:
                word = "LD_PRELOAD=" + after(value, given.library)
        made.append(word)
        before, last = last, word
    return made


def by_env(spec, words, given):
    """The arguments of a launcher, its programs started by env."""
    exported = [re.search(r"(?:^|[=,])LD_PRELOAD=([^,]+)", word) for word in words]
    theirs = [found.group(1) for found in exported if found]
    if theirs:
        given.preload = after(theirs[-1], given.library)
    env = ["/usr/bin/env"] + given.all()
    made, at = [], 0
    if spec.sub:
        while at < len(words) and words[at] in spec.sub:
            made.append(words[at])
            at += 1
    while at < len(words):
        program = spec.program(words, at)
        options, rest = words[at:program], words[program:]
        end = rest.index(spec.many) if spec.many in rest else len(rest)
        files = [i for i, word in enumerate(options) if spec.file and word.lstrip("-") == spec.file]
        if files and spec.file == "multi-prog" and rest:
            rest = [lines_by_env(rest[0], env, given, spec.in_line)] + rest[1:end]
        elif files and spec.file != "multi-prog" and files[0] + 1 < len(options):
            options[files[0] + 1] = lines_by_env(options[files[0] + 1], env, given, spec.in_line)
            rest = rest[:end]
        elif rest[:end]:
            # As the launcher would find it: what env has for a PATH may be another.
            found = shutil.which(rest[0]) if "/" not in rest[0] else None
            rest = env + [found or rest[0]] + rest[1:end]
        made += options + rest
        at = program + end
        if at < len(words):
            made.append(words[at])
            at += 1
    return made


def lines_by_env(name, env, given, program):
    """A file of command lines with env in each, before the program. Their words are left as they stand."""
    try:
        with open(name) as file:
            text = file.read().replace("\\\n", " ")
    except OSError:
        return name
    lines = []
    for line in text.splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            place = program(words)
            line = " ".join(words[:place] + env + words[place:])
        lines.append(line)
    return given.temporary(lines)


def by_option(mpi, words, given):
    """The arguments of Open MPI's or MPICH's launcher."""
    passed = []
    for setting in given.all():
        name, _, value = setting.partition("=")
        passed += ["-x", setting] if mpi == "openmpi" else ["-genv", name, value]
    if mpi != "openmpi":
        return passed + words
    # Open MPI takes -x or a list of its own, but not both.
    theirs = os.environ.get("OMPI_MCA_mca_base_env_list")
    if theirs or "mca_base_env_list" in words:
        passed = []
        if theirs:
            os.environ["OMPI_MCA_mca_base_env_list"] = theirs + ";" + given.list()
    made, last = list(passed), ""
    for word in words:
        if last == "mca_base_env_list":
            word += ";" + given.list()
        elif last in ("-app", "--app") and passed:
            word = openmpi_file(word, given)
        made.append(word)
        if word == ":":  # for each program of an MPMD command line
            made += passed
        last = word
    return made


def openmpi_file(name, given):
    """Command lines for Open MPI's launcher, with -x in each; values but the first are in the launcher's
    environment."""
    try:
        with open(name) as file:
            lines = file.read().split("\n")
    except OSError:
        return name
    os.environ.update(given.settings)
    names = [given.all()[0]] + [name for name, _ in given.settings]
    prefix = "".join("-x " + name + " " for name in names)
    return given.temporary(
        line if re.match(r"\s*(#|$)", line) else prefix + line for line in lines
    )


def openmpi_is_4():
    """Version 5's launcher is linked with none of its libraries."""
    import which_mpi  # which imports us

    path = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    return path is None or "libopen-rte" in which_mpi.libraries_of(path)


def by_environment(mpi, given):
    """For what starts launchers by itself: a script, make. MPICH's pass everything on, Slurm's what it is told, and
    Open MPI's what is in its lists. Of these, version 4 refuses the first one beside -x, which the script may have,
    but not the other one, which version 5 doesn't know."""
    os.environ.update(given.settings)
    os.environ["LD_PRELOAD"] = given.preload
    told = os.environ.get("SLURM_EXPORT_ENV")
    if told and "ALL" not in told.split(","):
        kept = [] if told in ("NONE", "NIL") else [told]
        os.environ["SLURM_EXPORT_ENV"] = ",".join(kept + given.all())
    if mpi == "openmpi":
        name = "OMPI_MCA_mca_base_env_list"
        if name not in os.environ and openmpi_is_4():
            name += "_internal"
        theirs = os.environ.get(name)
        os.environ[name] = (theirs + ";" if theirs else "") + given.list()


def made(command, given):
    """The command to run. Changes our environment, which it inherits."""
    words = preloading(command.words, command.launcher, given)
    at = command.launcher + 1
    if command.launcher < 0:
        by_environment(command.mpi, given)
        return words
    if command.spec:
        return words[:at] + by_env(command.spec, words[at:], given)
    return words[:at] + by_option(command.mpi, words[at:], given)
