# cmake -DREADELF=<readelf> -DFILE=<library or program> -DFORBIDDEN=<regex> -P links_test.cmake: fails when the file asks the
# dynamic linker for a library that matches.
execute_process(COMMAND ${READELF} -d "${FILE}" OUTPUT_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR NOT output MATCHES "NEEDED")
  message(FATAL_ERROR "${READELF} -d ${FILE} failed")
endif()
string(REGEX MATCHALL "\\[lib[^]]*\\]" needed "${output}")
set(bad ${needed})
list(FILTER bad INCLUDE REGEX "${FORBIDDEN}")
if(bad)
  message(FATAL_ERROR "${FILE} must not need ${bad}")
endif()
message(STATUS "${FILE} needs ${needed}")
