# For the tests of ranks that are processes.
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")

# For tests that are given MPIRUN: its command line.
set(mpirun "${MPIRUN}" --oversubscribe)
if("$ENV{USER}" STREQUAL "root" OR NOT DEFINED ENV{USER})
  list(APPEND mpirun --allow-run-as-root)
endif()

# ranks(<status> <command>...): runs it, at most half a minute, and demands the exit status (which cmake -E env and a shell give for a
# signal as 128 + its number). Its output is `output`.
macro(ranks status)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 30)
  string(JOIN " " command ${ARGN})
  if(result MATCHES "abort|Abort")
    set(result 134)
  endif()
  if(NOT result STREQUAL "${status}")
    message(FATAL_ERROR "${command}: exit status ${result}, not ${status}:\n${output}")
  endif()
endmacro()

# says(<regex>...): the output has them.
function(says)
  foreach(regex IN LISTS ARGN)
    if(NOT output MATCHES "${regex}")
      message(FATAL_ERROR "${command}: the output has no ${regex}:\n${output}")
    endif()
  endforeach()
endfunction()

# shell(<status> <script>): the same for a script with $RUN, $PROGRAM and $WORK.
macro(shell status script)
  file(WRITE "${WORK}/script" "${script}")
  ranks(${status} "${CMAKE_COMMAND}" -E env "RUN=${RUN}" "PROGRAM=${PROGRAM}" "WORK=${WORK}" sh "${WORK}/script")
endmacro()
