# cmake -DROOT=<sources> -DWORK=<scratch folder> -P scripts_test.cmake: the calls of cmake/build.sh and tests/run.sh. Programs in the place of
# cmake and ctest print their arguments; FAIL_WITH is the status of a build.
cmake_minimum_required(VERSION 3.22)

file(REMOVE_RECURSE "${WORK}")
file(WRITE "${WORK}/cmake" "#!/bin/sh\necho \"cmake $*\"\ncase \"$1\" in --build) exit \${FAIL_WITH:-0} ;; esac\n")
file(WRITE "${WORK}/ctest" "#!/bin/sh\ncase \"$*\" in *--print-labels) printf '  cpu\\n  repeated\\n  repeated_0\\n  repeated_1\\n  repeated_2\\n' ;;\n"
  "*) echo \"sample \${CATENA_TEST_SAMPLE:-none}: ctest $*\" ;; esac\n")
file(CHMOD "${WORK}/cmake" "${WORK}/ctest" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

# script(<script> <status> <expected output, a regex> <variable=value>... -- <argument>...)
function(script name wanted pattern)
  set(variables ${ARGN})
  set(arguments ${ARGN})
  list(FIND ARGN "--" at)
  list(SUBLIST variables 0 ${at} variables)
  list(APPEND arguments "")  # a list that ends behind `--` has an empty rest
  math(EXPR at "${at} + 1")
  list(SUBLIST arguments ${at} -1 arguments)
  list(REMOVE_ITEM arguments "")
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=CATENA_VERBOSE --unset=CATENA_TEST_SAMPLE "PATH=${WORK}:$ENV{PATH}" CATENA_BUILD_JOBS=3 ${variables}
    bash "${ROOT}/${name}" ${arguments} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL wanted OR NOT "${output}${errors}" MATCHES "${pattern}")
    message(FATAL_ERROR "${name} ${arguments} (${variables}): status ${status}, ${wanted} was expected; it printed\n${output}${errors}")
  endif()
endfunction()
function(build)
  script(cmake/build.sh ${ARGN})
endfunction()
function(run_tests)
  script(tests/run.sh ${ARGN})
endfunction()

build(0 "cmake --preset release\ncmake --build build/release -j 3\n" -- release)
build(0 "cmake --preset debug\ncmake --build build/debug -j 3 --target one two\n" -- debug one two)
build(0 "cmake --preset release --log-level=VERBOSE\ncmake --build build/release -j 3 --verbose --target one\n" CATENA_VERBOSE=1 -- release one)
build(7 "memory was short: CATENA_BUILD_JOBS=1" FAIL_WITH=7 -- release)

# The preset `none` has no folder. The calls: everything that needs no GPU; without the repeated entries; the sample of a number; that of the day.
run_tests(0 "sample none: ctest --test-dir build/none [^\n]* -LE \\^\\(gpu\\)\\$\n" -- --preset none)
run_tests(0 "sample none: ctest [^\n]* -LE \\^\\(gpu[|]repeated\\)\\$ -R nn/" -- --preset none --quick -R nn/)
run_tests(0 "sample 20785: ctest [^\n]* -LE \\^\\(gpu[|]repeated_0[|]repeated_2[|]repeated_locale\\)\\$" CATENA_TEST_SAMPLE=20785 -- --preset none --sample)
run_tests(0 "sample [0-9]+: ctest [^\n]* -LE \\^\\(repeated_[0-2][|]repeated_[0-2][|]repeated_locale\\)\\$" -- --preset none --sample --device cuda)
foreach(wrong -3 day)
  run_tests(2 "CATENA_TEST_SAMPLE=${wrong} is not a number" CATENA_TEST_SAMPLE=${wrong} -- --preset none)
endforeach()
message(STATUS "cmake/build.sh and tests/run.sh call what they should")
