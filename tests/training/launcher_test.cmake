# cmake -DRUN=catena-run -DPROGRAM=test_ranks -DWORK=folder -P launcher_test.cmake: ranks that catena-run starts.
include("${CMAKE_CURRENT_LIST_DIR}/ranks.cmake")

# ---- what works -------------------------------------------------------------------------------------------------------------
foreach(n 1 2 3 4)
  ranks(0 "${RUN}" --nproc ${n} "${PROGRAM}" sum)
  math(EXPR last "${n} - 1")
  math(EXPR total "${n} * (${n} + 1) / 2")
  set(names "")
  foreach(r RANGE ${last})
    string(APPEND names ${r})
  endforeach()
  foreach(r RANGE ${last})
    says("\\[${r}\\] rank ${r} of ${n}: sum ${total}, ranks ${names}, part [0-9] of [0-9], host ${r} of ${n}, object 16777219\n")
  endforeach()
endforeach()
ranks(0 "${RUN}" --nproc 3 "${PROGRAM}" flat)
says("rank 2 of 3: sum 6,")
ranks(0 "${RUN}" -n 3 "${PROGRAM}" train)
says("\\[2\\] the weights agree")
ranks(0 "${RUN}" --nproc 2 sh -c "printf 'a\\nb\\nno end' && echo error >&2 && echo $CATENA_RANK of $CATENA_SIZE, limit $CATENA_COMM_TIMEOUT")
says("\\[1\\] a\n" "\\[0\\] b\n" "\\[1\\] no end1 of 2, limit\n" "\\[0\\] error\n")
ranks(0 "${RUN}" --nproc 1 --timeout 7.5 sh -c "echo limit $CATENA_COMM_TIMEOUT")
says("\\[0\\] limit 7.5\n")

# Two machines, which are two launchers here.
shell(0 [[
"$RUN" --nproc 2 --nodes 2 --node 1 --rendezvous "$WORK/two" "$PROGRAM" sum &
first=$!
"$RUN" --nproc 2 --nodes 2 --node 0 --rendezvous "$WORK/two" "$PROGRAM" sum && wait $first
]])
says("\\[3\\] rank 3 of 4: sum 10, ranks 0123, " "\\[0\\] rank 0 of 4: sum 10, ")

# The limit of the number of ranks.
ranks(2 "${RUN}" --nproc 1000000 --nodes 1000000 --node 0 --rendezvous "${WORK}/many" "${PROGRAM}" sum)
# A rank that prints without end does not keep the launcher from a signal.
shell(143 [[
"$RUN" --nproc 2 yes > /dev/null &
run=$!
sleep 1
kill -TERM $run
wait $run
]])

# ---- failures ---------------------------------------------------------------------------------------------------------------
ranks(137 "${RUN}" --nproc 3 "${PROGRAM}" killed)
says("catena-run: rank 1 was killed by signal 9")
ranks(134 "${RUN}" --nproc 3 "${PROGRAM}" throw)
says("\\[1\\] catena: rank 1 of 3 ends by ValueError: the file is damaged\n" "catena-run: rank [0-9] was killed by signal 6")
ranks(3 "${RUN}" --nproc 3 "${PROGRAM}" returns)
says("catena-run: rank 1 ended with exit status 3\n")
ranks(134 "${RUN}" --nproc 2 --timeout 1 "${PROGRAM}" hangs)
says("\\[0\\] catena: rank 0 of 2 ends by TimeoutError: rank 0 waits for rank 1 for more than 1 s")
ranks(134 "${RUN}" --nproc 2 "${PROGRAM}" disagrees)
says("ends by ValueError: the ranks disagree: rank 0 has allreduce of float32 \\(3,\\), rank 1 has allreduce of float32 \\(2,\\)")
ranks(1 "${RUN}" --nproc 2 "${PROGRAM}" aborts)
says("\\[1\\] catena: rank 1 has aborted: out of patience\n")
ranks(127 "${RUN}" --nproc 2 "${WORK}/no such program")
says("cannot start .*no such program: No such file or directory")
ranks(5 "${RUN}" --nproc 2 "${PROGRAM}" status 5)

# A rank that has been killed is named by those that waited for it, where they have the time for it: without a launcher.
shell(134 [[
export CATENA_SIZE=2 CATENA_RENDEZVOUS="$WORK/alone"
CATENA_RANK=1 "$PROGRAM" killed &
CATENA_RANK=0 "$PROGRAM" killed
]])
says("catena: rank 0 of 2 ends by RuntimeError: rank 0 waits for rank 1, which has ended")

# SIGTERM goes to the ranks, which end in their own way.
shell(0 [[
"$RUN" --nproc 2 "$PROGRAM" waits > "$WORK/out" &
run=$!
until test `grep -c waiting "$WORK/out"` -eq 2
do sleep 0.05
done
kill -TERM $run
wait $run
status=$?
cat "$WORK/out"
exit $status
]])
says("\\[0\\] stopped\n" "\\[1\\] stopped\n")

# ---- arguments --------------------------------------------------------------------------------------------------------------
ranks(0 "${RUN}" --help)
says("usage: catena-run --nproc <n>")
foreach(arguments "" "program" "--nproc;0;program" "--nproc;x;program" "--nproc;2" "--nproc;2;--nodes;2;program" "--timeout;0;--nproc;1;program"
    "--nproc;2;--node;1;program" "--rank;2;program")
  ranks(2 "${RUN}" ${arguments})
  says("usage: catena-run --nproc <n>")
endforeach()
shell(134 [[CATENA_RANK=x CATENA_SIZE=2 CATENA_RENDEZVOUS=a:1 "$PROGRAM" sum
]])
says("create_communicator: CATENA_RANK is \"x\", not the number of a rank")
shell(134 [[CATENA_RANK=0 CATENA_SIZE=2 "$PROGRAM" sum
]])
says("CATENA_RANK is set, CATENA_RENDEZVOUS is not")
shell(134 [[CATENA_RANK=0 CATENA_SIZE=1 CATENA_COMM_TIMEOUT=soon "$PROGRAM" sum
]])
says("CATENA_COMM_TIMEOUT is \"soon\", not a number of seconds above 0")
