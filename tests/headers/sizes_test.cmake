# cmake -DCXX=<compiler> -DINCLUDE=<folder of catena/> -DLIMITS=<header>=<lines>,... -P sizes_test.cmake
#
# Fails when a header has more lines after preprocessing than its limit: users compile them with every file of theirs.
string(REPLACE "," ";" LIMITS "${LIMITS}")
foreach(limit IN LISTS LIMITS)
  string(REGEX MATCH "^(.*)=([0-9]+)$" matched "${limit}")
  if(NOT matched)
    message(FATAL_ERROR "\"${limit}\" is not <header>=<lines>")
  endif()
  set(header "${CMAKE_MATCH_1}")
  set(most "${CMAKE_MATCH_2}")
  execute_process(COMMAND ${CXX} -std=c++20 -I "${INCLUDE}" -E -x c++ "${INCLUDE}/catena/${header}"
    OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${header}: ${errors}")
  endif()
  string(REGEX REPLACE "[^\n]" "" newlines "${text}")
  string(LENGTH "${newlines}" lines)
  message(STATUS "${header}: ${lines} lines, at most ${most}")
  if(lines GREATER most)
    message(FATAL_ERROR "<catena/${header}> has ${lines} lines after preprocessing, more than ${most}; "
      "g++ -H shows which headers it brings in")
  endif()
endforeach()
