# cmake -DRUN=catena-run -DPROGRAM=test_nccl_ranks -DMPIRUN=mpirun -DHAS_MPI=1 -DWORK=folder -P nccl_ranks_test.cmake: NCCL between
# processes, on the software CUDA device.
include("${CMAKE_CURRENT_LIST_DIR}/ranks.cmake")

foreach(n 1 2 3)
  ranks(0 "${RUN}" --nproc ${n} "${PROGRAM}" collectives)
  math(EXPR last "${n} - 1")
  foreach(r RANGE ${last})
    says("rank ${r} of ${n}: nccl is right\n")
  endforeach()
endforeach()
ranks(0 "${RUN}" --nproc 3 "${PROGRAM}" sum)
says("rank 2 of 3: sum 3 6\n")
ranks(0 "${RUN}" --nproc 2 "${PROGRAM}" train)
says("\\[0\\] the weights agree\n" "\\[1\\] the weights agree\n")

# A rank that has been killed, or does not go on, while another waits for a sum of NCCL.
shell(134 [[
export CATENA_SIZE=2 CATENA_RENDEZVOUS="$WORK/alone"
CATENA_RANK=1 "$PROGRAM" killed &
CATENA_RANK=0 "$PROGRAM" killed
]])
says("catena: rank 0 of 2 ends by RuntimeError: .*rank 0 waits for rank 1, which has ended")
ranks(134 "${RUN}" --nproc 2 --timeout 4 "${PROGRAM}" hangs)
says("catena: rank 0 of 2 ends by TimeoutError: .*rank 0 waits for the other ranks in a sum of NCCL for more than 4 s")

# The files of killed ranks are removed by later ones.
file(GLOB left "$ENV{TMPDIR}/software_nccl.*/rank.*")
if(NOT left)
  message(FATAL_ERROR "killed ranks have left no files")
endif()
ranks(0 "${RUN}" --nproc 2 "${PROGRAM}" sum)
foreach(file IN LISTS left)
  if(EXISTS "${file}")
    message(FATAL_ERROR "a file of a rank that has ended: ${file}")
  endif()
endforeach()

if(NOT MPIRUN OR NOT HAS_MPI)
  return()
endif()
foreach(n 1 2 3)
  ranks(0 ${mpirun} -np ${n} "${PROGRAM}" collectives)
  math(EXPR last "${n} - 1")
  says("rank ${last} of ${n}: nccl is right\n")
endforeach()
ranks(0 ${mpirun} -np 2 "${PROGRAM}" train)
says("the weights agree")
ranks(1 ${mpirun} -np 2 -x CATENA_COMM_TIMEOUT=4 "${PROGRAM}" hangs)
says("rank 0 waits for the other ranks in a sum of NCCL for more than 4 s")
