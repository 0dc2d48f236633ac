#!/bin/sh
# stop_slurm.sh DIR: ends what start_slurm.sh started there, by the ids that it left.
dir=$1
SLURM_CONF="$dir/slurm.conf" scancel --me 2>/dev/null
for file in "$dir"/run/slurmd-*.pid "$dir/run/slurmctld.pid" "$dir/run/munged.pid"; do
  [ -f "$file" ] && kill -9 "$(cat "$file")" 2>/dev/null
done
true
