# cmake -DCXX=<compiler> -DINCLUDE=<folder of catena/> -DLIMITS=<header>=<standard>+<own>,... -P sizes_test.cmake
#
# Fails when a header has more lines after preprocessing than its limits, because users compile them with every file of theirs: <standard>
# lines of the standard library's headers, which are most of them, and <own> lines of this library's. Empty lines do not count, and so
# comments do not: they cost a compiler nothing.
string(REPLACE "," ";" LIMITS "${LIMITS}")
foreach(limit IN LISTS LIMITS)
  string(REGEX MATCH "^(.*)=([0-9]+)[+]([0-9]+)$" matched "${limit}")
  if(NOT matched)
    message(FATAL_ERROR "\"${limit}\" is not <header>=<standard>+<own>")
  endif()
  set(header "${CMAKE_MATCH_1}")
  set(most_standard "${CMAKE_MATCH_2}")
  set(most_own "${CMAKE_MATCH_3}")
  # awk follows the lines `# 12 "file"` that name the file of the lines after them.
  execute_process(COMMAND ${CXX} -std=c++20 -I "${INCLUDE}" -E -x c++ "${INCLUDE}/catena/${header}"
    COMMAND awk "/^# [0-9]+ \"/ { own = ($3 ~ /\\/catena\\//); next } NF > 0 { lines[own]++ } END { print lines[0] + 0, lines[1] + 0 }"
    OUTPUT_VARIABLE counts ERROR_VARIABLE errors RESULTS_VARIABLE results)
  if(NOT results STREQUAL "0;0")
    message(FATAL_ERROR "${header}: ${errors}")
  endif()
  string(REGEX MATCH "([0-9]+) ([0-9]+)" matched "${counts}")
  set(standard "${CMAKE_MATCH_1}")
  set(own "${CMAKE_MATCH_2}")
  message(STATUS "${header}: ${standard} lines of the standard library, at most ${most_standard}; ${own} of this one, at most ${most_own}")
  if(standard EQUAL 0 OR own EQUAL 0)
    message(FATAL_ERROR "the lines of <catena/${header}> could not be told apart")
  endif()
  if(standard GREATER most_standard OR own GREATER most_own)
    message(FATAL_ERROR "<catena/${header}> has ${standard} and ${own} lines after preprocessing, more than ${most_standard} and ${most_own}; "
      "g++ -H shows which headers it brings in")
  endif()
endforeach()
