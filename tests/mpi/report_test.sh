#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# report_test.sh MPI RUN LIBRARY REPORT CHECK PROGRAM...
#
# attrcache-run --report and --trace under MPI. REPORT (report.c): CHECK (report_check.py) compares the report with what
# the program does. The other PROGRAMs must pass as they do without a report.

set -u

source tests/mpi/environment.sh
mpi=$1 run=$(readlink -f -- "$2") library=$3 program=$(readlink -f -- "$4") check=$(readlink -f -- "$5")
shift 5
served_by "$library"
unset ATTRCACHE_REPORT ATTRCACHE_TRACE
mpirun=mpirun.$(mpi_of "$mpi")
# Open MPI deletes MPI_COMM_WORLD's attributes up to version 4.
on_world="MPI_Finalize will delete" not_freed=" so far, and MPI_Finalize has callbacks yet to run"
case $("$mpirun" --version 2>&1) in
  *"(Open MPI) "[1-4].*) ;;
  *"(Open MPI) "*)
    on_world="Open MPI never deletes" not_freed=", so delete_fn never ran"
    export REPORT_ON_WORLD=kept
    ;;
esac

programs=()
for other in "$@"; do programs+=("$(readlink -f -- "$other")"); done
root=$PWD
cd "$TMPDIR" || exit 1

launch() { # ARGUMENT... of attrcache-run; the output is in $output
  output=$(timeout -k 5 300 "$run" "$@" 2>&1 </dev/null)
}
expect() { # WHAT FILE RANKS
  python3 "$check" "$1" "$2" "$3" "$(basename "$program")" || fail "$1, $3 ranks"
}
holds() { # WHAT FILE [ARGUMENT...]; on standard input, in Python, what is true of the file's content, `found`
  python3 -c 'import json, sys
found = json.load(open(sys.argv[1]))
exec(sys.stdin.read())' "${@:2}" || fail "$1: $output"
}

# Numbers, in JSON and as text; traces. Relative names are relative to where the launcher is run.
for np in 1 2 4; do
  launch --report --report=all.$np.json --report=all.$np.txt --report=all.$np.html --trace=all.$np.trace \
    "$mpirun" -np $np "$program" everything
  expect everything all.$np.json $np
  expect trace all.$np.trace $np
  grep -q '<section id="timeline">' all.$np.html || fail "page"
  has "the attributes of $np rank"
  has "no successful MPI_Comm_free$not_freed"
  has "on MPI_COMM_WORLD: $on_world"
  # But for the times, stderr and the file say the same.
  diff <(grep -c . <<<"$output") <(grep -c . all.$np.txt) || fail "text on stderr and in a file differ"
done

# Compared with an earlier run's report, at once and later; below the text, or else on standard error.
launch --report=compared.html --compare=all.2.json --trace=compared.trace --report=compared.json \
  "$mpirun" -np 4 "$program" everything
has "attrcache: compared with all.2.json, 2 ranks"
has "  ranks: 2 then, 4 now"
grep -q '<section id="changes">' compared.html || fail "no changes in the page"
launch --from compared.json --report=later.txt --compare all.4.json
grep -q "^attrcache: compared with all.4.json, 4 ranks" later.txt && [[ $output != *"compared with"* ]] || fail "$output"

# With ATTRCACHE_CHECK=1, numbers and names are the same. ATTRCACHE_VERBOSE counts the same sets.
ATTRCACHE_CHECK=1 ATTRCACHE_VERBOSE=1 launch --report=checked.json "$mpirun" -np 2 "$program" everything
expect everything checked.json 2
has "warning: "
told=$(sed -n 's/^attrcache\[.* \([0-9]*\) sets, .*/\1/p' <<<"$output" | awk '{ n += $1 } END { print n }')
sets=$(python3 -c 'import json; print(sum(k["sets"] for k in json.load(open("checked.json"))["sum"]["keyvals"]))')
[ "$told" = "$sets" ] || fail "ATTRCACHE_VERBOSE tells $told sets, and the report $sets"
grep -q '"checked": true' checked.json && grep -q '"checked": false' all.1.json || fail "checked"

# More ranks than are printed in a line each.
launch --report "$mpirun" -np 9 "$program" nothing
has "0 (rank 0)"
has "10 (rank 8)"

# Communicators that leak, without any attribute.
launch --report --report=leaks.json "$mpirun" -np 2 "$program" leaks
has "200 of 200 communicators made at report: by_dup"
has "No keyval was made, but 600 communicators (200 freed)."
has "Alive at once in one process, at most: 201 communicators."
holds leaks leaks.json <<'END'
made = found["sum"]["made"]
assert sorted((one["made"], one["freed"]) for one in made) == [(200, 0), (200, 0), (200, 200)], made
END

# One that a failed free has kept is among them.
launch --report "$mpirun" -np 1 "$program" kept
[[ $output == *$'freed\n'* ]] || has "1 of 1 communicator made at report: kept"
launch --compare=leaks.json "$mpirun" -np 2 "$program" nothing
has "communicators, made at report: by_dup"

# A module that leaves things behind and is unloaded: another library that lands there isn't blamed.
module=$(dirname "$program")/unloaded_module
cp "$module" another
for checks in 0 1; do
  ATTRCACHE_CHECK=$checks launch --report --report=unloaded.json "$mpirun" -np 1 "$(dirname "$program")/unloaded" "$module" "$PWD/another"
  has "the same place"
  [[ $output != *another[:+]* ]] || fail "another is blamed: $output"
  holds unloaded unloaded.json "library that was unloaded since, $module" <<'END'
found = found["sum"]
places = [place for one in found["keyvals"] for place in one["leaked_at"]]
places += [one["place"] for one in found["made"]]
places += [place for one in found["misuse"].values() for place in one["places"]]
assert len(places) == 4 and {one["library"] for one in found["keyvals"]} == {"unloaded_module"}, found
assert all(place.startswith(sys.argv[2]) for place in places), places
END
done
has "(file, keyval 1073741828, made there), at library that was unloaded since, $module"

# Without ATTRCACHE_CHECK, too, a keyval that is freed twice while it is in use is misuse.
launch --report "$mpirun" -np 2 "$program" twice
has "2 x freed-twice, at report: "

# Ranks that never touch an attribute take part.
launch --report=nothing.json "$mpirun" -np 3 "$program" nothing
expect nothing nothing.json 3
[ -z "$output" ] || fail "not silent: $output"
ATTRCACHE_TRACE_SLOW=1000000 launch --report=forked.json --trace=forked.trace "$mpirun" -np 2 "$program" forked
expect nothing forked.json 2
[ "$(grep -o '"name": "delete_plain"' forked.trace | wc -l)" = 5 ] || fail "trace of a process with a child"
# More objects left behind than are listed one by one; MPI_INT, which can't be freed.
launch --report --report=many.json "$mpirun" -np 2 "$program" many
[ "$mpi" = mpich ] || not_freed=", so delete_fn never ran"  # no attribute of MPI_INT's is deleted
has "attributes of report: delete_type: no successful MPI_Type_free$not_freed"
has "on MPI_INT: "
holds many many.json "$(mpi_of "$mpi")" <<'END'
for part, ranks in [(found["sum"], 2)] + [(part, 1) for part in found["per_rank"]]:
    assert sum(a["attributes"] for a in part["attached"]) == 1201 * ranks, part
    assert 1000 <= len(part["attached"]) <= 1003, len(part["attached"])
    assert sum(o["made"] - o["freed"] for o in part["made"]) == 1200 * ranks, part
    assert {o["kind"] for o in part["made"]} == {"datatype"}, part
    names = {a["object"]: a for a in part["attached"]}
    assert "(others)" in names and part["keyvals"][0]["attached"] == 1201 * ranks
    assert sum(name.startswith('type "') and name.endswith('" \ufffd\\x01\\') for name in names) >= 999
    predefined = names["MPI_INT"]
    assert predefined["deleted_by_finalize"] == (sys.argv[2] == "mpich"), predefined
END
# A process without a launcher; and without attrcache-run, which later makes a report of the folder's content.
launch --report=single.json "$program" nothing
expect nothing single.json 1
so=$("$run" --mpi "$(interposer_of "$mpi")" --print)
mkdir left
output=$(LD_PRELOAD=$so ATTRCACHE_REPORT=left "$program" nothing 2>&1)
[ -z "$output" ] || fail "not silent: $output"
launch --from left --report=later.json
expect nothing later.json 1

# A failure in MPI_Finalize doesn't hide the report, nor the report the failure.
launch --mpi "$(interposer_of "$mpi")" "$program" failing
expected=$output
launch --report --mpi "$(interposer_of "$mpi")" "$program" failing
has "$expected"
has "from MPI_Init to MPI_Finalize"
has "delete_failing_once: the last with code"

# Without MPI_Finalize. At least one rank calls exit(); launchers may end the others first.
launch --report --report=exit.json --trace=exit.trace "$mpirun" -np 2 "$program" exit
expect exit exit.json 2
has "MPI_Finalize was not called on "
# What was counted until MPI_Abort, or until a signal ended the process, isn't lost.
launch --report --report=abort.json "$mpirun" -np 2 "$program" abort
expect exit abort.json 2
has "Partial, since they were still running, ended from outside, or aborted: "
launch --report=terminated.json --mpi "$(interposer_of "$mpi")" "$program" terminated
[ $? = 143 ] || fail "exit code of a terminated process"
expect exit terminated.json 1
# Nor is what was counted until it was killed. Slow operations are events, and on a busy machine any may be slow; here
# only callbacks are to be.
ATTRCACHE_TRACE_SLOW=1000000 launch --report --report=killed.json --trace=killed.trace --mpi "$(interposer_of "$mpi")" "$program" killed
[ $? = 137 ] || fail "exit code of a killed process"
has "the report has what was counted until the end of rank 0 on "
has "No callback failed, no misuse."
expect exit killed.json 1
[ "$(grep -o '"name": "delete_plain"' killed.trace | wc -l)" = 5 ] || fail "trace of a killed process"
# quick_exit hands nothing over: of what is left, nothing is claimed.
launch --report --mpi "$(interposer_of "$mpi")" "$program" quick
[ $? = 3 ] || fail "exit code of quick_exit"
has "the report has what was counted until the end of rank 0 on "
has "What they have left behind isn't known for certain."
has "No callback failed, no misuse."
[[ $output != *"Nothing is left behind"* ]] || fail "quick_exit: $output"
# A signal to a running process writes a report up to now, here to a pipe; the end writes the whole one.
mkfifo now.json
coproc waiting { exec "$run" --report=now.json --mpi "$(interposer_of "$mpi")" "$program" waits; }
end=${waiting[1]}
read -r line <&"${waiting[0]}"
kill -URG "$waiting_PID"
cat now.json >first.json
exec {end}>&-
cat now.json >last.json
wait "$waiting_PID"
expect now first.json 1
expect nothing last.json 1
# Deletions that a set and a delete leave to another thread's dup are counted.
launch --report=handed.json "$mpirun" -np 2 "$program" handed
expect handed handed.json 2
# No data at all is no empty report.
launch --report --mpi "$(interposer_of "$mpi")" true
has "attrcache-run: no report: no rank has handed anything over"
# File names may contain any characters.
mkdir 'co:lon'
launch --report='co:lon/a b.txt' --report='co:lon/c:d.json' "$program" nothing
expect nothing 'co:lon/c:d.json' 1
[ -f 'co:lon/a b.txt' ] && [ ! -e lon ] && [ ! -e d.json ] || fail "names with colons"
[ -z "$(find . -name '.attrcache*')" ] || fail "left: $(find . -name '.attrcache*')"

# A rank that isn't served doesn't hold up the others for long.
several=("$mpirun" -np 1 "$program" nothing : -np 1 "$program" nothing)
if ! peer_bug "$(mpi_of "$mpi")" "mpirun of several programs does not run them" timeout 60 "${several[@]}"; then
  launch --report=some.json "$mpirun" -np 1 "$program" everything : -np 1 env -u LD_PRELOAD "$program" nothing
  holds "an unserved rank" some.json <<'END'
assert found["ranks"] == 2 and found["ranks_heard_of"] == 1, found
assert [part["rank"] for part in found["per_rank"]] == [0], found
END
fi

# Bounded memory: two events are kept, and the file says that others were dropped.
ATTRCACHE_TRACE_EVENTS=2 launch --trace=short.trace "$mpirun" -np 1 "$program" everything
holds "dropped events" short.trace <<'END'
events = found["traceEvents"]
assert sum(e["ph"] == "X" for e in events) == 2, events
assert [e["args"]["dropped_events"] > 400 for e in events if e["name"] == "process_name"] == [True]
END
# Every operation, when none is too quick.
ATTRCACHE_TRACE_SLOW=0 launch --trace=long.trace "$mpirun" -np 1 "$program" everything
holds "all operations" long.trace <<'END'
names = [e["name"] for e in found["traceEvents"] if e.get("cat") == "operation"]
expected = {"set": 516, "delete": 506, "free_keyval": 1030}
assert {name: names.count(name) for name in expected} == expected, names
assert names.count("dup") >= 4 and names.count("free") >= 10, names
END

# If the report can't be written, a message says so, and the program goes on.
ATTRCACHE_REPORT=/no/such/folder launch --mpi "$(interposer_of "$mpi")" "$mpirun" -np 1 "$program" nothing
has "can't hand its part of the report over: /no/such/folder: No such file"
# What the ranks have handed over isn't lost with the report.
# One line has the command that makes it: elsewhere, and wherever that is run.
mkdir home && ln -s /dev/full full.json
HOME=$PWD/home launch --report=full.json --compare=all.2.json "$mpirun" -np 2 "$program" nothing
has "can't write $PWD/full.json: No space left on device"
has "what the ranks have handed over is kept; on $(hostname) this makes it: "
output=$(cd / && eval "${output##* this makes it: }" 2>&1)
has "compared with $PWD/all.2.json"
expect nothing home/full.json 2
rm -r full.json .attrcache-run.*
# A disk that is full from the beginning has room for nothing; what is kept elsewhere says what to make of it.
if mkdir small && mount -t tmpfs -o size=8k tmpfs small 2>/dev/null; then
  head -c 8192 /dev/zero >small/zero 2>/dev/null
  (cd small && HOME=$PWD launch --report=r.json "$mpirun" -np 2 "$program" nothing && printf '%s' "$output") >said
  output=$(<said)
  has "can't write $PWD/small/r.json: No space left on device"
  output=$(cd / && eval "${output##* this makes it: }" 2>&1)
  moved=$(find "$TMPDIR" /dev/shm -maxdepth 1 -name r.json)
  expect nothing "$moved" 2
  rm "$moved" && umount small
fi
# What can't be written is noticed before the run.
launch --report=/proc/r.txt "$program" nothing
[ $? = 2 ] && [[ $output == *"--report=/proc/r.txt can't be written: "* ]] || fail "$output"
# What was left is listed, and removed on request.
mkdir listed && cp -R left listed/.attrcache-run.1 && chmod 700 listed/.attrcache-run.1
echo "{'words': ['./a b'], 'options': ['--text', '-'], 'targets': []}" >listed/.attrcache-run.1/owner
output=$(cd listed && "$run" --left 2>&1)
has "'./a b'"
command=$(tail -n 1 <<<"$output")
output=$(cd / && eval "$command" 2>&1)
has "the attributes of 1 rank"
(cd listed && "$run" --remove-left >/dev/null && [ -z "$(ls -A)" ]) || fail "--remove-left"
ATTRCACHE_TRACE_SLOW=often launch --report --trace=often.trace "$mpirun" -np 1 "$program" nothing
has "ATTRCACHE_TRACE_SLOW=often: not a number"
has "the attributes of 1 rank"

# Names as separate arguments, and with the job's and the process's number. (Open MPI 6 would ask Slurm for its hosts.)
SLURM_JOB_ID=77 PRTE_MCA_ras=^slurm launch --report %j.html --trace %j.%p.trace "$mpirun" -np 1 "$program" nothing
[ -f 77.html ] && [ "$(find . -name '77.[0-9]*.trace' | wc -l)" = 1 ] || fail "names: $output"
has "should the job be ended before the report is there, on $(hostname) this makes it: "

# An MPI that is opened late; tools in front that may wrap what is counted.
opened=$(dirname "$program")/opened_late
launch --report=late.json "$mpirun" -np 2 "$opened" "$(dirname "$program")/opened_module"
holds "opened late" late.json <<'END'
assert [(k["created"], k["library"]) for k in found["sum"]["keyvals"]] == [(2, "opened_module")], found
END
# What isn't served since a tool wraps it is said, and counts as such.
for tool in tool tool_for_attributes; do
  LD_PRELOAD=$(dirname "$program")/$tool launch --report=tool.json --require-served "$mpirun" -np 2 "${programs[0]}"
  case "$tool $?" in
    tool\ 0) expected="^tool: 0 sets" unserved=0 ;;
    *\ 97) expected="^tool: [1-9]" unserved=2 && has "served 2 of 2 ranks, but not their communicators" ;;
  esac
  [ "$(grep -c "$expected" <<<"$output")" = 2 ] && [ "$(grep -c 'checks passed$' <<<"$output")" = 2 ] || fail "$tool: $output"
  holds "$tool: report" tool.json $unserved <<'END'
report, unserved = found["sum"], int(sys.argv[2])
assert report["not_served"]["communicator"] == unserved and len(report["keyvals"]) == (unserved == 0), report
END
done
# Sessions: no rank, and no MPI_Finalize.
if [ "$mpi" = mpich ]; then
  launch --report=sessions.json "$mpirun" -np 1 "$(dirname "$program")/init" session
  [ -f sessions.json ] || fail "sessions: $output"
fi

# Other programs pass as they do without a report.
for other in ${programs[@]+"${programs[@]}"}; do
  case $other in *.py) command=(/usr/bin/python3 "$other") ;; *) command=("$other") ;; esac
  launch --report=other.json --report=other.html --trace=other.trace "$mpirun" -np 2 "${command[@]}"
  [ "$(grep -c '^rank [0-9]*: \([0-9]* checks passed\|done\)$' <<<"$output")" = 2 ] || fail "$other: $output"
  [[ -s other.html && -s other.trace && $output != *FAILED* ]] || fail "$other: $output"
  holds "$other: no report" other.json "$(basename "$other")" <<'END'
assert found["ranks_heard_of"] == 2, found
assert sum(k["created"] for k in found["sum"]["keyvals"]) > 0, found
for keyval in found["sum"]["keyvals"]:
    assert "attrcache" not in keyval["library"], keyval
    if sys.argv[2].endswith(".py"):  # named by Python's functions, with lines
        assert keyval["library"] + ": " + keyval["function"] in keyval["made_at"], keyval
        assert (keyval["library"], keyval["named_by"]) == (sys.argv[2], "caller"), keyval
        assert keyval["made_at"].endswith(")") and sys.argv[2] + ":" in keyval["made_at"], keyval
END
  rm -f other.json
done

# So do checks of tools/check-mpi, in each language.
code=0
(cd "$root" && check_mpi "$mpi" --mpirun "$run --report=$TMPDIR/checks.json $mpirun -np 2" --only keyvals \
  --only f-dup-comm-mpifh --only f-dup-type-f08 --only reentrance --only storm-same-key-comm --only first-touch-type) \
  >checks.log 2>&1 || code=$?
[ "$code" = 0 ] && grep -q '^implied: \([0-9]*\) of \1 pass' checks.log || fail "checks: $(cat checks.log)"
python3 -c 'import json; assert json.load(open("checks.json"))["ranks_heard_of"] == 2' || fail "checks: no report"

[ "$failures" = 0 ] && echo "passed: $mpi, reports and traces"
exit "$((failures != 0))"
