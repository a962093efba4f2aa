# Compiles and runs the rows of the migration tables against an installed prefix. -DBUILD=<built folder> -DWORK=<scratch folder> -DROOT=<sources>
# -DGENERATOR= -DCXX=. The program prints the counts of each table.
cmake_minimum_required(VERSION 3.22)

include("${CMAKE_CURRENT_LIST_DIR}/../install/run.cmake")

file(REMOVE_RECURSE "${WORK}/prefix" "${WORK}/build" "${WORK}/run")
run("installing" ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/prefix")
run("configuring" ${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/migration" -B "${WORK}/build" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}"
  "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DTABLES=${ROOT}/docs/migration" -DUNITS=3 -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run("compiling every right-hand side" ${CMAKE_COMMAND} --build "${WORK}/build")
file(MAKE_DIRECTORY "${WORK}/run")
execute_process(COMMAND "${WORK}/build/migration" WORKING_DIRECTORY "${WORK}/run" OUTPUT_VARIABLE output ERROR_VARIABLE error RESULT_VARIABLE result)
message("${output}${error}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "rows of the migration tables fail (${result}); see above")
endif()
