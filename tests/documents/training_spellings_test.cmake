# cmake -DCXX=<compiler> -DINCLUDE=<folder of catena/> -DTABLE=<table> -DSCENE=<header> -DWORK=<folder> -P training_spellings_test.cmake
#
# The rows of the table that do not compile: those whose outcome is "hint" give a message that has the text of the last
# column, and those whose outcome is "not" give an error of any kind. The other rows are run by the program of
# training_spellings.awk. Reading the scene takes most of the time, so the rows are compiled in one file. A file of its own has each row without its
# error there, because a compiler reports an error of a template once for all of its uses, and each row whose brackets do not match, because its errors
# would spread to the next rows.
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/table_rows.cmake")

file(MAKE_DIRECTORY "${WORK}")
get_filename_component(here "${CMAKE_CURRENT_LIST_FILE}" DIRECTORY)
set(is_wanted "&& ($4 == \"hint\" || $4 == \"not\")")
table_rows(lines "${TABLE}" "${is_wanted} && count(\"[(]\") == count(\"[)]\") && count(\"[{]\") == count(\"[}]\") && \
  count(\"[[]\") == count(\"[]]\") { print NR } function count(bracket,  text) { text = $2; return gsub(bracket, \"\", text) }")
table_rows(rows "${TABLE}" "${is_wanted} { printf \"%s|%s|%s|%s\\n\", NR, $1, $4, $5 }")

# compile(<line of the table>...): one file has the rows of these lines. Sets errors_<line> to the messages of the compiler from the first one at the
# row to the first one at another row.
function(compile)
  string(REPLACE ";" " " lines "${ARGN}")
  execute_process(COMMAND awk "-F\t" "BEGIN { print \"#include \\\"${SCENE}\\\"\" } index(\" ${lines} \", \" \" NR \" \") { \
    printf \"#line %d \\\"row\\\"\\nvoid f%d(spellings::Scene& scene) { SCENE_NAMES = scene; { %s } }\\n\", NR, NR, $2 }" "${TABLE}"
    OUTPUT_FILE "${WORK}/rows.cpp")
  execute_process(COMMAND ${CXX} -std=c++20 -fsyntax-only -w -I "${INCLUDE}" -I "${here}" "${WORK}/rows.cpp"
    ERROR_FILE "${WORK}/errors.txt" OUTPUT_QUIET)
  foreach(line IN LISTS ARGN)
    execute_process(COMMAND awk "/^row:[0-9]/ { split($0, parts, \":\"); line = parts[2] } line == ${line}" "${WORK}/errors.txt"
      OUTPUT_VARIABLE errors)
    set(errors_${line} "${errors}" PARENT_SCOPE)
  endforeach()
endfunction()

# Sets the variable to the reason why the errors are not those of the row, or to nothing. An error is at the row, or in a template that it uses.
function(wrong_errors variable name outcome text errors)
  string(FIND "${errors}" "${text}" at)
  set(${variable} "" PARENT_SCOPE)
  if(NOT errors MATCHES "row:[0-9]+:[0-9]+: +(error|fatal error|required from here|note: in instantiation)")
    set(${variable} "  ${name} compiles, although the table says that it does not\n" PARENT_SCOPE)
  elseif(outcome STREQUAL "hint" AND at EQUAL -1)
    set(${variable} "  ${name}: the compiler does not say \"${text}\"\n" PARENT_SCOPE)
  endif()
endfunction()

compile(${lines})
set(wrong "")
set(count 0)
set(apart 0)
foreach(row IN LISTS rows)
  if(NOT row MATCHES "^([0-9]+)[|]([^|]+)[|]([^|]+)[|](.*)$")
    continue()
  endif()
  set(line "${CMAKE_MATCH_1}")
  set(name "${CMAKE_MATCH_2}")
  set(outcome "${CMAKE_MATCH_3}")
  set(text "${CMAKE_MATCH_4}")
  math(EXPR count "${count} + 1")
  wrong_errors(reason "${name}" "${outcome}" "${text}" "${errors_${line}}")
  if(NOT reason STREQUAL "")
    math(EXPR apart "${apart} + 1")
    compile(${line})
    wrong_errors(reason "${name}" "${outcome}" "${text}" "${errors_${line}}")
    string(APPEND wrong "${reason}")
  endif()
endforeach()
message(STATUS "${count} statements do not compile, ${apart} of them compiled alone")
if(NOT wrong STREQUAL "" OR count EQUAL 0)
  message(FATAL_ERROR "of ${TABLE}:\n${wrong}")
endif()
