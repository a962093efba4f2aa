# cmake -DROOT=<source root> -P layering_test.cmake: reads every #include of the tree and fails on one that points the wrong way.
# With -DSELF_TEST=<scratch folder> instead it checks itself on a small tree with one violation of each kind.
cmake_minimum_required(VERSION 3.22)

# <folder>|<what it may include>|<what it may not, although the former matches>. The first row whose folder matches counts.
set(rules
  "kernels/host/|kernels/|-"
  "kernels/|kernels/|kernels/host/"
  "ndarray/|kernels/,ndarray/|-"
  "autograd/ndarray_backend/|kernels/,ndarray/,autograd/|-"
  "autograd/|kernels/,autograd/|autograd/ndarray_backend/"
  "nn/|kernels/,autograd/,nn/|autograd/ndarray_backend/"
  "training/|kernels/,autograd/,nn/,training/|autograd/ndarray_backend/"
  "tests/kernels/|kernels/,tests/|tests/support/use_"
  "tests/ndarray/|kernels/,ndarray/,tests/|-"
  "tests/cuda/|kernels/,ndarray/,tests/|-"
  "tests/autograd/|kernels/,autograd/,tests/|autograd/ndarray_backend/"
  "tests/nn/|kernels/,autograd/,nn/,tests/|autograd/ndarray_backend/"
  "tests/training/|kernels/,autograd/,nn/,training/,tests/|autograd/ndarray_backend/"
  "tests/support/reference_|kernels/,autograd/,nn/,training/,tests/|autograd/ndarray_backend/"
  "tests/support/|kernels/,ndarray/,autograd/,nn/,training/,tests/,catena.h|-"
  "examples/ndarray/|kernels/,ndarray/,examples/|-")

# Headers of others: never in a header of ours that users include. ndarray/fmt.h is there for those who want it.
set(third_party "^(fmt/|boost/|nlohmann/|oneapi/|dnnl|cblas|lapack|zlib|zip\\.h|curl/|CLI/|omp\\.h|cuda|nvrtc|cublas|cudnn|png|jpeg|hdf5)")

function(check_tree root result_files result_violations)
  set(violations "")
  set(files "")
  foreach(folder kernels ndarray autograd nn training tests examples)
    file(GLOB_RECURSE found RELATIVE "${root}" "${root}/${folder}/*.h" "${root}/${folder}/*.cpp")
    list(APPEND files ${found})
  endforeach()
  foreach(file IN LISTS files)
    set(allowed "")
    set(forbidden "-")
    foreach(rule IN LISTS rules)
      string(REPLACE "|" ";" rule "${rule}")
      list(GET rule 0 folder)
      string(FIND "${file}" "${folder}" at)
      if(at EQUAL 0)
        list(GET rule 1 allowed)
        list(GET rule 2 forbidden)
        string(REPLACE "," ";" allowed "${allowed}")
        break()
      endif()
    endforeach()

    file(STRINGS "${root}/${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
    foreach(line IN LISTS lines)
      if(line MATCHES "include[ \t]*\"([^\"]*)\"")
        set(path "${CMAKE_MATCH_1}")
        if(NOT EXISTS "${root}/${path}")
          list(APPEND violations "${file}: \"${path}\" is no file, seen from the root")
        elseif(allowed)
          set(good FALSE)
          foreach(prefix IN LISTS allowed)
            string(FIND "${path}" "${prefix}" at)
            if(at EQUAL 0)
              set(good TRUE)
            endif()
          endforeach()
          string(FIND "${path}" "${forbidden}" at)
          if(NOT good OR at EQUAL 0)
            list(APPEND violations "${file}: must not include \"${path}\"")
          endif()
        endif()
      elseif(line MATCHES "include[ \t]*<([^>]*)>")
        set(path "${CMAKE_MATCH_1}")
        if(path MATCHES "^(kernels|ndarray|autograd|nn|training)/")
          list(APPEND violations "${file}: write \"${path}\", not <${path}>")
        elseif(file MATCHES "^(kernels|ndarray|autograd|nn|training)/.*\\.h$" AND path MATCHES "${third_party}"
            AND NOT file STREQUAL "ndarray/fmt.h")
          list(APPEND violations "${file}: a header must not include <${path}>: no third-party type in public headers")
        endif()
      endif()
    endforeach()
  endforeach()
  list(LENGTH files count)
  set(${result_files} ${count} PARENT_SCOPE)
  set(${result_violations} "${violations}" PARENT_SCOPE)
endfunction()

if(SELF_TEST)
  file(REMOVE_RECURSE "${SELF_TEST}")
  file(WRITE "${SELF_TEST}/kernels/host/a.h" "#include <fmt/core.h>\n")
  file(WRITE "${SELF_TEST}/kernels/b.h" "#include \"kernels/host/a.h\"\n")
  file(WRITE "${SELF_TEST}/ndarray/c.h" "#include \"kernels/b.h\"\n#include <kernels/b.h>\n")
  file(WRITE "${SELF_TEST}/ndarray/c.cpp" "  #  include \"c.h\"\n#include <fmt/core.h>\n")
  file(WRITE "${SELF_TEST}/autograd/d.h" "#include \"ndarray/c.h\"\n")
  file(WRITE "${SELF_TEST}/autograd/ndarray_backend/e.h" "#include \"ndarray/c.h\"\n#include \"autograd/d.h\"\n")
  file(WRITE "${SELF_TEST}/nn/f.cpp" "#include \"autograd/ndarray_backend/e.h\"\n#include \"autograd/d.h\"\n")
  file(WRITE "${SELF_TEST}/tests/nn/g_test.cpp" "#include \"ndarray/c.h\"\n")
  check_tree("${SELF_TEST}" count violations)
  file(REMOVE_RECURSE "${SELF_TEST}")
  set(expected
    "kernels/b.h: must not include \"kernels/host/a.h\""
    "kernels/host/a.h: a header must not include <fmt/core.h>: no third-party type in public headers"
    "ndarray/c.cpp: \"c.h\" is no file, seen from the root"
    "ndarray/c.h: write \"kernels/b.h\", not <kernels/b.h>"
    "autograd/d.h: must not include \"ndarray/c.h\""
    "nn/f.cpp: must not include \"autograd/ndarray_backend/e.h\""
    "tests/nn/g_test.cpp: must not include \"ndarray/c.h\"")
  if(NOT violations STREQUAL expected)
    message(FATAL_ERROR "the layering test found\n${violations}\ninstead of\n${expected}")
  endif()
  message(STATUS "all planted violations were found")
else()
  check_tree("${ROOT}" count violations)
  list(LENGTH violations bad)
  if(bad GREATER 0)
    list(JOIN violations "\n  " violations)
    message(FATAL_ERROR "includes against the layering:\n  ${violations}")
  endif()
  if(count LESS 10)
    message(FATAL_ERROR "only ${count} files below ${ROOT}: this is not the source tree")
  endif()
  message(STATUS "${count} files, no include against the layering")
endif()
