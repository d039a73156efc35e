#!/bin/sh
# What a new user types once haichi is installed; the folder with first.c and first.f90 is $1, and
# what the way of installing leaves out comes behind it. `haichi` is on the path. Stops at the first
# command that fails.
set -eu
sources=$1
shift
has() { case " $without " in *" $1 "*) false ;; esac; }
without="$*"
cd "$(mktemp -d)"

haichi --version
haichi --help | grep -q 'mpiexec -n 16 haichi run'
haichi config | grep -q io.order
if haichi has-no-such-command 2>said; then exit 1; fi
grep -q "no command 'has-no-such-command'" said

for mpi in mpich openmpi; do
  launch="mpiexec.$mpi -n 4"
  [ $mpi = mpich ] || launch="$launch --oversubscribe"
  mpicc.$mpi -o first-c "$sources/first.c"
  mpif90.$mpi -o first-f "$sources/first.f90"
  for program in first-c first-f; do
    rm -f data report.json
    HAICHI_REPORT=report.json $launch haichi run ./$program data >said
    grep -qx ' *right' said
    haichi report report.json | grep -q 'MPI_File_write_at_all'
    haichi report report.json --html page.html
    grep -q '</html>' page.html
    haichi explain report.json >/dev/null
    echo "$mpi, $program: right, with a report"
  done
  if has where; then $launch haichi where | grep -q '4 ranks'; fi
done
haichi compare --repetitions 1 -- mpiexec.openmpi -n 4 --oversubscribe ./first-c data |
  grep -q 'er in collective file access'
haichi simulate --help >/dev/null
if has manual; then man haichi | grep -q unmodified; fi
bash -c '. "$1"; COMP_WORDS=(haichi ru) COMP_CWORD=1; _haichi; [ "${COMPREPLY[*]}" = run ]' bash \
  "$(dirname "$(readlink -f "$(command -v haichi)")")/../share/bash-completion/completions/haichi"
echo "all of first.sh passed"
