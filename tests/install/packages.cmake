# What the tests of Debian packages share. -DBUILD=<built folder> -DWORK=<scratch folder> -DVERSION= -DCONSUMER=<folder>
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

# skip_without(<program>...): ends the test where one is missing.
macro(skip_without)
  foreach(name ${ARGN})
    find_program(program_${name} ${name} PATHS /usr/sbin /sbin)
    if(NOT program_${name})
      message(STATUS "skipped: ${name} was not found, so no packages are tried")
      return()
    endif()
  endforeach()
endmacro()

# Makes the packages in WORK/packages, or takes them from -DPACKAGES=<folder>, and sets `packages` to their names, each after those on which
# it depends, and `file_of_<name>` to their files.
macro(make_packages)
  if(PACKAGES)
    set(folder "${PACKAGES}")
  else()
    set(folder "${WORK}/packages")
    file(REMOVE_RECURSE "${folder}")
    # Their contents do not depend on the compression; gzip takes less time than xz, the default.
    run("making the packages" cpack --config "${BUILD}/CPackConfig.cmake" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip -B "${folder}")
  endif()
  string(REGEX MATCH "^[0-9]+[.][0-9]+" minor "${VERSION}")
  set(packages libcatena-ndarray${minor} libcatena-ndarray-dev libcatena-training${minor} libcatena-training${minor}-hdf5 libcatena-training${minor}-mpi libcatena-training-dev
    catena-tools catena-doc)
  file(GLOB files "${folder}/*.deb")
  set(names "")
  foreach(file IN LISTS files)
    run("reading ${file}" dpkg-deb -f "${file}" Package)
    string(STRIP "${output}" name)
    list(APPEND names ${name})
    set(file_of_${name} "${file}")
  endforeach()
  if(NOT EXISTS "${BUILD}/nn/libcatena_nn_hdf5.so.${minor}")  # built without HDF5
    list(REMOVE_ITEM packages libcatena-training${minor}-hdf5)
  endif()
  if(NOT EXISTS "${BUILD}/training/libcatena_training_mpi.so.${minor}")  # built without MPI
    list(REMOVE_ITEM packages libcatena-training${minor}-mpi)
  endif()
  set(wanted ${packages})
  list(SORT wanted)
  list(SORT names)
  if(NOT names STREQUAL wanted)
    message(FATAL_ERROR "the packages are ${names}, not ${wanted}")
  endif()
endmacro()

# build_consumer(<level> <folder> <prefix> <command>...): the programs of consumer/ by the compiler at this level, without a warning, in the
# headers of Catena as well; <command> precedes each command.
function(build_consumer level folder prefix)
  run("configuring the consumer for ${level}" ${ARGN} cmake -S "${CONSUMER}" -B "${folder}" "-DCMAKE_CXX_COMPILER=${CXX}" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCOMPONENTS=kernels,ndarray,autograd,autograd_ndarray,nn,training" "-DVERSION=${VERSION}"
    -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -DCMAKE_NO_SYSTEM_FROM_IMPORTED=ON
    "-DCMAKE_CXX_FLAGS=${level} -Wall -Wextra -Wconversion -Wsign-conversion -Werror")
  run("building it" ${ARGN} cmake --build "${folder}" -j ${JOBS})
endfunction()
