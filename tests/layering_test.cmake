# cmake -DROOT=<source root> -P layering_test.cmake: reads every #include of the tree and fails on one that points the wrong way, on one
# that is not written <catena/...>, and on a circle between the headers of folders.
# With -DSELF_TEST=<scratch folder> instead it checks itself on small trees with one violation of each kind.
cmake_minimum_required(VERSION 3.22)

# The folders: <folder>|<folders that its headers may include>|<folders that its sources may include beyond these>. Files below a folder that is
# not listed belong to it, for kernels, autograd, nn and training only those right in the folder. A header beside the folder
# with its name (nn/links.h, nn/links/) belongs to the folder.
set(folders
  "kernels||"
  "kernels/lists||"
  "kernels/base|kernels kernels/lists|"
  "kernels/formats|kernels kernels/base|"
  "kernels/elementwise|kernels|"
  "kernels/reduction|kernels|"
  "kernels/nn|kernels|"
  "kernels/training|kernels|"
  "kernels/device|kernels|"
  "kernels/registry|kernels kernels/base kernels/lists|kernels/elementwise kernels/reduction kernels/nn kernels/training"

  "ndarray||ndarray/cpu ndarray/cuda ndarray/device ndarray/memory ndarray/user_kernel"
  "ndarray/core|kernels kernels/lists kernels/base kernels/registry|ndarray/device ndarray/memory"
  "ndarray/device|kernels kernels/base kernels/registry ndarray/core|ndarray/cuda/runtime"
  "ndarray/memory|kernels/base ndarray/core ndarray/device|kernels/registry ndarray/cuda/runtime"
  "ndarray/engine|kernels kernels/base kernels/registry ndarray/core ndarray/device ndarray/memory|"
  "ndarray/compile|kernels/base|kernels/formats kernels/registry"
  "ndarray/routines|kernels kernels/lists kernels/base kernels/registry ndarray/core ndarray/device ndarray/memory ndarray/engine ndarray/cuda/api|kernels/formats ndarray/cuda/runtime ndarray/cuda/vendor"
  "ndarray/testing|kernels/base ndarray/core ndarray/routines|ndarray/device ndarray/memory"
  "ndarray/user_kernel|kernels kernels/lists kernels/base kernels/registry ndarray/core ndarray/device ndarray/memory ndarray/engine ndarray/routines|kernels/device"
  "ndarray/sparse|kernels/base kernels/registry ndarray/core ndarray/device ndarray/engine ndarray/routines|kernels/formats ndarray/user_kernel ndarray/cuda/vendor"
  "ndarray/cpu|kernels kernels/base kernels/registry ndarray/core ndarray/device ndarray/memory ndarray/user_kernel|kernels/device kernels/nn kernels/formats ndarray/compile ndarray/cuda/compiler"
  "ndarray/cuda/api||"
  "ndarray/cuda/runtime|kernels/base ndarray/core ndarray/device ndarray/memory ndarray/cuda/api|ndarray/cuda/compiler"
  "ndarray/cuda/compiler|kernels/base kernels/device kernels/registry ndarray/compile ndarray/cuda/runtime|kernels/formats"
  "ndarray/cuda/plans|kernels/base kernels/device kernels/registry ndarray/compile ndarray/core ndarray/device ndarray/memory ndarray/cuda/compiler ndarray/cuda/runtime|kernels ndarray/cuda ndarray/cuda/vendor"
  "ndarray/cuda/vendor|kernels/base kernels/registry ndarray/core ndarray/device ndarray/memory ndarray/cuda/api ndarray/cuda/runtime|ndarray/engine ndarray/cuda/plans"
  "ndarray/cuda|kernels/base kernels/registry ndarray/core ndarray/device ndarray/memory ndarray/cuda/runtime ndarray/cuda/compiler ndarray/cuda/plans ndarray/cuda/vendor ndarray/user_kernel|kernels/device"
  "ndarray/chainer_cuda|kernels/base kernels/lists ndarray/core ndarray/device ndarray/memory ndarray/engine ndarray/routines ndarray/user_kernel ndarray/profile|ndarray/compile ndarray/cpu ndarray/cuda/compiler ndarray/cuda/runtime ndarray/cuda/vendor"
  "ndarray/profile|kernels/base|ndarray/device ndarray/memory ndarray/cuda/api ndarray/cuda/runtime"
  "ndarray/tools||kernels/base ndarray/compile ndarray/cuda/compiler ndarray/cuda/plans"

  "autograd/backend|kernels/base kernels/registry|"
  "autograd|kernels/base kernels/registry autograd/backend|autograd/batching autograd/functions autograd/nn_extension"
  "autograd/batching|kernels/base kernels/registry autograd autograd/backend autograd/nn_extension autograd/linalg_extension|"
  "autograd/functions|kernels/base kernels/registry autograd|autograd/backend autograd/nn_extension autograd/linalg_extension"
  "autograd/nn_extension|kernels/base autograd/backend|kernels/registry autograd"
  "autograd/linalg_extension|kernels/base autograd/backend|autograd"
  "autograd/ndarray_backend|kernels/base autograd autograd/backend autograd/functions autograd/nn_extension autograd/linalg_extension ndarray/core ndarray/device ndarray/memory ndarray/engine ndarray/routines ndarray/cuda/api ndarray/cuda/runtime ndarray/chainer_cuda ndarray/sparse|kernels/registry ndarray/profile ndarray/cuda/plans ndarray/cuda/vendor ndarray/cpu"
  "nn|kernels/base autograd|autograd/functions nn/serializers"
  "nn/distributions|kernels/base autograd nn|kernels/registry autograd/functions nn/functions"
  "nn/functions|kernels/base autograd autograd/functions|kernels/registry autograd/nn_extension"
  "nn/serializers|kernels/base kernels/formats autograd nn|"
  "nn/caffe|kernels/base autograd nn|kernels/formats autograd/functions nn/functions nn/links"
  "nn/onnx|kernels/base autograd nn|kernels/formats kernels/registry autograd/functions nn/functions nn/links"
  "nn/links|kernels/base autograd nn nn/functions|autograd/functions nn/serializers"
  "nn/link_hooks|kernels/base autograd nn|kernels/registry autograd/functions nn/links"
  "nn/summary|kernels/base autograd nn|nn/functions nn/links"
  "nn/vision|kernels/base autograd nn nn/functions nn/links|kernels/formats nn/caffe nn/serializers"
  "training|kernels/base kernels/registry autograd nn nn/serializers|kernels kernels/formats autograd/backend nn/functions nn/links training/extensions"
  "training/datasets|kernels/base kernels/formats training|kernels"
  "training/transforms|kernels/base autograd nn/functions training|kernels autograd/functions"
  "training/parallel|kernels/base kernels/formats autograd nn nn/serializers training|kernels autograd/backend"
  "training/communicators|kernels/base autograd autograd/backend nn|nn/serializers training/parallel"
  "training/tools||kernels/base"
  "training/multi_node|kernels/base autograd autograd/backend nn nn/functions nn/links nn/serializers training training/communicators training/extensions training/parallel|kernels/registry autograd/functions"
  "training/extensions|kernels/base autograd nn nn/serializers training|kernels/formats training/datasets")

# Beyond the libraries: <folder>|<what it may include, by prefix>|<what it may not, although the former matches>. The first row counts.
set(rules
  "tests/kernels/|kernels/,tests/|tests/support/use_"
  "tests/ndarray/|kernels/,ndarray/,tests/|-"
  "tests/cuda/|kernels/,ndarray/,tests/|-"
  "tests/autograd/|kernels/,autograd/,tests/|autograd/ndarray_backend/"
  "tests/nn/|kernels/,autograd/,nn/,tests/|autograd/ndarray_backend/"
  "tests/training/|kernels/,autograd/,nn/,training/,tests/|autograd/ndarray_backend/"
  "tests/support/reference_|kernels/,autograd/,nn/,training/,tests/|autograd/ndarray_backend/"
  "tests/support/|kernels/,ndarray/,autograd/,nn/,training/,tests/,catena.h|-"
  "examples/ndarray/|kernels/,ndarray/,examples/|-")

set(libraries "^(kernels|ndarray|autograd|nn|training)/")
# The header that includes a whole library. No header of the libraries includes one, and it includes none of the folders of NVIDIA's libraries.
set(umbrellas "^(catena|ndarray/ndarray|autograd/autograd|nn/nn|training/training)\\.h$")
set(behind_umbrellas "^ndarray/cuda/")
# Third-party headers: never in a header that users include. ndarray/fmt.h is opt-in, headers of modules/ are not installed.
set(may_include_third_party "^ndarray/fmt\\.h$|/modules/")
set(third_party "^(fmt/|boost/|nlohmann/|oneapi/|dnnl|cblas|lapack|zlib|zip\\.h|curl/|CLI/|omp\\.h|cuda|nvrtc|cublas|cudnn|png|jpeg|hdf5|mpi\\.h)")

set(known_folders "")
foreach(row IN LISTS folders)
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 folder)
  list(GET row 1 headers)
  list(GET row 2 sources)
  list(APPEND known_folders "${folder}")
  string(REPLACE " " ";" "headers_of_${folder}" "${headers}")
  string(REPLACE " " ";" "sources_of_${folder}" "${headers} ${sources}")
endforeach()

# The folder of a file of the libraries; empty where it has none.
function(folder_of file result)
  string(REGEX REPLACE "\\.h$" "" folder "${file}")
  while(NOT folder IN_LIST known_folders)
    if(NOT folder MATCHES "/")
      break()
    endif()
    string(REGEX REPLACE "/[^/]*$" "" folder "${folder}")
  endwhile()
  if(NOT folder MATCHES "/")
    string(REGEX REPLACE "/[^/]*$" "" parent "${file}")
    if(NOT parent STREQUAL folder OR NOT folder IN_LIST known_folders)
      set(folder "")
    endif()
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# Whether a file of the libraries may include another one.
function(check_folders file path result)
  folder_of("${file}" from)
  folder_of("${path}" to)
  set(bad "")
  if(NOT from)
    set(bad "${file}: its folder is not listed: add it to the list in tests/layering_test.cmake")
  elseif(path MATCHES "${umbrellas}" AND file MATCHES "\\.h$" OR NOT to)
    set(bad "${file}: must not include <catena/${path}>")
  elseif(NOT from STREQUAL to)
    set(allowed "${sources_of_${from}}")
    if(file MATCHES "\\.(h|inc)$")
      set(allowed "${headers_of_${from}}")
      set_property(GLOBAL APPEND PROPERTY next_of_${from} "${to}")
      set_property(GLOBAL PROPERTY "include_of_${from}_${to}" "${file} includes <catena/${path}>")
    endif()
    if(NOT to IN_LIST allowed)
      set(bad "${file}: ${from} must not include <catena/${path}> (${to})")
    endif()
  endif()
  set(${result} "${bad}" PARENT_SCOPE)
endfunction()

# The same for a file of the tests and examples.
function(check_rules file path result)
  set(bad "")
  foreach(rule IN LISTS rules)
    string(REPLACE "|" ";" rule "${rule}")
    list(GET rule 0 folder)
    string(FIND "${file}" "${folder}" at)
    if(at EQUAL 0)
      list(GET rule 1 allowed)
      list(GET rule 2 forbidden)
      string(REPLACE "," "|" allowed "${allowed}")
      string(FIND "${path}" "${forbidden}" at)
      if(NOT path MATCHES "^(${allowed})" OR at EQUAL 0)
        set(bad "${file}: must not include <catena/${path}>")
      endif()
      break()
    endif()
  endforeach()
  set(${result} "${bad}" PARENT_SCOPE)
endfunction()

# The shortest circle between folders at header level, as text; empty where there is none. From every folder, in breadth.
function(find_circle result)
  set(best "")
  set(best_length 1000)
  foreach(start IN LISTS known_folders)
    set(queue "${start}")
    set(seen "")
    set(path_to_${start} "")
    while(queue)
      list(POP_FRONT queue folder)
      get_property(next GLOBAL PROPERTY next_of_${folder})
      list(REMOVE_DUPLICATES next)
      foreach(to IN LISTS next)
        set(path ${path_to_${folder}} "${folder}>${to}")
        list(LENGTH path length)
        if(to STREQUAL start AND length LESS best_length)
          set(best "${path}")
          set(best_length ${length})
        elseif(NOT to IN_LIST seen AND length LESS best_length)
          set(path_to_${to} "${path}")
          list(APPEND seen "${to}")
          list(APPEND queue "${to}")
        endif()
      endforeach()
    endwhile()
  endforeach()
  set(text "")
  foreach(edge IN LISTS best)
    string(REPLACE ">" ";" edge "${edge}")
    list(GET edge 0 from)
    list(GET edge 1 to)
    get_property(include GLOBAL PROPERTY "include_of_${from}_${to}")
    string(APPEND text ", ${include}")
  endforeach()
  string(REGEX REPLACE "^, " "" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(check_tree root result_files result_violations)
  set(violations "")
  set(files "")
  foreach(folder kernels ndarray autograd nn training tests examples benchmarks)
    file(GLOB_RECURSE found RELATIVE "${root}" "${root}/${folder}/*.h" "${root}/${folder}/*.inc" "${root}/${folder}/*.cpp")
    list(APPEND files ${found})
  endforeach()
  file(GLOB found RELATIVE "${root}" "${root}/*.h")
  list(APPEND files ${found})
  # Programs of the libraries that we are compared with, and of users: none of ours.
  list(FILTER files EXCLUDE REGEX "^(benchmarks/compare/peers|tests/documents)/")
  foreach(folder IN LISTS known_folders)
    set_property(GLOBAL PROPERTY next_of_${folder} "")
  endforeach()
  foreach(file IN LISTS files)
    file(STRINGS "${root}/${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
    foreach(line IN LISTS lines)
      set(bad "")
      if(line MATCHES "include[ \t]*\"" AND file MATCHES "^examples/")
        continue()  # examples are programs of users: their own headers are beside them
      elseif(line MATCHES "include[ \t]*\"([^\"]*)\"")
        set(bad "${file}: write <catena/...> in place of \"${CMAKE_MATCH_1}\"")
      elseif(line MATCHES "include[ \t]*<catena/([^>]*)>")
        set(path "${CMAKE_MATCH_1}")
        if(NOT EXISTS "${root}/${path}")
          set(bad "${file}: there is no <catena/${path}>")
        elseif(file MATCHES "${umbrellas}")
          if(path MATCHES "${behind_umbrellas}")
            set(bad "${file}: an umbrella header must not include <catena/${path}>")
          endif()
        elseif(NOT file MATCHES "${libraries}")
          check_rules("${file}" "${path}" bad)
        else()
          check_folders("${file}" "${path}" bad)
        endif()
      elseif(line MATCHES "include[ \t]*<([^>]*)>")
        set(path "${CMAKE_MATCH_1}")
        if(path MATCHES "${libraries}")
          set(bad "${file}: write <catena/${path}>, not <${path}>")
        elseif(file MATCHES "${libraries}" AND file MATCHES "\\.h$" AND path MATCHES "${third_party}" AND NOT file MATCHES "${may_include_third_party}")
          set(bad "${file}: a header must not include <${path}>: no third-party type in public headers")
        endif()
      endif()
      if(bad)
        list(APPEND violations "${bad}")
      endif()
    endforeach()
  endforeach()
  find_circle(circle)
  if(circle)
    list(APPEND violations "a circle between folders: ${circle}")
  endif()
  list(LENGTH files count)
  set(${result_files} ${count} PARENT_SCOPE)
  set(${result_violations} "${violations}" PARENT_SCOPE)
endfunction()

# plant(<file> <line>...): writes a file of the tree that the test checks itself on.
function(plant file)
  list(JOIN ARGN "\n" text)
  file(WRITE "${SELF_TEST}/${file}" "${text}\n")
endfunction()

function(self_test what)
  check_tree("${SELF_TEST}" count violations)
  file(REMOVE_RECURSE "${SELF_TEST}")
  if(NOT violations STREQUAL ARGN)
    list(JOIN violations "\n  " violations)
    list(JOIN ARGN "\n  " expected)
    message(FATAL_ERROR "${what}: the layering test found\n  ${violations}\ninstead of\n  ${expected}")
  endif()
endfunction()

if(SELF_TEST)
  file(REMOVE_RECURSE "${SELF_TEST}")
  plant(kernels/numeric.h)
  plant(kernels/base/a.h "#include <fmt/core.h>")
  plant(kernels/elementwise/b.h "#include <catena/kernels/base/a.h>")
  plant(ndarray/device/k.h)
  plant(ndarray/core/c.h "#include <catena/kernels/base/a.h>" "#include <kernels/base/a.h>")
  plant(ndarray/core/c.cpp "  #  include \"c.h\"" "#include <fmt/core.h>" "#include <catena/ndarray/device/k.h>")
  plant(ndarray/core/d.h "#include <catena/ndarray/device/k.h>" "#include <catena/kernels/base/missing.h>")
  plant(ndarray/cuda/vendor/l.h)
  plant(ndarray/ndarray.h "#include <catena/ndarray/core/c.h>" "#include <catena/ndarray/cuda/vendor/l.h>")
  plant(ndarray/chainer_cuda/m.h "#include <catena/ndarray/cuda/vendor/l.h>")
  plant(nn/caffe/n.h)
  plant(nn/links/o.h "#include <catena/nn/caffe/n.h>")
  plant(catena.h "#include <catena/ndarray/ndarray.h>" "#include <catena/ndarray/cuda/vendor/l.h>")
  plant(ndarray/routines/e.h "#include <catena/ndarray/ndarray.h>")
  plant(ndarray/new/f.h "#include <catena/kernels/numeric.h>")
  plant(autograd/g.h "#include <catena/ndarray/core/c.h>")
  plant(autograd/ndarray_backend/h.h "#include <catena/ndarray/core/c.h>" "#include <catena/autograd/g.h>")
  plant(nn/i.cpp "#include <catena/autograd/ndarray_backend/h.h>" "#include <catena/autograd/g.h>")
  plant(tests/nn/j_test.cpp "#include <catena/ndarray/core/c.h>" "#include <catena/autograd/g.h>")
  self_test("what must not be included"
    "kernels/base/a.h: a header must not include <fmt/core.h>: no third-party type in public headers"
    "kernels/elementwise/b.h: kernels/elementwise must not include <catena/kernels/base/a.h> (kernels/base)"
    "ndarray/chainer_cuda/m.h: ndarray/chainer_cuda must not include <catena/ndarray/cuda/vendor/l.h> (ndarray/cuda/vendor)"
    "ndarray/core/c.cpp: write <catena/...> in place of \"c.h\""
    "ndarray/core/c.h: write <catena/kernels/base/a.h>, not <kernels/base/a.h>"
    "ndarray/core/d.h: ndarray/core must not include <catena/ndarray/device/k.h> (ndarray/device)"
    "ndarray/core/d.h: there is no <catena/kernels/base/missing.h>"
    "ndarray/ndarray.h: an umbrella header must not include <catena/ndarray/cuda/vendor/l.h>"
    "ndarray/new/f.h: its folder is not listed: add it to the list in tests/layering_test.cmake"
    "ndarray/routines/e.h: must not include <catena/ndarray/ndarray.h>"
    "autograd/g.h: autograd must not include <catena/ndarray/core/c.h> (ndarray/core)"
    "nn/i.cpp: nn must not include <catena/autograd/ndarray_backend/h.h> (autograd/ndarray_backend)"
    "nn/links/o.h: nn/links must not include <catena/nn/caffe/n.h> (nn/caffe)"
    "tests/nn/j_test.cpp: must not include <catena/ndarray/core/c.h>"
    "catena.h: an umbrella header must not include <catena/ndarray/cuda/vendor/l.h>")

  # The longer way round, over nn/functions, is not what is reported.
  plant(nn/a.h "#include <catena/nn/links/b.h>" "#include <catena/nn/functions/c.h>")
  plant(nn/links/b.h "#include <catena/nn/a.h>")
  plant(nn/functions/c.h "#include <catena/nn/links/b.h>")
  self_test("circles"
    "nn/a.h: nn must not include <catena/nn/links/b.h> (nn/links)"
    "nn/a.h: nn must not include <catena/nn/functions/c.h> (nn/functions)"
    "nn/functions/c.h: nn/functions must not include <catena/nn/links/b.h> (nn/links)"
    "a circle between folders: nn/a.h includes <catena/nn/links/b.h>, nn/links/b.h includes <catena/nn/a.h>")

  # A header beside the folder with its name is in the folder.
  plant(nn/links.h "#include <catena/nn/links/a.h>")
  plant(nn/links/a.h "#include <catena/nn/b.h>")
  plant(nn/b.h)
  self_test("the header of a folder")
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
  message(STATUS "${count} files, no include against the layering, no circle between folders")
endif()
