# The recipe for Conan: where Conan 2 is installed, it reads the recipe (which names the version of the sources) and exports the sources, and
# these can be configured. `conan create packaging/conan` makes the package, which compiles the libraries once more; it is not a test.
# -DWORK=<scratch folder> -DROOT=<sources> -DVERSION=
cmake_minimum_required(VERSION 3.22)

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
find_program(conan conan)
if(conan)
  execute_process(COMMAND ${conan} --version OUTPUT_VARIABLE version ERROR_VARIABLE version)
endif()
if(NOT version MATCHES "Conan version 2")
  message(STATUS "skipped: Conan 2 was not found, so its recipe is not read")
  return()
endif()

file(REMOVE_RECURSE "${WORK}")
set(ENV{CONAN_HOME} "${WORK}/home")
run("detecting the compiler" ${conan} profile detect)
run("exporting the sources" ${conan} export "${ROOT}/packaging/conan" --no-remote)
if(NOT output MATCHES "catena/${VERSION}")
  message(FATAL_ERROR "the recipe is not of version ${VERSION}:\n${output}")
endif()
foreach(shared True False)
  run("reading the options" ${conan} graph info "${ROOT}/packaging/conan" --no-remote -s compiler.cppstd=20 -o "&:dependencies=system"
    -o "&:shared=${shared}" --format=json)
endforeach()
# C++17 is refused with its reason.
execute_process(COMMAND ${conan} install "${ROOT}/packaging/conan" --no-remote -s compiler.cppstd=17 -o "&:dependencies=system"
  --output-folder "${WORK}/refused" OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
if(status EQUAL 0 OR NOT output MATCHES "cppstd|C\\+\\+ standard")
  message(FATAL_ERROR "C++17 (${status}):\n${output}")
endif()

file(GLOB sources "${WORK}/home/p/cate*/es")
run("configuring the exported sources" ${CMAKE_COMMAND} -S "${sources}" -B "${WORK}/build" -DCATENA_BUILD_TESTS=OFF -DCATENA_BUILD_EXAMPLES=OFF)
