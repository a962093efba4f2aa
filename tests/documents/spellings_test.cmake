# cmake -DCXX=<compiler> -DINCLUDE=<folder of catena/> -DTABLE=<spellings.tsv> -DWORK=<folder> -P spellings_test.cmake
#
# Statements as users of NumPy and CuPy first type them. A row of the table is a name, a statement and, if the statement does not compile, the
# reason or what is written instead. Fails if a statement without a reason does not compile, or if one with a reason does. The statements may
# use a, b: (3, 4) float64; v: (12,) float64; i: int64 indices; m: bool (3, 4); z: complex128 (12,); sq: (3, 3).
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/table_rows.cmake")

file(STRINGS "${TABLE}" lines)
set(source "#include <algorithm>\n#include <complex>\n#include <functional>\n#include <iostream>\n#include <map>\n#include <span>\n#include <vector>
#include <catena/ndarray/ndarray.h>\n#include <catena/ndarray/testing/assertions.h>\nusing namespace std::literals;\n")
# Semicolons and brackets have a meaning in lists of CMake, so the statements are written by awk.
execute_process(COMMAND awk "-F\t" "!/^#/ { printf \"#line %d \\\"spelling\\\"\\nvoid f%d(nd::Array a, nd::Array b, nd::Array v, nd::Array i, nd::Array m, \
nd::Array z, nd::Array sq) {{ %s }}\\n\", NR * 1000, NR, $2 }" "${TABLE}" OUTPUT_VARIABLE functions RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "awk cannot read ${TABLE}")
endif()
file(MAKE_DIRECTORY "${WORK}")
file(WRITE "${WORK}/spellings.cpp" "${source}${functions}")
execute_process(COMMAND ${CXX} -std=c++20 -fsyntax-only -w -fmax-errors=0 -ferror-limit=0 -I "${INCLUDE}" "${WORK}/spellings.cpp"
  ERROR_VARIABLE errors OUTPUT_QUIET RESULT_VARIABLE result)
if(errors MATCHES "unrecognized command.line option|unknown argument")
  # GCC and Clang have other names for the same option.
  foreach(option -fmax-errors=0 -ferror-limit=0)
    execute_process(COMMAND ${CXX} -std=c++20 -fsyntax-only -w ${option} -I "${INCLUDE}" "${WORK}/spellings.cpp"
      ERROR_VARIABLE errors OUTPUT_QUIET RESULT_VARIABLE result)
    if(NOT errors MATCHES "unrecognized command.line option|unknown argument")
      break()
    endif()
  endforeach()
endif()
# The line of an error, or of the statement that instantiates a template with one.
string(REGEX MATCHALL "spelling:[0-9]+:[0-9]+: +(error|fatal error|required from here|note: in instantiation)" places "${errors}")
set(failing "")
foreach(place IN LISTS places)
  string(REGEX REPLACE "spelling:([0-9]+)000:.*" "\\1" line "${place}")
  list(APPEND failing ${line})
endforeach()
list(REMOVE_DUPLICATES failing)
if(NOT result EQUAL 0 AND failing STREQUAL "")
  string(SUBSTRING "${errors}" 0 2000 errors)
  message(FATAL_ERROR "the table does not compile at all:\n${errors}")
endif()

table_rows(rows "${TABLE}" "{ print NR \"|\" $1 \"|\" ($3 == \"\" ? \"\" : \"reason\") }")
set(wrong "")
set(compile 0)
set(other 0)
foreach(row IN LISTS rows)
  if(NOT row MATCHES "^([0-9]+)[|]([^|]*)[|](.*)$")
    continue()
  endif()
  set(name "${CMAKE_MATCH_2}")
  set(reason "${CMAKE_MATCH_3}")
  list(FIND failing ${CMAKE_MATCH_1} at)
  if(at EQUAL -1 AND reason STREQUAL "")
    math(EXPR compile "${compile} + 1")
  elseif(NOT at EQUAL -1 AND NOT reason STREQUAL "")
    math(EXPR other "${other} + 1")
  elseif(at EQUAL -1)
    string(APPEND wrong "  ${name} compiles, although the table gives a reason why it does not\n")
  else()
    string(APPEND wrong "  ${name} does not compile\n")
  endif()
endforeach()
message(STATUS "${compile} statements compile, ${other} have a reason")
if(NOT wrong STREQUAL "" OR compile LESS 300)
  message(FATAL_ERROR "of ${TABLE}:\n${wrong}")
endif()
