# Compiles the snippets of README.md and docs/ as a user would, against an installed and moved prefix, and runs them: those of README.md with
# g++ and clangs, those of docs/ with one compiler. -DBUILD=<built folder> -DWORK=<scratch folder> -DROOT=<sources> -DGENERATOR= -DCXX=
# -DPAGES=<page;...> (absolute paths): only the snippets of these pages, with one compiler.
cmake_minimum_required(VERSION 3.22)

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${WORK}")
run("installing" ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/prefix")
file(RENAME "${WORK}/prefix" "${WORK}/moved")

# programs(<what> <compiler> <flags> <document>...): extracts the snippets, builds all programs, runs them and compares their output.
function(programs what compiler flags)
  set(parts "${WORK}/${what}_parts")
  set(folder "${WORK}/${what}")
  file(REMOVE_RECURSE "${folder}" "${parts}")
  file(MAKE_DIRECTORY "${parts}")
  run("extracting the snippets of ${what}" awk -v "out=${parts}" -f "${CMAKE_CURRENT_LIST_DIR}/readme/extract.awk" "${ROOT}/README.md" ${ARGN})
  file(STRINGS "${parts}/names" lines)
  set(names "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE " .*" "" name "${line}")
    list(APPEND names ${name})
  endforeach()
  string(REPLACE ";" "," names "${names}")
  run("configuring ${what} for ${compiler}" ${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/readme" -B "${folder}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_CXX_FLAGS=${flags}" "-DCMAKE_PREFIX_PATH=${WORK}/moved"
    "-DPARTS=${parts}" "-DPROGRAMS=${names}" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
  run("building ${names} by ${compiler} ${flags}" ${CMAKE_COMMAND} --build "${folder}")
  foreach(line IN LISTS lines)
    if(line MATCHES " not_run$")
      continue()
    endif()
    file(MAKE_DIRECTORY "${folder}/run_${line}")
    execute_process(COMMAND "${folder}/${line}" WORKING_DIRECTORY "${folder}/run_${line}"
      OUTPUT_FILE "${folder}/${line}.output" ERROR_VARIABLE error RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "the program ${line} of the documents ended with ${result}:\n${error}")
    endif()
    if(EXISTS "${parts}/${line}.expected")
      run("comparing the output of ${line}" diff -u "${parts}/${line}.expected" "${folder}/${line}.output")
    endif()
  endforeach()
endfunction()

if(PAGES)
  programs(documents "${CXX}" -O0 ${PAGES})
  return()
endif()
# The oldest and the newest clang of the list in docs/installation.md, or else the one there is.
programs(readme "${CXX}" -O2)
set(compilers "${CXX}")
foreach(name clang++-14 clang++-19 clang++)
  find_program(${name} ${name})
  if(${name} AND (NOT name STREQUAL "clang++" OR NOT compilers MATCHES "clang"))
    list(APPEND compilers "${${name}}")
    programs(readme "${${name}}" -O0)
  endif()
endforeach()
message(STATUS "compilers: ${compilers}")
file(GLOB_RECURSE pages "${ROOT}/docs/*.md")
list(FILTER pages EXCLUDE REGEX "/reference/examples/")  # see tests/documents
programs(documents "${CXX}" -O0 ${pages})
