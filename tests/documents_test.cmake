# cmake -DROOT=<sources> -P documents_test.cmake: what the documents name is there, and what they must say they say.
#   links       every relative link leads to a file
#   variables   every CATENA_..., CHAINER_... and CUPY_... is a name in the sources
#   packages    every Debian package (lib...-dev) is one that cmake/bootstrap.sh installs
#   files       every script and document in back quotes that has a folder in its name exists
#   statements  what the specification of the documents asks for
cmake_minimum_required(VERSION 3.22)

file(GLOB documents RELATIVE "${ROOT}" "${ROOT}/*.md" "${ROOT}/docs/Dockerfile" "${ROOT}/examples/*/README.md")
file(GLOB_RECURSE pages RELATIVE "${ROOT}" "${ROOT}/docs/*.md")
list(APPEND documents ${pages})
file(GLOB_RECURSE sources "${ROOT}/cmake/*" "${ROOT}/kernels/*.cpp" "${ROOT}/kernels/*.h" "${ROOT}/kernels/*.inc" "${ROOT}/ndarray/*.cpp" "${ROOT}/ndarray/*.h"
  "${ROOT}/autograd/*.cpp" "${ROOT}/autograd/*.h" "${ROOT}/autograd/*.inc" "${ROOT}/nn/*.cpp" "${ROOT}/nn/*.h" "${ROOT}/training/*.cpp" "${ROOT}/training/*.h"
  "${ROOT}/.ci/run" "${ROOT}/examples/*.sh" "${ROOT}/tests/support/*.cpp")
set(names "")
foreach(source IN LISTS sources)
  file(STRINGS "${source}" lines REGEX "(CATENA|CHAINER|CUPY)_[A-Z]")
  string(REGEX MATCHALL "(CATENA|CHAINER|CUPY)_[A-Z0-9_]+" found "${lines}")
  list(APPEND names ${found})
endforeach()
list(REMOVE_DUPLICATES names)
file(READ "${ROOT}/cmake/bootstrap.sh" packages)

set(bad "")
set(seen 0)
foreach(document IN LISTS documents)
  file(READ "${ROOT}/${document}" text)
  get_filename_component(folder "${ROOT}/${document}" DIRECTORY)
  string(REPLACE ";" "," text "${text}")
  string(REPLACE "](" "@to@" text "${text}")  # brackets would join the elements of lists
  string(REGEX REPLACE "[][]" "" text "${text}")
  string(REGEX MATCHALL "@to@[^)#: ]+[)#]" links "${text}")
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^@to@|[)#]$" "" link "${link}")
    math(EXPR seen "${seen} + 1")
    if(NOT EXISTS "${folder}/${link}")
      string(APPEND bad "\n  ${document}: there is no ${link}")
    endif()
  endforeach()
  string(REGEX MATCHALL "(CATENA|CHAINER|CUPY)_[A-Z0-9_]+" found "${text}")
  list(REMOVE_DUPLICATES found)
  foreach(name IN LISTS found)
    math(EXPR seen "${seen} + 1")
    if(NOT name IN_LIST names)
      string(APPEND bad "\n  ${document}: no source has ${name}")
    endif()
  endforeach()
  string(REGEX MATCHALL "lib[a-z0-9-]+-dev" found "${text}")
  foreach(name IN LISTS found)
    math(EXPR seen "${seen} + 1")
    string(FIND "${packages}" "${name}" at)
    if(at LESS 0 AND NOT name MATCHES "^libcatena-")
      string(APPEND bad "\n  ${document}: cmake/bootstrap.sh does not install ${name}")
    endif()
  endforeach()
  string(REGEX MATCHALL "(cmake|tests|examples|docs|benchmarks|kernels|ndarray|training|autograd|nn)/[a-z_/0-9]*[.](sh|cmake|md|h|inc|cpp|tsv|py)" found "${text}")
  list(REMOVE_DUPLICATES found)
  foreach(name IN LISTS found)
    math(EXPR seen "${seen} + 1")
    if(NOT EXISTS "${ROOT}/${name}" AND NOT EXISTS "${folder}/${name}" AND NOT EXISTS "${ROOT}/tests/${name}" AND NOT name MATCHES "^cmake/catena/")
      string(APPEND bad "\n  ${document}: there is no ${name}")
    endif()
  endforeach()
endforeach()

function(says document)
  file(READ "${ROOT}/${document}" text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  foreach(phrase IN LISTS ARGN)
    string(FIND "${text}" "${phrase}" at)
    if(at LESS 0)
      string(APPEND bad "\n  ${document} does not say: ${phrase}")
    endif()
  endforeach()
  set(bad "${bad}" PARENT_SCOPE)
endfunction()
says(CONTRIBUTING.md "`Bug`" "`Enhancement`" "`Feature`" "`NoCompat`" "`Test`" "`Document`" "`Example`" "`Install`" "`Contribution-Welcome`"
  "`Other`" "[WIP]" "An issue" "pull request" "article" "A bug report needs" "A feature request needs" "tagged"
  "MAJOR.MINOR.REVISION" "milestone" "a revision changes the implementation only" "**Source**" "**Deprecation**" "two minors at least"
  "**Experimental**" "warns once per interface" "are not both changed in a revision" "**Exceptions** are a part" "**Files**"
  "load in every later version" "**Installation**" "come with majors only" "clang-format" "order of includes" "umbrella header")
says(docs/installation.md "CATENA_VERBOSE=1" "uninstall.cmake" "upgrade" "begin anew" "use another version of CUDA" "docs/Dockerfile"
  "built and tested by `.ci/run`, nothing more" "CATENA_CACHE_DIR" "network file system" "not built in" "cuDNN is not found" "libhdf5-dev"
  "CATENA_BUILD_JOBS=1")
says(docs/Dockerfile "cudnn" "bash cmake/build.sh release" "examples/quickstart.sh" "--gpus all")
says(README.md "define-by-run" "docs/installation.md" "loops of variable length" "Caffe" "several devices" "type checks" "NOTICE")
says(NOTICE "NumPy" "BSD 3-Clause" "Chainer" "MIT License" "Independent JPEG Group")
says(LICENSE "MIT License")

if(bad)
  message(FATAL_ERROR "documents:${bad}")
endif()
if(seen LESS 80)
  message(FATAL_ERROR "the documents name only ${seen} things")
endif()
message(STATUS "${seen} names are there")
