# The sources as a folder of another project (add_subdirectory, FetchContent). -DROOT=<sources> -DWORK=<scratch folder> -DGENERATOR= -DCXX=
#   configure   the parent keeps its build type, kind of libraries and flags; what was found is printed as in a build of its own
#   flags       the library is optimised, the parent's files have none of its options
#   headers     compile without a warning under the options of app, as system headers and as the parent's own
#   language    without what they need (C++20, exceptions, run-time types) they give one message
cmake_minimum_required(VERSION 3.22)

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

# Sets `app` to the command that compiles the parent's program.
function(check_parent by source target header)
  file(REMOVE_RECURSE "${WORK}")
  run("configuring a parent of ${target} by ${by}" ${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/parent" -B "${WORK}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX}" "-DCATENA_SOURCE=${source}" "-DCATENA_TARGET=${target}" "-DCATENA_HEADER=${header}" "-DBY=${by}")
  foreach(line "catena: zlib: yes" "catena: onednn: " "catena: openblas: ")
    string(FIND "${output}" "${line}" at)
    if(at LESS 0)
      message(FATAL_ERROR "no line '${line}' in\n${output}")
    endif()
  endforeach()

  file(READ "${WORK}/compile_commands.json" commands)
  string(JSON count LENGTH "${commands}")
  math(EXPR last "${count} - 1")
  foreach(k RANGE ${last})
    string(JSON file GET "${commands}" ${k} file)
    string(JSON command GET "${commands}" ${k} command)
    if(file MATCHES "/parent/(app|own)\\.cpp$")
      set(${CMAKE_MATCH_1} "${command}")
    elseif(file MATCHES "/ndarray/core/array\\.cpp$")
      set(library "${command}")
    endif()
  endforeach()
  if(NOT library MATCHES " -O2 " OR NOT library MATCHES " -DNDEBUG ")
    message(FATAL_ERROR "the library is not optimised: ${library}")
  endif()
  if(own MATCHES " -(O|W|f|D|std)")
    message(FATAL_ERROR "the parent's file is compiled with options of the library: ${own}")
  endif()
  if(NOT app MATCHES " -isystem [^ ]*/catena/include ")
    message(FATAL_ERROR "the headers are not those of a system library: ${app}")
  endif()

  separate_arguments(app UNIX_COMMAND "${app}")
  run("compiling with warnings" ${app} -fsyntax-only)
  string(REPLACE ";-isystem;" ";-I;" own_headers "${app}")
  run("compiling with warnings of the headers, too" ${own_headers} -fsyntax-only)
  set(app "${app}" PARENT_SCOPE)
endfunction()

check_parent(add_subdirectory "${ROOT}/ndarray" catena::ndarray ndarray/ndarray.h)
check_parent(FetchContent "${ROOT}" catena::catena catena.h)
check_parent(add_subdirectory "${ROOT}" catena::catena catena.h)

string(REGEX REPLACE ";-std=[^;]*" "" plain "${app}")
foreach(case "-std=c++17:C..20" "-std=c++20 -fno-exceptions:exceptions" "-std=c++20 -fno-rtti:run-time type information")
  string(REGEX MATCH "^([^:]*):(.*)$" matched "${case}")
  set(says "${CMAKE_MATCH_2}")
  separate_arguments(flags UNIX_COMMAND "${CMAKE_MATCH_1}")
  execute_process(COMMAND ${plain} ${flags} -fsyntax-only OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  string(REGEX MATCHALL "[^\n]*error: [^\n]*" errors "${output}")
  list(LENGTH errors count)
  # The message, and the error with which the compilation ends.
  if(result EQUAL 0 OR NOT errors MATCHES "error \"Catena needs [^\"]*${says}" OR count GREATER 2)
    message(FATAL_ERROR "${flags} (${result}): ${output}")
  endif()
endforeach()
