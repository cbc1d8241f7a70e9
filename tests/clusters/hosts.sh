# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Makes a cluster of namespaces on this machine: the hosts head (where the test runs), nodea and nodeb, each with a
# network, a name, processes and a /tmp of its own, and a file system that they share. All have sshd; with Slurm there
# is a slurmctld on head, and a slurmd on the others. All of it is removed when the test ends, however it ends. Sourced by
# a script that is run as root.

# Runs the script again in namespaces of its own. Where those aren't allowed, it exits with 77.
isolate() { # SCRIPT ARGUMENT...
  [ -z "${CLUSTER_FOLDER-}" ] || return 0
  [ "$EUID" = 0 ] && unshare --mount --net --pid --uts --fork true 2>/dev/null || {
    echo "left out: making hosts needs root and namespaces"
    exit 77
  }
  local missing=()
  for command in ip sshd munged slurmctld slurmd srun; do
    PATH=$PATH:/usr/sbin type -P "$command" >/dev/null || missing+=("$command")
  done
  [ ${#missing[@]} = 0 ] || {
    echo "left out: no ${missing[*]} (tools/setup --clusters installs them)"
    exit 77
  }
  CLUSTER_FOLDER=$(mktemp -d /var/tmp/attrcache-cluster.XXXXXX)
  export CLUSTER_FOLDER PATH=$PATH:/usr/sbin:/sbin
  chmod 755 "$CLUSTER_FOLDER"
  local status=0
  trap 'kill -KILL "$inside" 2>/dev/null' TERM HUP INT
  unshare --mount --propagation private --net --pid --uts --fork --kill-child --mount-proc bash "$@" &
  inside=$!
  wait "$inside" || status=$?
  rm -rf --one-file-system "$CLUSTER_FOLDER"
  exit "$status"
}

NODES=(nodea nodeb)

make_hosts() {
  local node number=2
  mount -t tmpfs tmpfs /run
  mkdir -p /run/netns /run/sshd /run/munge "$CLUSTER_FOLDER"/{ssh,slurm}
  hostname head
  ip link set lo up
  ip link add bridge type bridge
  ip addr add 10.77.0.1/24 dev bridge
  ip link set bridge up
  {
    echo "127.0.0.1 localhost"
    echo "10.77.0.1 head"
    for node in "${NODES[@]}"; do echo "10.77.0.$((number++)) $node"; done
  } >"$CLUSTER_FOLDER/hosts"
  mount --bind "$CLUSTER_FOLDER/hosts" /etc/hosts
  mkdir -p /root/.ssh
  mount --bind "$CLUSTER_FOLDER/ssh" /root/.ssh
  ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
  ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/host_key
  cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys
  printf 'Host *\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n' >/root/.ssh/config
  chmod -R go= /root/.ssh
  mkdir -p "$CLUSTER_FOLDER/tmp/head"
  chmod 1777 "$CLUSTER_FOLDER/tmp/head"
  mount --bind "$CLUSTER_FOLDER/tmp/head" /tmp
  number=2
  for node in "${NODES[@]}"; do
    ip netns add "$node"
    ip link add "$node" type veth peer name eth0 netns "$node"
    ip link set "$node" master bridge up
    ip -n "$node" addr add "10.77.0.$((number++))/24" dev eth0
    ip -n "$node" link set eth0 up
    ip -n "$node" link set lo up
    mkdir -p "$CLUSTER_FOLDER/tmp/$node"
    start_host "$node"
  done
}

# The host's first process, which reaps orphans; on_host enters it by $CLUSTER_FOLDER/NODE.pid.
start_host() { # NODE
  ip netns exec "$1" unshare --mount --propagation private --uts --pid --fork --kill-child --mount-proc bash -c '
    hostname "$1"
    mount --bind "$CLUSTER_FOLDER/tmp/$1" /tmp
    chmod 1777 /tmp
    "$(type -P sshd)" -o HostKey=/root/.ssh/host_key -o PidFile=none -o UsePAM=no -o StrictModes=no -o AcceptEnv=none \
      -o AuthorizedKeysFile=/root/.ssh/authorized_keys
    sleep infinity & wait' bash "$1" &
  until ssh "$1" true 2>/dev/null; do kill -0 $! || return; done
}

# Munge's key and socket, and Slurm's files, are on the file system that the hosts share.
start_munge() {
  dd if=/dev/urandom of="$CLUSTER_FOLDER/slurm/munge.key" bs=1024 count=1 status=none
  chmod 400 "$CLUSTER_FOLDER/slurm/munge.key"
  munged --force --key-file="$CLUSTER_FOLDER/slurm/munge.key" --socket=/run/munge/munge.socket.2 \
    --pid-file="$CLUSTER_FOLDER/slurm/munged.pid" --log-file="$CLUSTER_FOLDER/slurm/munged.log" \
    --seed-file="$CLUSTER_FOLDER/slurm/munged.seed"
}
start_slurm() { # with $proctrack, or proctrack/linuxproc
  local node
  export SLURM_CONF=$CLUSTER_FOLDER/slurm/slurm.conf
  [ -e "$CLUSTER_FOLDER/slurm/munge.key" ] || start_munge
  cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=head(10.77.0.1)
SlurmUser=root
AuthType=auth/munge
StateSaveLocation=$CLUSTER_FOLDER/slurm/state
SlurmdSpoolDir=$CLUSTER_FOLDER/slurm/spool.%n
SlurmctldPidFile=$CLUSTER_FOLDER/slurm/slurmctld.pid
SlurmdPidFile=$CLUSTER_FOLDER/slurm/slurmd.%n.pid
SlurmctldLogFile=$CLUSTER_FOLDER/slurm/slurmctld.log
SlurmdLogFile=$CLUSTER_FOLDER/slurm/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/${proctrack-linuxproc}
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
KillWait=5
MpiDefault=pmi2
TaskProlog=$CLUSTER_FOLDER/slurm/prolog
$(for node in "${NODES[@]}"; do echo "NodeName=$node NodeAddr=$node CPUs=8 State=UNKNOWN"; done)
PartitionName=all Nodes=$(IFS=, && echo "${NODES[*]}") Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
END
  # Any but the one of what this machine has, which would want systemd: nothing of cgroups is used.
  echo "CgroupPlugin=cgroup/v1" >"$CLUSTER_FOLDER/slurm/cgroup.conf"
  printf '#!/bin/sh\n[ -z "$LD_PRELOAD" ] || echo print the prolog is preloaded\n' >"$CLUSTER_FOLDER/slurm/prolog"
  chmod +x "$CLUSTER_FOLDER/slurm/prolog"
  mkdir -p "$CLUSTER_FOLDER/slurm/state"
  slurmctld -c
  for node in "${NODES[@]}"; do
    mkdir -p "$CLUSTER_FOLDER/slurm/spool.$node"
    ssh "$node" SLURM_CONF="$SLURM_CONF" "$(type -P slurmd)" -N "$node" -f "$SLURM_CONF"
  done
  local tries=0
  until [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = ${#NODES[@]} ]; do
    [ $((tries += 1)) -lt 600 ] || {
      tail -n 5 "$CLUSTER_FOLDER"/slurm/*.log
      return 1
    }
    sleep 0.1
  done
}
