# Installs, moves the prefix, and builds and runs the programs of consumer/ against it. Either -DBUILD=<built folder>, or
# -DSOURCE=<folder to configure and build first, in WORK/build> -DOPTIONS=<arguments, comma-separated>.
# Further: WORK (scratch folder), SHARED, COMPONENTS (comma-separated), CONSUMER, GENERATOR, CXX, ROOT, READELF, VERSION.
cmake_minimum_required(VERSION 3.22)

function(run what)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message("${output}")
    message(FATAL_ERROR "${what} failed (${result})")
  endif()
  set(output "${output}" PARENT_SCOPE)
  message(STATUS "${what}: ok")
endfunction()

if(SOURCE)
  set(BUILD "${WORK}/build")
  string(REPLACE "," ";" options "${OPTIONS}")
  run("configuring ${SOURCE} alone" ${CMAKE_COMMAND} -S "${SOURCE}" -B "${BUILD}" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DBUILD_SHARED_LIBS=${SHARED}" ${options})
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  if(cores LESS 1)  # a container without /proc
    set(cores 1)
  endif()
  run("building it" ${CMAKE_COMMAND} --build "${BUILD}" -j ${cores})
endif()

file(REMOVE_RECURSE "${WORK}/prefix" "${WORK}/moved" "${WORK}/consumer")
run("installing" ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/prefix")
file(RENAME "${WORK}/prefix" "${WORK}/moved")

# Nothing that is installed as text remembers where it was made. (Debug information may: it is for this machine.)
file(GLOB_RECURSE texts "${WORK}/moved/*.cmake" "${WORK}/moved/*.h")
foreach(file IN LISTS texts)
  file(READ "${file}" text)
  foreach(place "${WORK}" "${BUILD}" "${ROOT}/")
    string(FIND "${text}" "${place}" at)
    if(NOT at LESS 0)
      message(FATAL_ERROR "${file} mentions ${place}")
    endif()
  endforeach()
endforeach()

# Nothing of ours is found by a bare <kernels/...> or <nn/...>.
file(GLOB found RELATIVE "${WORK}/moved/include" "${WORK}/moved/include/*")
if(NOT found STREQUAL "catena")
  message(FATAL_ERROR "in the folder include there is not catena alone: ${found}")
endif()

file(GLOB_RECURSE shared_libraries "${WORK}/moved/*.so.*")
file(GLOB_RECURSE archives "${WORK}/moved/*.a")
foreach(file IN LISTS shared_libraries)
  if(NOT IS_SYMLINK "${file}")
    run("reading ${file}" ${READELF} -d "${file}")
    if(output MATCHES "R(UN)?PATH[^\n]*\\[([^]]*)\\]" AND NOT CMAKE_MATCH_2 STREQUAL "$ORIGIN")
      message(FATAL_ERROR "${file} looks for its libraries in ${CMAKE_MATCH_2}")
    endif()
  endif()
endforeach()
if(SHARED AND (archives OR NOT shared_libraries) OR NOT SHARED AND (shared_libraries OR NOT archives))
  message(FATAL_ERROR "SHARED=${SHARED}, but installed were: ${shared_libraries} ${archives}")
endif()

run("configuring the consumer" ${CMAKE_COMMAND} -S "${CONSUMER}" -B "${WORK}/consumer" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}"
  "-DCMAKE_PREFIX_PATH=${WORK}/moved" "-DCOMPONENTS=${COMPONENTS}" "-DVERSION=${VERSION}" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
  -DCMAKE_BUILD_TYPE=Debug)
run("building the consumer" ${CMAKE_COMMAND} --build "${WORK}/consumer")
file(GLOB programs "${WORK}/consumer/use_*")
if(NOT programs)
  message(FATAL_ERROR "the consumer has no program")
endif()
foreach(program IN LISTS programs)
  run("running ${program}" "${program}")
  message(STATUS "${output}")
endforeach()
