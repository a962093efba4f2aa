#!/usr/bin/env bash
# bash tests/training/hosts_test.sh <catena-run> <test_ranks> <folder> <mpirun> <1 if Catena has MPI>
#
# Ranks on two and four hosts, which are network namespaces with host names of their own, joined by a switch that is a namespace with a bridge:
# they start, have the weights of one process, and end with an error when a cable is cut. Needs root, iproute2 and unshare; mpirun if it is there.
set -uo pipefail
run=${1:?} program=${2:?} work=${3:?} mpirun=${4:-} has_mpi=${5:-0}
skip() { echo "-- skipped: $*"; exit 0; }
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
command -v ip > /dev/null || skip "ip was not found (iproute2)"
command -v unshare > /dev/null || skip "unshare was not found (util-linux)"

name=catena$$ net=10.213.$(($$ % 250)) limit_s=60
switch=$name-switch
rm -rf "$work"
mkdir -p "$work"
spaces() { ip netns list 2>/dev/null | awk -v n="$name-" 'index($1, n) == 1 { print $1 }'; }
processes() { for s in $(spaces); do ip netns pids "$s"; done; }
clean_up() {
  for p in $(processes); do kill -KILL "$p" 2>/dev/null; done
  for s in $(spaces); do ip netns delete "$s"; done
}
trap clean_up EXIT
fail() {
  echo "hosts: $*"
  for file in "$work"/out*; do echo "--- $file"; tail -n 20 "$file"; done
  exit 1
}
ip netns add "$switch" 2>/dev/null && ip -n "$switch" link add bridge type bridge 2>/dev/null && ip -n "$switch" link set bridge up ||
  skip "this system makes no network namespaces with a bridge"

export CATENA_DEVICE=cpu OMP_NUM_THREADS=1
# make_host <number>
make_host() {
  local s=$name-$1
  ip netns add "$s" && ip link add eth0 netns "$s" type veth peer name "port$1" netns "$switch" &&
    ip -n "$switch" link set "port$1" master bridge && ip -n "$switch" link set "port$1" up &&
    ip -n "$s" address add "$net.$1/24" dev eth0 && ip -n "$s" link set eth0 up && ip -n "$s" link set lo up || fail "cannot make host $1"
}
cat > "$work/on_host" <<END
#!/bin/sh
# on_host <address> <command>...: runs the command on that host. mpirun gives a command in one argument.
host=\${1##*.}
shift
exec ip netns exec $name-\$host unshare --uts sh -c 'hostname host'\$host'; exec sh -c "\$*"' sh "\$@"
END
chmod +x "$work/on_host"
on_host() { "$work/on_host" "$net.$1" "${@:2}"; }

# by_catena_run <hosts> <ranks of a host> <program and arguments>: in the background, output in out.<host>
by_catena_run() {
  local h
  for ((h = 1; h <= $1; ++h)); do
    on_host $h "$run" --nproc "$2" --nodes "$1" --node $((h - 1)) --rendezvous "$net.1:29500" "${@:3}" > "$work/out.$h" 2>&1 &
  done
}
# The daemons of mpirun are started by on_host in the place of ssh.
by_mpirun() {
  local h list=""
  for ((h = 1; h <= $1; ++h)); do list+=${list:+,}$net.$h:$2; done
  on_host 1 "$mpirun" --allow-run-as-root -np $(($1 * $2)) --host "$list" --mca plm_rsh_agent "$work/on_host" --mca plm_rsh_no_tree_spawn 1 \
    --mca btl tcp,self --mca btl_tcp_if_include "$net.0/24" --mca oob_tcp_if_include "$net.0/24" -x CATENA_DEVICE -x OMP_NUM_THREADS \
    -x CATENA_COMM_TIMEOUT "${@:3}" > "$work/out.1" 2>&1 &
}

# Waits until no process of the program is left on any host, at most limit_s.
ranks_left() { local p; for p in $(processes); do [ "$(readlink "/proc/$p/exe")" = "$(readlink -f "$program")" ] && echo "$p"; done; }
wait_for_ranks() {
  local end=$((SECONDS + limit_s))
  while [ -n "$(ranks_left)" ]; do
    [ $SECONDS -lt $end ] || fail "ranks have not ended within $limit_s s: $*"
    sleep 0.1
  done
}

# check <how> <hosts> <ranks of a host>
check() {
  local how=$1 hosts=$2 each=$3 begin=0 took
  rm -f "$work"/out.*
  "by_$how" "$hosts" "$each" "$program" one_process
  wait
  grep -q "as one process, weights" "$work/out.1" && ! grep -q "not as one process" "$work/out.1" || fail "$how on $hosts hosts: the weights are others"
  [ "$(grep -o 'weights [0-9]*' "$work/out.1")" = "${expected[$((hosts * each))]}" ] || fail "$how on $hosts hosts: other bits than on one host"

  rm -f "$work"/out.*
  "by_$how" "$hosts" "$each" "$program" sums
  until [ "$(cat "$work"/out.* | grep -c summing)" = $((hosts * each)) ]; do
    [ $((++begin)) -lt 600 ] || fail "$how on $hosts hosts: the ranks do not start"
    sleep 0.1
  done
  ip -n "$switch" link set "port$hosts" down
  begin=$SECONDS
  wait_for_ranks "$how, the cable of host $hosts is cut"
  took=$((SECONDS - begin))
  # The launchers may write the last lines of the ranks after these have ended.
  begin=0
  until cat "$work"/out.* | grep -qE "ends by (RuntimeError|TimeoutError): rank [0-9]+ waits for rank [0-9]+"; do
    [ $((++begin)) -lt 100 ] || fail "$how on $hosts hosts: no error names a rank"
    sleep 0.1
  done
  ip -n "$switch" link set "port$hosts" up
  for p in $(processes); do kill -KILL "$p" 2>/dev/null; done  # daemons of mpirun that wait for each other
  wait
  echo "hosts: $how, $hosts hosts of $each ranks: the weights of one process; $took s after a cable was cut all ranks had ended:" \
    "$(cat "$work"/out.* | grep -oE "ends by .*" | sort | uniq -c | sort -rn | head -n 1 | sed 's/^ *[0-9]* //')"
}

for h in 1 2 3 4; do make_host $h; done
declare -A expected
for n in 2 4; do
  on_host 1 "$run" --nproc $n "$program" one_process > "$work/out.1" 2>&1 || fail "one host"
  expected[$n]=$(grep -o 'weights [0-9]*' "$work/out.1")
done
check catena_run 2 2
check catena_run 4 1
if [ -z "$mpirun" ] || [ "$has_mpi" != 1 ]; then
  echo "hosts: mpirun or the MPI of Catena is not there"
  exit 0
fi
export CATENA_COMM_TIMEOUT=10
check mpirun 2 2
check mpirun 4 1
