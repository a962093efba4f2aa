# cmake -DPROGRAM=<program> -DREPORT=<text> -P planted_test.cmake: passes only when the program fails and says why.
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
string(FIND "${output}" "${REPORT}" at)
if(result EQUAL 0)
  message(FATAL_ERROR "the planted bug was not noticed:\n${output}")
elseif(at LESS 0)
  message(FATAL_ERROR "the program failed (${result}) without the report '${REPORT}':\n${output}")
endif()
message(STATUS "failed as it must, with '${REPORT}'")
