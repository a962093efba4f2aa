# cmake -DROOT=sources -P umbrella_test.cmake
# catena.h includes, directly or through others, every header of the reference (docs/reference/chapters.yml) but those for tests and those that a
# program includes itself; ndarray.h includes those of ndarray.
cmake_policy(SET CMP0057 NEW)  # if(IN_LIST)

# Sets `result` to the headers that `header` includes, itself among them.
function(closure header result)
  set(all "")
  set(open "${header}")
  while(open)
    list(POP_FRONT open next)
    if(NOT next IN_LIST all)
      list(APPEND all "${next}")
      file(STRINGS "${ROOT}/${next}" lines REGEX "^ *# *include +<catena/")
      foreach(line IN LISTS lines)
        if(line MATCHES "<catena/([^>]+)>")
          list(APPEND open "${CMAKE_MATCH_1}")
        endif()
      endforeach()
    endif()
  endwhile()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

file(READ "${ROOT}/docs/reference/chapters.yml" chapters)
string(REGEX MATCHALL "(kernels|ndarray|autograd|nn|training)/[a-z0-9_/]+\\.h" headers "${chapters}")
list(REMOVE_DUPLICATES headers)
list(LENGTH headers count)
if(count LESS 150)
  message(FATAL_ERROR "docs/reference/chapters.yml names only ${count} headers")
endif()
# What Python imports as a module of its own, too (scipy.sparse, scipy.fft, cupyx.profiler), what connects libraries, or what only
# distributed programs need.
set(own ndarray/sparse/sparse.h autograd/ndarray_backend/sparse.h ndarray/routines/cosine_transforms.h ndarray/routines/benchmark.h
  ndarray/routines/dlpack.h training/communicators/communicator.h training/communicators/transport.h
  training/communicators/thread_transport.h training/communicators/socket_transport.h)
  ndarray/routines/dlpack.h ndarray/routines/fft_plans.h ndarray/sparse/linalg.h)
closure(catena.h all)
closure(ndarray/ndarray.h arrays)
set(missing "")
foreach(header IN LISTS headers)
  if(header MATCHES "^ndarray/testing/" OR header IN_LIST own)
    continue()
  elseif(NOT header IN_LIST all)
    string(APPEND missing "\ncatena.h does not include ${header}")
  elseif(header MATCHES "^ndarray/" AND NOT header IN_LIST arrays)
    string(APPEND missing "\nndarray/ndarray.h does not include ${header}")
  endif()
endforeach()
if(missing)
  message(FATAL_ERROR "public headers that no umbrella reaches:${missing}")
endif()
message(STATUS "${count} headers of the reference are reached")
