# What a program that is linked to the shared libraries loads, and when.

# check_start(<program>): nothing that only modules are linked to is loaded at its start.
function(check_start program)
  run("listing what ${program} loads at its start" ${CMAKE_COMMAND} -E env LD_TRACE_LOADED_OBJECTS=1 "${program}")
  string(REGEX MATCHALL "lib(dnnl|openblas|OpenCL|gfortran|quadmath|gomp|hdf5|mpi|open-pal)[^ ]*" found "${output}")
  if(found OR NOT output MATCHES "libcatena_kernels")
    message(FATAL_ERROR "${program} loads ${found} at its start:\n${output}")
  endif()
endfunction()

# check_modules(<program> <folder>): a program made of consumer/use_ndarray.cpp loads the modules at the first products that need them,
# also from a relative folder, and says which one is missing.
function(check_modules program folder)
  check_start("${program}")
  string(REPLACE "," ";" modules "${MODULES}")
  set(libraries "")  # as the program sorts them
  if(openblas IN_LIST modules)
    list(APPEND libraries openblas)
  endif()
  if(onednn IN_LIST modules)
    list(PREPEND libraries dnnl)
  endif()

  cmake_path(GET folder PARENT_PATH up)
  cmake_path(GET folder FILENAME name)
  foreach(path "${folder}" "${name}")
    execute_process(COMMAND ${CMAKE_COMMAND} -E env CATENA_DEVICE=cpu "LD_LIBRARY_PATH=${path}" "${program}" WORKING_DIRECTORY "${up}"
      OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
    if(NOT result EQUAL 0 OR NOT output MATCHES "at first:\nafter large products:([^\n]*)\n")
      message(FATAL_ERROR "${program} with LD_LIBRARY_PATH=${path} in ${up} (${result}):\n${output}")
    endif()
    string(REGEX MATCHALL "dnnl|openblas" loaded "${CMAKE_MATCH_1}")
    if(NOT loaded STREQUAL libraries)
      message(FATAL_ERROR "${program} loaded ${loaded} for large products, not ${libraries}:\n${output}")
    endif()
  endforeach()

  foreach(module IN LISTS modules)
    file(GLOB file "${folder}/libcatena_ndarray_${module}.so.*")
    file(RENAME "${file}" "${WORK}/hidden")
    execute_process(COMMAND ${CMAKE_COMMAND} -E env CATENA_DEVICE=cpu "${program}"
      OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
    file(RENAME "${WORK}/hidden" "${file}")
    string(FIND "${output}" "${file}: cannot open shared object file" at)
    if(result EQUAL 0 OR NOT output MATCHES "RuntimeError" OR at EQUAL -1)
      message(FATAL_ERROR "${program} without ${file} (${result}):\n${output}")
    endif()
    message(STATUS "without ${file}: an error that names it")
  endforeach()
endfunction()
