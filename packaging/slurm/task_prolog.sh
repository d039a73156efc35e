#!/bin/sh
# Slurm's TaskProlog for a site that has haichi under every MPI program: what it prints becomes the
# environment of each task (slurm.conf(5)). Which MPI that is tells the module that the user loaded;
# with none that is known here nothing is preloaded. A user goes without by HAICHI_DISABLE=1.
set -eu
[ -z "${HAICHI_DISABLE-}" ] || exit 0
home=$(cd "$(dirname "$(readlink -f "$0")")/../../../lib/haichi" && pwd) || exit 0

case ":${LOADEDMODULES-}" in
  *:openmpi/* | *:openmpi | *:openmpi:*) shim=$home/lib/libhaichi-openmpi.so ;;
  *:mpich/* | *:mpich | *:mpich:* | *:mvapich/* | *:intel-mpi/*) shim=$home/lib/libhaichi-mpich.so ;;
  *) exit 0 ;;
esac
[ -r "$shim" ] || exit 0

case ":${LD_PRELOAD-}" in *libhaichi-*) exit 0 ;; esac # the user's own choice
echo "export LD_PRELOAD=$shim${LD_PRELOAD:+:$LD_PRELOAD}"
# What /etc/haichi.toml and the user's haichi.toml say, which a shim alone does not read.
"$home/bin/haichi" config --env | sed 's/^/export /'
