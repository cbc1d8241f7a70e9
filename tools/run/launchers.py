# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How launchers get the settings into the environment of the ranks.

Open MPI's and MPICH's launchers have an option for that. Under srun, whatever its options export, env(1) sets them and
starts the program, whose place among the words is found from the options. Nothing but the secret is set in the environment
of the launcher itself, nor of anything else that it starts (task prologs). Any other launcher must start attrcache-run for
each rank, which always works.

Every user of a host can read all command lines. So the secret stays in the environment, and is passed on by its name.
"""

import os
import re
import shutil

import trust
import which_mpi
from words import contents, die

# srun's options whose value, if any, isn't the next word; that of all others is. (Slurm's sources have a table of them.)
SRUN_FLAGS = set(
    "async bcast compress consolidate-segments contiguous debugger-test disable-status exact exclusive external "
    "external-launcher get-user-env help hold immediate interactive kill-on-bad-exit label multi-prog nice "
    "no-allocate no-kill oom-kill-step overcommit overlap oversubscribe parsable preserve-env propagate pty quiet "
    "quit-on-interrupt reboot resv-ports send-libs share spread-job spread-segments stepmgr test-only unbuffered "
    "usage use-min-nodes verbose version wait-for-children whole x11".split()
)
# Likewise its options of one letter, which may be joined.
SRUN_LETTERS = "EHIKOQVXZhklsuv"


def words_of(option, value):
    """The number of words of an option of srun's; its value may be the next word. An option that isn't known here, of
    another version or abbreviated, has no value if an MPI program follows."""
    name = option.lstrip("-")
    if option.startswith("--"):
        if "=" in option or name in SRUN_FLAGS:
            return 1
    elif name.lstrip(SRUN_LETTERS) == "" or len(name.lstrip(SRUN_LETTERS)) > 1:
        return 1
    return 1 if is_mpi_program(value) else 2


def program_of(words, at):
    """The place of the program among srun's arguments, from `at` on; the number of words if there is none."""
    while at < len(words):
        if words[at] == "--":
            return at + 1
        if not words[at].startswith("-") or words[at] == "-":
            return at
        at += words_of(words[at], words[at + 1] if at + 1 < len(words) else "")
    return at


def is_mpi_program(word):
    path = which_mpi.real_path(word)
    return bool(path and os.path.isfile(path) and which_mpi.linked_mpi(path))


# Open MPI's own list of settings for the ranks' environment, and its options that name a file of parameters.
LIST = "mca_base_env_list"
TUNES = ("-tune", "--tune")
SECRET = "ATTRCACHE_LAUNCHER"
CONTAINERS = ("apptainer", "singularity")
# Launchers whose ranks run after the launcher has ended.
LATER = ("sbatch", "qsub", "bsub", "flux batch", "flux submit", "flux bulksubmit")


def after(preloaded, library):
    """Appends to LD_PRELOAD: tools that wrap MPI's functions stay in front, but for the library of an attrcache-run around
    this one, which may be that of another MPI."""
    others = [one for one in re.split("[: ]", preloaded) if not re.fullmatch(r"(.*/)?libattrcache_\w+\.so", one)]
    return ":".join(filter(None, others + [library]))


class Given:
    """The settings for the ranks' environment."""

    def __init__(self, words, library, settings):
        self.library = library
        # The prefixes of variables that get into a container even with --cleanenv.
        self.prefixes = {name.upper() + "ENV_" for name in CONTAINERS for word in words if os.path.basename(word) == name}
        self.settings = settings
        secret = [value for name, value in settings if name == SECRET]
        self.secrets = [prefix + SECRET for prefix in ["", *sorted(self.prefixes)] if secret]
        os.environ.update(dict.fromkeys(self.secrets, *secret))
        self.preload = after(os.environ.get("LD_PRELOAD", ""), library)
        self.files = []  # to be removed when the command has ended

    def public(self):
        made = ["LD_PRELOAD=" + self.preload] + [name + "=" + value for name, value in self.settings if name != SECRET]
        return made + [prefix + setting for prefix in sorted(self.prefixes) for setting in made]

    def all(self):
        """NAME=VALUE, or the name alone of what the launcher takes from its environment."""
        return self.public() + self.secrets

    def list(self):
        return ";".join(self.all())

    def temporary(self, lines):
        """A file for the launcher, where nobody else can replace it by commands of theirs. Raises OSError."""
        import tempfile  # takes as long as all other imports together

        text = "".join(line + "\n" for line in lines)
        for place in (None, "/tmp", os.getcwd()):
            file = tempfile.NamedTemporaryFile("w", prefix=".attrcache-tmp.", dir=place, delete=False)
            with file:
                file.write(text)
            if not trust.others(file.name):
                self.files.append(file.name)
                return file.name
            os.unlink(file.name)
        die("there is no folder for a temporary file into which nobody else may write: set TMPDIR to one")


def preloading(words, launcher, given):
    """The command, with the library added to what its own words preload."""
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
                given.preload = after(value, given.library)  # the launcher's, which ranks would inherit
            else:
                word = "LD_PRELOAD=" + after(value, given.library)
        made.append(word)
        before, last = last, word
    return made


def by_env(words, given):
    """The arguments of srun, with env before each program."""
    exported = [re.search(r"(?:^|[=,])LD_PRELOAD=([^,]+)", word) for word in words]
    theirs = [found.group(1) for found in exported if found]
    if theirs:
        given.preload = after(theirs[-1], given.library)
    env = ["/usr/bin/env"] + given.public()
    if os.environ.get("SLURM_EXPORT_ENV"):
        os.environ["SLURM_EXPORT_ENV"] = exporting(os.environ["SLURM_EXPORT_ENV"], given)
    made, at = [], 0
    while at < len(words):
        program = program_of(words, at)
        end = words.index(":", program) if ":" in words[program:] else len(words)
        options, rest = words[at:program], words[program:end]
        for i, word in enumerate(options):
            if word.startswith("--export="):
                options[i] = "--export=" + exporting(word[len("--export=") :], given)
            elif i and options[i - 1] == "--export":
                options[i] = exporting(word, given)
        if rest and "--multi-prog" in options:
            rest[0] = lines_by_env(rest[0], env, given)
        elif rest:
            # As the launcher would find it: env may have another PATH.
            found = shutil.which(rest[0]) if "/" not in rest[0] else None
            rest = env + [found or rest[0]] + rest[1:]
        made += options + rest + words[end : end + 1]
        at = end + 1
    return made


def exporting(exported, given):
    """What srun exports, with the secret."""
    if "ALL" in exported.upper().split(","):
        return exported
    return ",".join(([] if exported.upper() in ("NONE", "NIL") else [exported]) + given.secrets)


def lines_by_env(name, env, given):
    """A copy of a --multi-prog file with env before the program of each line. The words stay as they are."""
    lines = [line.split() for line in contents(name).replace("\\\n", " ").splitlines()]
    if not lines:
        return name
    return given.temporary(
        " ".join(words if not words or words[0].startswith("#") else words[:1] + env + words[1:]) for words in lines
    )


def by_option(mpi, launcher, words, given):
    """The arguments of Open MPI's or MPICH's launcher."""
    passed = []
    for setting in given.all():
        name, is_public, value = setting.partition("=")
        if mpi == "openmpi":
            passed += ["-x", setting]
        elif is_public:
            passed += ["-genv", name, value]
    if mpi != "openmpi":
        words = by_list(words, given)
        # Unless this says "all", only what lists name is passed on.
        if os.environ.get("HYDRA_ENV", "all") != "all" and not any(re.match("--?genvlist", word) for word in words):
            passed += ["-genvlist", ",".join(given.secrets)]
        return passed + words
    # Open MPI takes -x or a list of its own, but not both.
    theirs = os.environ.get("OMPI_MCA_" + LIST) or configured_list(launcher)
    for option, name in zip(words, words[1:]):
        if option in TUNES and LIST in contents(name):
            die("%s names %s: write mpirun ... attrcache-run ./program" % (name, LIST))
    if theirs or LIST in words:
        passed = []
        if theirs:
            os.environ["OMPI_MCA_" + LIST] = theirs + ";" + given.list()
    made, last = list(passed), ""
    for word in words:
        if last == LIST:
            word += ";" + given.list()
        elif last in ("-app", "--app") and passed:
            word = openmpi_file(word, given)
        made.append(word)
        if word == ":":  # for each program of an MPMD command line
            made += passed
        last = word
    return made


def by_list(words, given):
    """The arguments of Hydra, which passes its whole environment on, and so the secret, unless they list what to pass, or
    nothing: then the secret is added. (Hydra takes only one list for all programs, and one for each, which replaces that.)"""
    made, last, options, secrets = [], "", True, given.secrets
    # Of a list, Hydra 4.0 doesn't find what stands last in the environment. Shells let that be this one.
    os.environ["_"] = os.environ.pop("_", "")
    for word in words:
        if word == ":":
            options = True
        elif shutil.which(word) and (not last.startswith("-") or is_mpi_program(word)):
            options = False  # the program begins
        told = re.fullmatch("(--?g?env)(?:none|list=(.+))", word)
        file = re.fullmatch("--?configfile=(.+)", word if "=" in word else last + "=" + word)
        if options and told:
            made += [told.group(1) + "list", ",".join(list(filter(None, told.groups()[1:])) + secrets)]
        elif options and re.fullmatch("--?g?envlist", last):
            made.append(",".join([word] + secrets))
        elif options and file and re.search("--?g?env(list|none)", contents(file.group(1))):
            lines = [by_list(line.split(), given) for line in contents(file.group(1)).splitlines()]
            made.append(word[: -len(file.group(1))] + given.temporary(" ".join(line) for line in lines))
        else:
            made.append(word)
        last = word
    return made


def configured_list(launcher):
    """The list that a site's or user's configuration of Open MPI has for ranks; "" if none."""
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which(launcher) or launcher)))
    folders = [os.path.expanduser("~/.openmpi"), os.environ.get("OPAL_PREFIX", prefix) + "/etc", "/etc/openmpi"]
    for folder in folders:
        for name in ("mca-params.conf", "openmpi-mca-params.conf"):
            found = re.search(r"^\s*%s\s*=\s*(.*?)\s*$" % LIST, contents(os.path.join(folder, name)), re.MULTILINE)
            if found:
                return found.group(1)
    return ""


def openmpi_file(name, given):
    """A copy of a file of command lines for Open MPI's launcher, with -x in each; all values but the first are in the
    launcher's environment."""
    lines = contents(name).splitlines()
    if not lines:
        return name
    os.environ.update(given.settings)
    names = [given.all()[0]] + [name for name, _ in given.settings]
    prefix = "".join("-x " + name + " " for name in names)
    return given.temporary(
        line if re.match(r"\s*(#|$)", line) else prefix + line for line in lines
    )


def openmpi_is_4():
    """Whether it is version 4: version 5's launcher is linked with none of Open MPI's libraries."""
    path = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    return path is None or "libopen-rte" in which_mpi.libraries_of(path)


def by_environment(mpi, given):
    """For commands that start launchers themselves: a script, make. MPICH's launchers export everything, srun what its
    options say, and Open MPI's what its lists name. Open MPI 4 refuses the first list together with -x, which the script
    may use, but not the internal list, which version 5 doesn't know."""
    os.environ.update(given.settings)
    os.environ["LD_PRELOAD"] = given.preload
    told = os.environ.get("SLURM_EXPORT_ENV")
    if told and exporting(told, given) != told:
        os.environ["SLURM_EXPORT_ENV"] = ",".join([exporting(told, given)] + given.public())
    if mpi == "openmpi":
        name = "OMPI_MCA_" + LIST
        theirs = os.environ.get(name) or configured_list("mpirun.openmpi" if shutil.which("mpirun.openmpi") else "mpirun")
        if not theirs and openmpi_is_4():
            name += "_internal"
            theirs = os.environ.get(name)
        os.environ[name] = (theirs + ";" if theirs else "") + given.list()


def made(command, given):
    """The command to run. Changes our environment, which the command inherits."""
    words = preloading(command.words, command.launcher, given)
    at = command.launcher + 1
    if command.launcher < 0:
        by_environment(command.mpi, given)
        return words
    if command.is_srun:
        return words[:at] + by_env(words[at:], given)
    return words[:at] + by_option(command.mpi, words[command.launcher], words[at:], given)
