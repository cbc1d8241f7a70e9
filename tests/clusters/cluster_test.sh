#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# cluster_test.sh RUN LIBRARIES OPENMPI-PROGRAM MPICH-PROGRAM: attrcache-run on several hosts (hosts.sh), by ssh and by
# Slurm. Prints a row for each question, and finally how many passed. LIBRARIES is a folder.

set -u
source "$(dirname -- "$0")/hosts.sh"
isolate "$0" "$@"
shared=$CLUSTER_FOLDER/work
mkdir -p "$shared/lib"
cp -L "$2"/libattrcache_*.so "$shared/lib/"
cp -L "$3" "$shared/openmpi"
cp -L "$4" "$shared/mpich"
tools=$(dirname -- "$(readlink -f -- "$1")")
cp -RL "$tools"/{run,report,attrcache-run} "$shared/"
run=$shared/attrcache-run
export ATTRCACHE_LIBDIR=$shared/lib HOME=/root
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe UCX_LOG_LEVEL=fatal
# UCX, below MPICH, keeps SIGHUP from ending a rank, as if somebody wanted to debug it.
export UCX_DEBUG_SIGNO=0
unset LD_PRELOAD ATTRCACHE_LAUNCHER ATTRCACHE_VERBOSE
make_hosts || exit 1
cd "$shared" || exit 1

passed=0 failed=0
# The time limit of a command, in seconds. sbatch -W asks after 2, 10, 42 and 102 s whether the job has ended.
limit=300
row() { # GOOD WHAT OUTPUT
  if [ "$1" = yes ]; then
    passed=$((passed + 1))
    echo "  passed  $2"
  else
    failed=$((failed + 1))
    echo "  FAILED  $2"
    sed 's/^/          /' <<<"$3"
  fi
}
# asks WHAT RANKS TEXT COMMAND...: RANKS ranks run, and attrcache-run prints TEXT, or nothing if that is empty.
asks() {
  local what=$1 ranks=$2 text=$3 output good=yes
  shift 3
  output=$(timeout -k 2 "$limit" "$@" 2>&1 </dev/null)
  [ "$(grep -c '^rank [0-9]* of' <<<"$output")" = "$ranks" ] || good=no
  if [ -n "$text" ]; then
    grep -qF "$text" <<<"$output" || good=no
  else
    ! grep -q 'attrcache\|preload' <<<"$output" || good=no
  fi
  row "$good" "$what" "$output"
}

mpich=(mpirun.mpich -hosts nodea,nodeb -np 4 ./mpich)
openmpi=(mpirun.openmpi --host nodea:2,nodeb:2 -np 4)
echo "by ssh, two hosts:"
asks "MPICH" 4 '' "$run" "${mpich[@]}"
asks "Open MPI" 4 '' "$run" "${openmpi[@]}" ./openmpi
asks "Open MPI's launcher in a script (K1)" 4 '' "$run" bash -c '"$@"' sh "${openmpi[@]}" ./openmpi
asks "... whose -x is its own" 4 '' "$run" bash -c '"$@"' sh "${openmpi[@]}" -x A=B ./openmpi
asks "... with a list of the user's" 4 '' env OMPI_MCA_mca_base_env_list=A=B "$run" bash -c '"$@"' sh "${openmpi[@]}" ./openmpi
asks "MPICH's launcher in a script" 4 '' "$run" bash -c '"$@"' sh "${mpich[@]}"
asks "a wrapper for each rank" 4 '' mpirun.mpich -hosts nodea,nodeb -np 4 "$run" ./mpich
asks "the library on one host alone (K4)" 4 'served 2 of 4 ranks; not ranks 1, 3; none on nodeb' \
  "$run" mpirun.mpich -hosts nodea,nodeb -np 4 sh -c '[ "$(hostname)" = nodea ] || unset LD_PRELOAD; exec ./mpich'
asks "ATTRCACHE_VERBOSE says host and rank" 4 ', rank 3 on node' env ATTRCACHE_VERBOSE=1 "$run" "${mpich[@]}"
# Open MPI 5 has nothing for spawned processes of what its command line says of the environment.
unheard="not 2 that MPI_Comm_spawn has started" spawned=
[[ $(mpirun.openmpi --version) == *" 4."* ]] || spawned=$unheard
asks "MPI_Comm_spawn, Open MPI" 4 "$spawned" "$run" "${openmpi[@]:0:4}" 2 ./openmpi spawn
asks "... of processes that are not served" 4 "$unheard" "$run" "${openmpi[@]:0:4}" 2 ./openmpi spawn-bare

# reported WHAT TEXT COMMAND...: a report is written to r.txt, and TEXT is in it or in what attrcache-run prints.
reported() {
  local what=$1 text=$2 output good=yes
  shift 2
  rm -f r.txt
  output=$(timeout -k 2 "$limit" "$@" 2>&1 </dev/null)
  output+=$'\n'$(cat r.txt 2>&1)
  grep -q "$text" <<<"$output" || good=no
  row "$good" "$what" "$output"
}
# stopped WHAT STOP COMMAND...: the same for ranks that sleep, which STOP ends when all run; $pid is the command's, and its
# group's. If there is no report then, one is made of what was left. It must have everything that the ranks have done.
stopped() {
  local what=$1 stop=$2 pid good=yes host
  shift 2
  rm -rf r.txt .attrcache-run.*
  : >output # of the row before
  setsid env --default-signal=INT timeout --foreground -k 60 "$limit" "$@" >output 2>&1 </dev/null &
  pid=$!
  until [ "$(grep -c '^rank ' output)" = 4 ] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  eval "$stop"
  wait "$pid" 2>/dev/null
  [ -e r.txt ] || "$run" --from .attrcache-run.* >>output 2>&1
  grep -q "attributes of 4 rank" r.txt && ! grep 'Heard of' r.txt && grep -q "^ *4 .* [a-z]*: on_delete$" r.txt || good=no
  row "$good" "$what" "$(cat output r.txt 2>&1)"
  for host in "${NODES[@]}"; do ssh "$host" 'pkill -KILL "mpi|orted"'; done
  pkill -KILL '^mpi'
}
echo "reports of two hosts:"
reported "all ranks" 'of 4 ranks of MPICH, from MPI_Init to MPI_Finalize' "$run" --report=r.txt "${mpich[@]}"
reported "Open MPI" 'of 4 ranks of Open MPI, from MPI_Init to MPI_Finalize' "$run" --report=r.txt "${openmpi[@]}" ./openmpi
reported "two ranks not served (K7)" 'Heard of 2 ranks only' "$run" --report=r.txt \
  mpirun.mpich -hosts nodea,nodeb -np 4 sh -c '[ "$(hostname)" = nodea ] || unset LD_PRELOAD; exec ./mpich'
reported "MPI_Abort" 'attributes of' "$run" --report=r.txt "${mpich[@]}" abort
kept() { # WHAT TEXT COMMAND...: the same, from what the command has left; Hydra may lose what was written before an abort
  local what=$1 text=$2
  shift 2
  reported "$what" "$text" sh -c '"$@" 2>&1 | tee said; from=$(sed -n "s/^attrcache-run:.* --from \\([^ ]*\\).*/\\1/p" said)
    [ -n "$from" ] || grep "Abort(" said || from=$(echo .attrcache-run.*)
    "$0" --report=r.txt --from "$from"' "$run" "$@"
  rm -rf .attrcache*
}
kept "... that ends a wrapper for each rank" 'Partial.*3' mpirun.mpich -hosts nodea,nodeb -np 4 "$run" --report=r.txt ./mpich abort
kept "... Open MPI" 'Partial.*3' "${openmpi[@]}" -x ATTRCACHE_LIBDIR "$run" --report=r.txt ./openmpi abort
reported "a killed rank is named (K7)" 'until the end of rank.*3 on nodeb' "$run" --report=r.txt "${mpich[@]}" kill
echo "reports of what is ended from outside:"
for signal in TERM HUP INT KILL; do
  for mpi in mpich openmpi; do
    command=("${mpich[@]}" sleep)
    [ $mpi = mpich ] || command=("${openmpi[@]}" ./openmpi sleep)
    stopped "SIG$signal to attrcache-run, $mpi" "pkill -$signal -f '^/usr/bin/python3.*main.py'" "$run" --report=r.txt "${command[@]}"
    stopped "SIG$signal to its group, $mpi" "kill -$signal -- -\$pid" "$run" --report=r.txt "${command[@]}"
    stopped "SIG$signal to the launcher, $mpi" "pkill -$signal -x mpirun.$mpi" "$run" --report=r.txt "${command[@]}"
    stopped "SIG$signal to a rank, $mpi" "ssh nodeb pkill -$signal -n -x $mpi" "$run" --report=r.txt "${command[@]}"
  done
done
reported "a folder that only the launcher's host sees" 'of 4 ranks of MPICH' \
  sh -c 'mkdir -p /run/only && "$0" --report=/run/only/r.txt "$@" && cp /run/only/r.txt .' "$run" "${mpich[@]}"
reported "a wrapper for each rank: one report (K9)" 'of 4 ranks of MPICH' mpirun.mpich -hosts nodea,nodeb -np 4 "$run" --report=r.txt ./mpich

[ -n "$spawned" ] || reported "spawned worlds are in it" 'of 4 ranks of Open MPI' "$run" --report=r.txt "${openmpi[@]:0:4}" 2 ./openmpi spawn

start_slurm || {
  echo "FAILED: Slurm does not start"
  exit 1
}
echo "by Slurm, two hosts:"
asks "srun" 4 '' "$run" srun -N2 -n4 ./mpich
for export in NONE PATH,HOME ALL ALL,A=B A=B; do
  asks "srun --export=$export (K2)" 4 '' "$run" srun --export="$export" -N2 -n4 ./mpich
  asks "SLURM_EXPORT_ENV=$export" 4 '' env SLURM_EXPORT_ENV="$export" "$run" srun -N2 -n4 ./mpich
done
asks "SLURM_EXPORT_ENV=NONE, srun in a script" 4 "preload" env SLURM_EXPORT_ENV=NONE "$run" sh -c "srun -Q -N2 -n4 ./mpich; :" ./mpich
printf '0-1 ./mpich\n2,3 ./mpich\n' >lines
asks "--multi-prog" 4 '' "$run" srun -N2 -n4 --multi-prog lines
asks "options of other kinds" 4 "" "$run" srun -Q -u --overlap --cpu-bind=none -N 2 -n4 ./mpich
asks "under salloc" 4 '' "$run" salloc -Q -N2 -n4 srun ./mpich
asks "mpirun in an allocation" 4 '' salloc -Q -N2 -n4 "$run" mpirun.mpich ./mpich
asks "a wrapper for each rank" 4 '' srun -N2 -n4 "$run" ./mpich
asks "an unserved host, without an allocation (U6)" 2 'served 1 of 2 ranks; not rank 1; none on nodeb' \
  "$run" --mpi mpich srun -N2 -n2 sh -c '[ "$(hostname)" = nodea ] || unset LD_PRELOAD; exec ./mpich'
asks "a wrapper on a host without the library (U9)" 4 'rank 3 on nodeb: not served: ATTRCACHE_LIBDIR=/nowhere: No such file' \
  srun -N2 -n4 sh -c '[ "$(hostname)" = nodea ] || export ATTRCACHE_LIBDIR=/nowhere; exec "$0" ./mpich' "$run"
asks "an unserved rank of these" 2 'rank 1 on node' srun -N2 -n2 "$run" --mpi mpich sh -c '[ "$SLURM_PROCID" = 0 ] || unset LD_PRELOAD; exec ./mpich'
reported "a wrapper for each rank: one report (K9)" 'of 4 ranks of MPICH' srun -N2 -n4 "$run" --report=r.txt ./mpich
reported "... in a folder that each host has for itself" 'of [123] of 4 ranks nothing has come to /tmp/' \
  srun -N2 -n4 -D /tmp "$run" --report=r.txt "$shared/mpich"
asks "a heterogeneous job" 3 '' "$run" srun -N1 -n1 ./mpich : -N1 -n2 ./mpich
ending() { # COMMAND that ends all jobs...: and waits until they are gone, with what waits for them
  "$@"
  while squeue -h | grep -q .; do sleep 0.1; done
  kill "$pid" 2>/dev/null
}
limited() { scontrol update jobid="$(squeue -h -o %i)" EndTime=now+1seconds; }
endings() {
  local command
  stopped "scancel of srun" 'ending scancel -u root' "$run" --report=r.txt srun -N2 -n4 ./mpich sleep
  stopped "a time limit of srun" 'ending limited' "$run" --report=r.txt srun -N2 -n4 ./mpich sleep
  for command in "$run --report=r.txt srun ./mpich sleep" "$run --report=r.txt mpirun.mpich ./mpich sleep" \
    "$run --report=r.txt mpirun.openmpi ./openmpi sleep" "srun $run --report=r.txt ./mpich sleep"; do
    printf '#!/bin/bash\n%s\necho ended\n' "$command" >job
    stopped "scancel of a script: ${command//"$run"/attrcache-run}" 'ending scancel -u root' \
      sbatch -Q -W -N2 -n4 -o output --open-mode=append job
  done
  stopped "a time limit of a script: the last one" 'ending limited' sbatch -Q -W -N2 -n4 -o output --open-mode=append job
}
endings
printf '#!/bin/sh\nexec %s srun -n4 ./mpich\n' "$run" >job
asks "sbatch" 4 '' sh -c 'sbatch -Q -W -N2 -n4 -o batch.out job >/dev/null; cat batch.out'
printf '#!/bin/sh\nexec %s mpirun.openmpi ./openmpi\n' "$run" >job
asks "Open MPI's launcher in it, with ranks on its own host" 4 '' sh -c 'sbatch -Q -W -N2 -n4 -o openmpi.out job >/dev/null; cat openmpi.out'
asks "sbatch --export=NONE" 4 '' sh -c "sbatch -Q -W --export=NONE -N2 -n4 -o none.out --wrap 'cd $shared; export ATTRCACHE_LIBDIR=$shared/lib; $run srun -n4 ./mpich' >/dev/null; cat none.out"

echo "by Slurm with proctrack/pgid:"
scontrol shutdown
while pgrep -x slurmctld >/dev/null; do sleep 0.1; done
if proctrack=pgid start_slurm; then endings; else row no "Slurm starts" ""; fi

# In containers with this file system, but without the library, which has to be bound in.
echo "containers:"
mkdir -p "$CLUSTER_FOLDER"/{root,image,hidden}
mount --rbind / "$CLUSTER_FOLDER/image"
mount -t tmpfs tmpfs "$CLUSTER_FOLDER/image$shared/lib"
export USER=root
contained=(mpirun.mpich -np 2 ch-run)
if type -P ch-run >/dev/null && ch-run "$CLUSTER_FOLDER/image" true; then
  asks "charliecloud, the library bound in (K3)" 2 '' \
    "$run" --mpi mpich "${contained[@]}" -b "$shared/lib" -c "$shared" "$CLUSTER_FOLDER/image" -- ./mpich
  asks "... not bound in" 2 'served none of 2 ranks' \
    "$run" --mpi mpich "${contained[@]}" -c "$shared" "$CLUSTER_FOLDER/image" -- ./mpich
  asks "... a wrapper for each rank" 2 '' \
    "${contained[@]}" -b "$shared/lib" -c "$shared" "$CLUSTER_FOLDER/image" -- "$run" ./mpich
else
  echo "  left out: charliecloud doesn't run here"
fi
mount -t cgroup2 none /sys/fs/cgroup
podman=(podman run --rm --cgroups=disabled --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --network host
  --workdir "$shared" --tmpfs "$shared/lib:notmpcopyup" --rootfs /:O)
if type -P podman >/dev/null && "${podman[@]}" true 2>/dev/null; then
  inside=(--env LD_PRELOAD --env 'ATTRCACHE_*' --env 'OMPI_*' -v "$shared/lib:$shared/lib")
  asks "podman, the library bound in (K3)" 1 '' "$run" --mpi mpich "${podman[@]:0:2}" "${inside[@]}" \
    "${podman[@]:2:8}" --workdir "$shared" --rootfs /:O ./mpich
  asks "... not bound in" 1 'served no rank' "$run" --mpi mpich "${podman[@]:0:2}" --env LD_PRELOAD --env 'ATTRCACHE_*' \
    "${podman[@]:2}" ./mpich
else
  echo "  left out: podman doesn't run here"
fi

echo "clusters: $passed passed, $failed failed"
exit "$((failed != 0))"
