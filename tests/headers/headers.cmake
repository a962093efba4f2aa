# Public headers: each compiles alone, per-chapter headers are enough to work with, and the umbrellas stay small.
#
#   headers/alone    compiles the target header_alone, which has a source for every header that includes nothing else
#   headers/uses     the programs of uses/, each of which includes one header of the library, linked into one and run
#   headers/sizes    lines after preprocessing
#   headers/umbrella the umbrellas include every header of the reference
# A header that is the first one of a compilation of uses/ compiles alone: that one shows it, and header_alone leaves it out. The same
# holds for compilations of the libraries, if each file is compiled by itself and not behind precompiled headers of the standard library.
#
# Some headers of `bases` are precompiled. A header that includes a base, directly or through others, is compiled behind the precompiled
# base: all that it could find there are names of headers that it includes itself, so that an include that it lacks is still missing. What
# the base lacks is found where the base is compiled, because it is a public header, too.

if(CATENA_SANITIZE)
  return()
endif()

# Implementation folders have no public headers; kernel bodies are compiled with their kernels.
file(GLOB_RECURSE public_headers CONFIGURE_DEPENDS RELATIVE "${CATENA_ROOT}"
  "${CATENA_ROOT}/kernels/base/*.h" "${CATENA_ROOT}/kernels/formats/*.h" "${CATENA_ROOT}/kernels/registry/*.h"
  "${CATENA_ROOT}/ndarray/*.h" "${CATENA_ROOT}/autograd/*.h" "${CATENA_ROOT}/nn/*.h" "${CATENA_ROOT}/training/*.h")
list(FILTER public_headers EXCLUDE REGEX "^kernels/registry/(define|families/)")
list(FILTER public_headers EXCLUDE REGEX "^ndarray/(cuda/(api|compiler|plans|runtime|[a-z_]*\\.h)|cpu|compile)")
list(FILTER public_headers EXCLUDE REGEX "^ndarray/cuda/vendor/(blas|curand_library|factorize|solver|solver_calls|vendor)\\.h$")
list(FILTER public_headers EXCLUDE REGEX
  "^autograd/ndarray_backend/(adapter|cudnn/[a-z]+|device_extension|linalg_extension|onednn/.*)\\.h$")
list(APPEND public_headers catena.h)
foreach(component ndarray autograd nn training)
  if(NOT component IN_LIST CATENA_COMPONENTS)
    list(FILTER public_headers EXCLUDE REGEX "^(${component}/|autograd/ndarray_backend|catena\\.h$)")
  endif()
endforeach()

# add_first_header(<source> <list>): appends the header of the library that the source includes first, if it does.
function(add_first_header source list)
  file(STRINGS "${source}" includes REGEX "^ *# *include" LIMIT_COUNT 1)
  if(includes MATCHES "<catena/(.*)>")
    set(${list} ${${list}} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  endif()
endfunction()

set(shown "")
set(uses "")
if("training" IN_LIST CATENA_COMPONENTS AND "ndarray" IN_LIST CATENA_COMPONENTS)
  file(GLOB uses CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/uses/*.cpp")
endif()
foreach(source IN LISTS uses)
  add_first_header("${source}" shown)
endforeach()
set(targets "")
if(NOT CATENA_JOIN_SOURCES)
  get_property(targets GLOBAL PROPERTY CATENA_TARGETS)
endif()
foreach(target IN LISTS targets)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    foreach(source IN LISTS sources)
      if(EXISTS "${source}")
        add_first_header("${source}" shown)
      endif()
    endforeach()
  endif()
endforeach()

# Who includes a header: includers_of_<name>.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${CATENA_ROOT}" "${CATENA_ROOT}/kernels/*.h" "${CATENA_ROOT}/ndarray/*.h"
  "${CATENA_ROOT}/autograd/*.h" "${CATENA_ROOT}/nn/*.h" "${CATENA_ROOT}/training/*.h")
foreach(header IN LISTS headers)
  file(STRINGS "${CATENA_ROOT}/${header}" includes REGEX "^ *# *include *<catena/")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE ".*<catena/([^>]*)>.*" "\\1" included "${line}")
    list(APPEND "includers_of_${included}" "${header}")
  endforeach()
endforeach()

# users_of(<base> <result>): the headers that include the base, directly or through others.
function(users_of base result)
  set(open ${includers_of_${base}})
  while(open)
    list(POP_FRONT open header)
    if(NOT DEFINED seen_${header})
      set(seen_${header} 1)
      list(APPEND users "${header}")
      list(APPEND open ${includers_of_${header}})
    endif()
  endwhile()
  set(${result} ${users} PARENT_SCOPE)
endfunction()

# add_alone(<number> <base> <headers>): an object library with a source for each header, behind the base if there is one.
function(add_alone number base)
  set(sources "")
  foreach(header IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "${header}" name)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include <catena/${header}>\n")
    list(APPEND sources "${source}")
  endforeach()
  add_library(header_alone_${number} OBJECT EXCLUDE_FROM_ALL ${sources})
  target_include_directories(header_alone_${number} PRIVATE "${CATENA_INCLUDE_DIR}")
  target_compile_options(header_alone_${number} PRIVATE -Wall -Wextra -Werror -O0 -g0)
  if(base)
    target_precompile_headers(header_alone_${number} PRIVATE "<catena/${base}>")
    catena_cache_with_comments(header_alone_${number})
  endif()
  add_dependencies(header_alone header_alone_${number})
endfunction()

set(alone "")
foreach(header IN LISTS public_headers)
  # An include guard: a second time the header is empty.
  file(STRINGS "${CATENA_ROOT}/${header}" guard REGEX "^#pragma once$" LIMIT_COUNT 1)
  if(NOT guard)
    message(FATAL_ERROR "${header} has no #pragma once")
  endif()
  if(NOT header IN_LIST shown)
    list(APPEND alone "${header}")
  endif()
endforeach()
# A base stands before those that it includes.
set(bases training/trainer.h nn/link.h autograd/function_node.h autograd/variable.h ndarray/core/array.h autograd/array.h
  kernels/registry/kernel.h kernels/base/dtype.h kernels/base/error.h)
add_custom_target(header_alone)
set(number 0)
foreach(base IN LISTS bases)
  if(NOT base IN_LIST public_headers)
    continue()  # its library is left out
  endif()
  users_of(${base} users)
  set(behind "")
  foreach(header IN LISTS users)
    if(header IN_LIST alone)
      list(APPEND behind "${header}")
      list(REMOVE_ITEM alone "${header}")
    endif()
  endforeach()
  if(behind)
    math(EXPR number "${number} + 1")
    add_alone(${number} ${base} ${behind})
  endif()
endforeach()
add_alone(0 "" ${alone})
add_test(NAME headers/alone COMMAND ${CMAKE_COMMAND} --build "${PROJECT_BINARY_DIR}" --config $<CONFIG> --target header_alone -j 1)
set_tests_properties(headers/alone PROPERTIES LABELS "cpu;slow" TIMEOUT 900 COST 100)

add_test(NAME headers/umbrella COMMAND ${CMAKE_COMMAND} "-DROOT=${CATENA_ROOT}" -P "${CMAKE_CURRENT_LIST_DIR}/umbrella_test.cmake")
set_tests_properties(headers/umbrella PROPERTIES LABELS cpu TIMEOUT 60)

if(uses)
  add_executable(test_header_uses ${uses})
  target_compile_options(test_header_uses PRIVATE -Wall -Wextra -Werror -O0)
  target_link_libraries(test_header_uses PRIVATE catena::catena)
  add_test(NAME headers/uses COMMAND test_header_uses WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  set_tests_properties(headers/uses PROPERTIES LABELS cpu TIMEOUT 120 ENVIRONMENT CATENA_DEVICE=cpu)

  # The limits are for libstdc++ 12: the same standard headers have other lengths elsewhere.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    add_test(NAME headers/sizes COMMAND ${CMAKE_COMMAND} "-DCXX=${CMAKE_CXX_COMPILER}" "-DINCLUDE=${CATENA_INCLUDE_DIR}"
      "-DLIMITS=ndarray/ndarray.h=26800+8200,catena.h=30100+29600" -P "${CMAKE_CURRENT_LIST_DIR}/sizes_test.cmake")
    set_tests_properties(headers/sizes PROPERTIES LABELS cpu TIMEOUT 60)
  endif()
endif()
