# cmake -DROOT=<sources> -DWORK=<scratch folder> -P scripts_test.cmake: what cmake/build.sh calls, by a program in the place of cmake that
# prints its arguments and fails when it is to.
cmake_minimum_required(VERSION 3.22)

file(REMOVE_RECURSE "${WORK}")
file(WRITE "${WORK}/cmake" "#!/bin/sh\necho \"cmake $*\"\ncase \"$1\" in --build) exit \${FAIL_WITH:-0} ;; esac\n")
file(CHMOD "${WORK}/cmake" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

# build(<status> <expected output, a regex> <variable=value>... -- <argument>...)
function(build wanted pattern)
  set(variables ${ARGN})
  set(arguments ${ARGN})
  list(FIND ARGN "--" at)
  list(SUBLIST variables 0 ${at} variables)
  math(EXPR at "${at} + 1")
  list(SUBLIST arguments ${at} -1 arguments)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=CATENA_VERBOSE "PATH=${WORK}:$ENV{PATH}" CATENA_BUILD_JOBS=3 ${variables}
    bash "${ROOT}/cmake/build.sh" ${arguments} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL wanted OR NOT "${output}${errors}" MATCHES "${pattern}")
    message(FATAL_ERROR "cmake/build.sh ${arguments} (${variables}): status ${status}, ${wanted} was expected; it printed\n${output}${errors}")
  endif()
endfunction()

build(0 "cmake --preset release\ncmake --build build/release -j 3\n" -- release)
build(0 "cmake --preset debug\ncmake --build build/debug -j 3 --target one two\n" -- debug one two)
build(0 "cmake --preset release --log-level=VERBOSE\ncmake --build build/release -j 3 --verbose --target one\n" CATENA_VERBOSE=1 -- release one)
build(7 "memory was short: CATENA_BUILD_JOBS=1" FAIL_WITH=7 -- release)
message(STATUS "cmake/build.sh calls what it should")
