# cmake -DCXX=<compiler> -DINCLUDE=<folder of catena/> -DTABLE=<table> -DSCENE=<header> -DWORK=<folder> -P training_spellings_test.cmake
#
# The rows of the table that do not compile: those whose outcome is "hint" give a message that has the text of the last
# column, and those whose outcome is "not" give an error of any kind. The other rows are run by the program of
# training_spellings.awk. With CATENA_TEST_SAMPLE, only every third row is compiled: each takes the time of reading the precompiled scene.
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/table_rows.cmake")

file(MAKE_DIRECTORY "${WORK}")
table_rows(rows "${TABLE}" "&& ($4 == \"hint\" || $4 == \"not\") { printf \"%s|%s|%s\\n\", $1, $4, $5 }")
get_filename_component(here "${CMAKE_CURRENT_LIST_FILE}" DIRECTORY)
# The scene is compiled once: g++ takes the precompiled header beside the row.
execute_process(COMMAND ${CXX} -std=c++20 -w -x c++-header -I "${INCLUDE}" "${here}/${SCENE}" -o "${WORK}/${SCENE}.gch")
set(wrong "")
set(count 0)
set(turn 0)
if(NOT "$ENV{CATENA_TEST_SAMPLE}" STREQUAL "")
  math(EXPR turn "$ENV{CATENA_TEST_SAMPLE} % 3")
endif()
foreach(row IN LISTS rows)
  if(NOT row MATCHES "^([^|]+)[|]([^|]+)[|](.*)$")
    continue()
  endif()
  if(NOT "$ENV{CATENA_TEST_SAMPLE}" STREQUAL "")
    math(EXPR turn "(${turn} + 1) % 3")
    if(NOT turn EQUAL 0)
      continue()
    endif()
  endif()
  set(name "${CMAKE_MATCH_1}")
  set(outcome "${CMAKE_MATCH_2}")
  set(text "${CMAKE_MATCH_3}")
  execute_process(COMMAND awk "-F\t" -v "name=${name}" "BEGIN { print \"#include \\\"${SCENE}\\\"\" } \
    $1 == name { printf \"void f(spellings::Scene& scene) { SCENE_NAMES = scene; { %s } }\\n\", $2 }" "${TABLE}" OUTPUT_FILE "${WORK}/row.cpp")
  execute_process(COMMAND ${CXX} -std=c++20 -fsyntax-only -w -I "${INCLUDE}" -I "${here}" "${WORK}/row.cpp"
    ERROR_VARIABLE errors OUTPUT_QUIET RESULT_VARIABLE result)
  string(FIND "${errors}" "${text}" at)
  math(EXPR count "${count} + 1")
  if(result EQUAL 0)
    string(APPEND wrong "  ${name} compiles, although the table says that it does not\n")
  elseif(outcome STREQUAL "hint" AND at EQUAL -1)
    string(APPEND wrong "  ${name}: the compiler does not say \"${text}\"\n")
  endif()
endforeach()
file(REMOVE "${WORK}/${SCENE}.gch")
message(STATUS "${count} statements do not compile")
if(NOT wrong STREQUAL "" OR rows STREQUAL "")
  message(FATAL_ERROR "of ${TABLE}:\n${wrong}")
endif()
