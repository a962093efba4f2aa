#!/usr/bin/env bash
# bash tests/training/soak_test.sh <catena-run> <test_ranks> <folder> [<kills> [<seed> [<ranks>]]]
#
# Trainings whose ranks are killed at random moments. After each kill all other processes must end within 30 s, with an error that names the
# killed rank. The training then goes on from its newest checkpoint, and its weights at the end must be those of a training that nobody
# has disturbed, bit for bit. Every second training has double buffering. Every second start is without a launcher, so that the ranks themselves
# must detect the end of one; if that rank was killed before it had joined the others, they end when the time limit of 20 s has passed.
set -uo pipefail
run=${1:?} program=${2:?} work=${3:?} kills=${4:-4} seed=${5:-1} ranks=${6:-3}
iterations=150 limit_ms=30000
export CATENA_COMM_TIMEOUT=20 CATENA_DEVICE=cpu OMP_NUM_THREADS=1
RANDOM=$seed
rm -rf "$work"
mkdir -p "$work/processes"
exec 2> "$work/messages"  # messages of the shell about processes that were killed

now() { local t=${EPOCHREALTIME/[.,]/}; echo $((t / 1000)); }  # milliseconds
fail() {
  echo "soak: $*"
  for file in "$work"/out*; do echo "--- $file"; tail -n 20 "$file"; done
  end_all
  exit 1
}
end_all() { for p in $(processes_of_ranks) ${started[@]+"${started[@]}"}; do kill -KILL "$p" 2>/dev/null; done; }
trap end_all EXIT
trap 'exit 1' TERM INT  # the exit runs end_all
processes_of_ranks() { cat "$work/processes"/process.* 2>/dev/null; }
# A process that has ended and that nobody has waited for yet is a zombie.
lives() { [ -r "/proc/$1/stat" ] && ! grep -q ') [ZX] ' "/proc/$1/stat" 2>/dev/null; }

# start <with a launcher: 1> <double buffering: 1>: the processes that this script has started are in `started`.
start() {
  local arguments=(checkpointed "$work/processes" "$iterations")
  [ "$2" = 1 ] && arguments+=(double_buffering)
  rm -f "$work"/processes/process.* "$work"/out* "$work"/meet*
  started=()
  if [ "$1" = 1 ]; then
    "$run" --nproc "$ranks" "$program" "${arguments[@]}" > "$work/out" 2>&1 &
    started+=($!)
    return
  fi
  for ((r = 0; r < ranks; ++r)); do
    CATENA_RANK=$r CATENA_SIZE=$ranks CATENA_RENDEZVOUS="$work/meet" "$program" "${arguments[@]}" > "$work/out.$r" 2>&1 &
    started+=($!)
  done
}

# Waits for all that has been started, at most <milliseconds>; the exit statuses are in `statuses`.
wait_for_all() {
  local end=$(($(now) + $1)) p
  for p in "${started[@]}" $(processes_of_ranks); do
    while lives "$p"; do
      [ "$(now)" -lt "$end" ] || return 1
      sleep 0.01
    done
  done
  statuses=()
  for p in "${started[@]}"; do
    wait "$p" 2>/dev/null
    statuses+=($?)
  done
}

weights() { grep -ho 'weights [0-9]*' "$work"/out* | head -n 1; }
new_training() { rm -rf "$work/processes"; mkdir -p "$work/processes"; }

# The undisturbed trainings, of which the later one is timed.
expected=()
for buffered in 0 1; do
  new_training
  begin=$(now)
  start 1 $buffered
  wait_for_all 120000 || fail "the training without kills does not end"
  whole_ms=$(($(now) - begin))
  expected+=("$(weights)")
  [ -n "${expected[buffered]}" ] || fail "the training without kills has failed"
done
[ "${expected[0]}" != "${expected[1]}" ] || fail "double buffering makes no difference"

killed=0 compared=0 resumed=0 worst_ms=0 training=0 launches=0
new_training
while :; do
  buffered=$((training % 2)) launcher=$((launches++ % 2)) victim=$((RANDOM % ranks)) was_killed=0
  start $launcher $buffered
  if [ $killed -lt "$kills" ]; then
    moment=$(((RANDOM * 32768 + RANDOM) % whole_ms))
    sleep "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))"
    until process=$(cat "$work/processes/process.$victim" 2>/dev/null); do
      lives "${started[0]}" || break
      sleep 0.001
    done
    if [ -n "$process" ] && lives "$process" && kill -KILL "$process" 2>/dev/null; then was_killed=1; fi
  fi
  begin=$(now)
  # Without a kill, the rest of the training has the time of several whole ones.
  wait_for_all $((was_killed == 1 ? limit_ms : 60000 + 10 * whole_ms)) || fail "kill $killed of rank $victim: not all processes have ended"
  took=$(($(now) - begin))
  text=$(cat "$work"/out*)
  if [ $was_killed = 1 ]; then
    killed=$((killed + 1))
    [ $((killed % 10)) != 0 ] || echo "soak: $killed kills, $compared trainings compared, the longest time until all had ended ${worst_ms} ms"
    [ $took -le $worst_ms ] || worst_ms=$took
    if [ $launcher = 1 ]; then named="catena-run: rank $victim was killed by signal 9"; else named="(ends by|what\(\):) .*rank $victim([,: ]|$)"; fi
    # A rank that is killed when its work is done leaves the others nothing to wait for.
    done_alone=0
    [ $launcher = 1 ] || { [ "$(printf '%s\n' "${statuses[@]}" | grep -cx 0)" = $((ranks - 1)) ] && done_alone=1; }
    [ $done_alone = 1 ] || grep -qE "$named" <<< "$text" || fail "kill $killed: no error names rank $victim"
    if [ $launcher = 0 ] && [ $done_alone = 0 ]; then
      for ((r = 0; r < ranks; ++r)); do
        [ $r = $victim ] || grep -qE 'ends by |what\(\):' "$work/out.$r" || [ "${statuses[r]}" = 0 ] || fail "kill $killed: rank $r has ended without an error"
      done
    fi
  fi
  grep -qE 'from iteration [1-9]' <<< "$text" && resumed=$((resumed + 1))
  if [ -n "$(weights)" ]; then
    [ "$(weights)" = "${expected[buffered]}" ] || fail "other weights than without kills: $(weights), not ${expected[buffered]}"
    compared=$((compared + 1)) training=$((training + 1))
    new_training
    [ $killed -lt "$kills" ] || break
  elif [ $was_killed = 0 ]; then
    fail "a training that nobody has disturbed has failed"
  fi
done
echo "soak: $killed kills of $ranks ranks, the longest time until all had ended ${worst_ms} ms, no process was left;" \
  "$compared trainings, $resumed of them resumed at the end, have the weights of undisturbed ones (${whole_ms} ms)"
