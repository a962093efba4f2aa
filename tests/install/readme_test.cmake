# Compiles the snippets of README.md and docs/ as a user would, against an installed and moved prefix, with g++ and clangs, and runs those on
# arrays. -DBUILD=<built folder> -DWORK=<scratch folder> -DROOT=<sources> -DGENERATOR= -DCXX=
cmake_minimum_required(VERSION 3.22)

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/parts")
run("installing" ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/prefix")
file(RENAME "${WORK}/prefix" "${WORK}/moved")
file(GLOB pages "${ROOT}/docs/*.md")
run("extracting the snippets" awk -v "out=${WORK}/parts" -f "${CMAKE_CURRENT_LIST_DIR}/readme/extract.awk"
  "${ROOT}/README.md" ${pages})

# The oldest and the newest clang of the list in docs/installation.md, or else the one there is.
set(compilers "${CXX} -O0" "${CXX} -O2")
foreach(name clang++-14 clang++-19 clang++)
  find_program(${name} ${name})
  if(${name} AND (NOT name STREQUAL "clang++" OR NOT compilers MATCHES "clang"))
    list(APPEND compilers "${${name}} -O0")
  endif()
endforeach()
message(STATUS "compilers: ${compilers}")
foreach(program arrays:ndarray elements:ndarray network:training loop:training second:training capture:training)
  string(REGEX MATCH "^(.*):(.*)$" program "${program}")
  set(name ${CMAKE_MATCH_1})
  set(component ${CMAKE_MATCH_2})
  foreach(compiler IN LISTS compilers)
    string(REGEX MATCH "^(.*) (-O.)$" compiler "${compiler}")
    set(folder "${WORK}/${name}")
    file(REMOVE_RECURSE "${folder}")
    run("configuring ${name} for ${compiler}" ${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/readme" -B "${folder}" -G "${GENERATOR}"
      "-DCMAKE_CXX_COMPILER=${CMAKE_MATCH_1}" "-DCMAKE_CXX_FLAGS=${CMAKE_MATCH_2}" "-DCMAKE_PREFIX_PATH=${WORK}/moved"
      "-DPARTS=${WORK}/parts" "-DPROGRAM=${name}" "-DCOMPONENT=${component}" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
    run("building ${name} by ${compiler}" ${CMAKE_COMMAND} --build "${folder}")
    if(NOT name MATCHES "^(network|capture)$")  # those train for hours, or need a GPU
      run("running it" "${folder}/app")
    endif()
  endforeach()
endforeach()
