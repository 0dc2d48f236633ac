#!/bin/sh
# start_slurm.sh DIR NODES PORT: a Slurm of so many one-core nodes on this machine, all daemons the
# caller's, everything below DIR. Prints the path of its slurm.conf; stop_slurm.sh DIR ends it.
# Without accounting, so that what is tested works without.
set -eu
dir=$1; nodes=$2; port=$3
last=$((nodes - 1)); user=$(id -un); host=$(hostname -s)
mkdir -p "$dir/munge" "$dir/state" "$dir/log" "$dir/run"
chmod 700 "$dir/munge"
head -c 1024 /dev/urandom >"$dir/munge/key"
chmod 400 "$dir/munge/key"
munged --force --num-threads=2 --socket="$dir/munge/socket" --key-file="$dir/munge/key" \
  --pid-file="$dir/run/munged.pid" --log-file="$dir/log/munged" --seed-file="$dir/munge/seed"
cat >"$dir/slurm.conf" <<CONF
ClusterName=small
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld
SlurmdLogFile=$dir/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
ReturnToService=2
SlurmdTimeout=5
KillWait=1
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/none
NodeName=n[0-$last] NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1))-$((port + nodes)) CPUs=1 RealMemory=500 State=UNKNOWN
PartitionName=tune Nodes=ALL Default=YES MaxTime=10 State=UP DefMemPerCPU=400
CONF
export SLURM_CONF="$dir/slurm.conf"
slurmctld
for k in $(seq 0 "$last"); do
  mkdir -p "$dir/spool-n$k"
  slurmd -N "n$k"
done
for k in $(seq 100); do
  [ "$(sinfo --noheader --states=idle --format=%D 2>/dev/null)" = "$nodes" ] && break
  sleep 0.1
done
echo "$SLURM_CONF"
