# Options, flags, dependencies and the functions that define a library. Shared by the whole tree and by ndarray/ built alone.
include_guard(GLOBAL)
include(GNUInstallDirs)

get_filename_component(CATENA_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(CATENA_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}")

# Headers are included as users include them: <catena/ndarray/ndarray.h>. In the build tree a folder of symbolic links replaces the
# installed include folder, so that no header is found under a bare "kernels/..." or "nn/...".
set(CATENA_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")
file(MAKE_DIRECTORY "${CATENA_INCLUDE_DIR}/catena")
foreach(entry kernels ndarray autograd nn training tests benchmarks examples catena.h)
  if(EXISTS "${CATENA_ROOT}/${entry}")
    file(CREATE_LINK "${CATENA_ROOT}/${entry}" "${CATENA_INCLUDE_DIR}/catena/${entry}" SYMBOLIC)
  endif()
endforeach()

# ---- options ------------------------------------------------------------------------------------------------------------------
# Shared by default: some thirty programs link in a fraction of the time and memory of static ones, and the tests then cover
# the harder case (symbols, exceptions and tables across library boundaries). -DBUILD_SHARED_LIBS=OFF gives archives.
if(PROJECT_IS_TOP_LEVEL)
  option(BUILD_SHARED_LIBS "Build shared libraries" ON)
elseif(NOT DEFINED BUILD_SHARED_LIBS)
  set(BUILD_SHARED_LIBS ON)  # a variable of this folder: an option would decide for the libraries of the project around it
endif()
option(CATENA_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(CATENA_JOIN_SOURCES "Compile neighbouring sources in one go, behind a precompiled header" ON)
option(CATENA_BUILD_EXAMPLES "Build the example programs" ${PROJECT_IS_TOP_LEVEL})
option(CATENA_BUILD_BENCHMARKS "Build the benchmarks" OFF)
option(CATENA_BUILD_PYTHON "Build the Python module, if Python's headers and pybind11 are found" OFF)
option(CATENA_WERROR "Treat warnings as errors" OFF)
option(CATENA_WITH_ONEDNN "Use oneDNN for float32 matrix products and convolutions, if it is found" ON)
option(CATENA_WITH_OPENBLAS "Use OpenBLAS for float64 matrix products and LAPACK, if it is found" ON)
option(CATENA_WITH_IMAGES "Use libpng and libjpeg to read images, if they are found" ON)
option(CATENA_WITH_CURL "Use libcurl to download data sets, if it is found" ON)
option(CATENA_WITH_MPI "Let mpirun start distributed training, if an MPI library is found" ON)
option(CATENA_WITH_HDF5 "Read and write HDF5 files of models, if the HDF5 library is found" ON)
option(CATENA_WITH_CUDA_TOOLKIT "Check the CUDA backend against an installed toolkit in the tests, if one is found" ON)
set(CATENA_KERNEL_ARCHITECTURES "" CACHE STRING "GPUs for which catena_shared_kernels compiles kernels, a list of compute capabilities: 80;90")
set(CATENA_KERNEL_CACHE "" CACHE PATH "Folder with kernels of programs that ran with CATENA_CACHE_DIR=<folder>: catena_shared_kernels compiles them, too")
set(CATENA_SANITIZE "" CACHE STRING "Sanitizers, a list: address;undefined or thread")
set(CATENA_COMPONENTS "ndarray;autograd;nn;training" CACHE STRING "What to build, a list of: ndarray;autograd;nn;training")

foreach(component IN LISTS CATENA_COMPONENTS)
  if(NOT component MATCHES "^(ndarray|autograd|nn|training)$")
    message(FATAL_ERROR "CATENA_COMPONENTS: '${component}' is not one of ndarray, autograd, nn, training")
  endif()
endforeach()
# A component requires the components below it.
if("training" IN_LIST CATENA_COMPONENTS)
  list(APPEND CATENA_COMPONENTS nn)
endif()
if("nn" IN_LIST CATENA_COMPONENTS)
  list(APPEND CATENA_COMPONENTS autograd)
endif()
list(REMOVE_DUPLICATES CATENA_COMPONENTS)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
  else()
    set(CMAKE_BUILD_TYPE Release)  # of this folder: the project around it keeps its own, without NDEBUG where it has none
  endif()
endif()

# ---- tools for a faster build -------------------------------------------------------------------------------------
if(PROJECT_IS_TOP_LEVEL)
  find_program(CATENA_CCACHE ccache)
  mark_as_advanced(CATENA_CCACHE)
  if(CATENA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Compilations with a precompiled header are cached only with the first setting; with the second one, working trees in different
    # folders share what they compile.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros "CCACHE_BASEDIR=${CATENA_ROOT}"
      ${CATENA_CCACHE})
  endif()
  find_program(CATENA_MOLD mold)
  mark_as_advanced(CATENA_MOLD)
  if(CATENA_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "Catena needs g++ 12 or newer; this is ${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION}. Set CXX to a newer one.")
endif()

# ---- flags --------------------------------------------------------------------------------------------------------------------
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# For all targets, tests and examples included. No contraction to FMA: a value must not depend on the loop or on the processor that
# computes it. -Wno-trigraphs: loop signatures contain "??->?", which is not a trigraph since C++17.
add_compile_options(-Wall -Wextra -Wno-trigraphs -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # #pragma GCC ivdep is unknown to it; std::stable_sort of libstdc++ 12 calls a deprecated function. The others are meant: kernels select
  # by (a != a) | (a >= b), without a branch, and leave out the braces of aggregates in aggregates.
  add_compile_options(-Wno-unknown-pragmas -Wno-deprecated-declarations -Wno-bitwise-conditional-parentheses
    -Wno-bitwise-instead-of-logical -Wno-missing-braces)
endif()
if(CATENA_WERROR)
  add_compile_options(-Werror)
endif()
# -O2 instead of CMake's default -O3, with which only the loops are faster and all other files take longer to compile. SMALL libraries
# have -Os.
add_compile_options($<$<CONFIG:Release,RelWithDebInfo>:-O2> $<$<CONFIG:Debug>:-Og>)
add_compile_definitions($<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)

# Calls between and inside the shared libraries are most of the time of an operation on a small array: no lazy binding stubs, and no
# interposition of the libraries' functions.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fno-plt -fno-semantic-interposition)
endif()
# A compilation that ends with some hundred megabytes does not look for garbage every few of them: a tenth of the time. The other option
# lets ccache handle precompiled headers.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=524288 -fpch-preprocess)  # KiB
endif()

set(CATENA_THREAD_SANITIZER OFF)
if(CATENA_SANITIZE)
  if("thread" IN_LIST CATENA_SANITIZE)
    set(CATENA_THREAD_SANITIZER ON)
  endif()
  list(JOIN CATENA_SANITIZE "," sanitizers)
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${sanitizers})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)  # documented by GCC: false positives in instrumented code
  endif()
endif()

# The files with the inner loops, in all folders. They must vectorise, also in a debug build. For this, errno and the floating-point
# exception flags are not maintained; values are unchanged.
set(CATENA_LOOP_FILES "/(loops_[^/]*|loops/[^/]*)\\.cpp$")
set(CATENA_LOOP_OPTIONS -fno-math-errno -fno-trapping-math)
if(CATENA_FAST_BUILD)  # for tests of the build itself
  list(PREPEND CATENA_LOOP_OPTIONS -O0)
elseif(CATENA_SANITIZE)
  list(PREPEND CATENA_LOOP_OPTIONS -O1)
else()
  list(PREPEND CATENA_LOOP_OPTIONS $<IF:$<CONFIG:Debug>,-O2,-O3>)
endif()

# Before AVX-512, GCC fills the few lanes of an accumulator by "rep stos", which takes longer than folding a short row. The same for
# memcpy would make copies of a variable size slower with AVX-512 (a GRU by 12 %); loops copy constant sizes.
include(CheckCXXCompilerFlag)
set(inline_fill -mmemset-strategy=vector_loop:1024:noalign,libcall:-1:noalign)
check_cxx_compiler_flag(${inline_fill} CATENA_HAS_MEMSET_STRATEGY)
if(CATENA_HAS_MEMSET_STRATEGY)
  list(APPEND CATENA_LOOP_OPTIONS ${inline_fill})
endif()
# Where a loop lies in a cache line changes its speed by up to 8 %: with this it does not depend on the functions before it.
list(APPEND CATENA_LOOP_OPTIONS -falign-functions=64)

# ---- dependencies -------------------------------------------------------------------------------------------------------------
include(CatenaDependencies)

include(CatenaJoin)

# catena_precompile(<target> [<header>... | REUSE_FROM <target>]): its sources, but for those with loops, find parsed what most sources
# include of the standard library, and the headers given: a tenth to a third of their compilation. Without headers of their own they share
# what catena_kernels, the first library, makes; SMALL libraries do not, because a precompiled header brings its level of optimization with
# it. Sources include what they use nevertheless; without CATENA_JOIN_SOURCES nothing is precompiled.
function(catena_precompile target)
  if(NOT CATENA_JOIN_SOURCES)
    return()
  endif()
  set(headers ${ARGN})
  get_target_property(is_small ${target} CATENA_SMALL)
  if(NOT headers AND NOT is_small AND NOT target STREQUAL "catena_kernels")
    set(headers REUSE_FROM catena_kernels)
  endif()
  if(NOT "REUSE_FROM" IN_LIST headers)
    list(PREPEND headers PRIVATE <algorithm> <array> <atomic> <cmath> <concepts> <cstdint> <cstring> <functional> <map> <memory> <mutex>
      <optional> <span> <string> <string_view> <type_traits> <unordered_map> <utility> <variant> <vector>)
  endif()
  target_precompile_headers(${target} ${headers})
  if(ARGN AND NOT "REUSE_FROM" IN_LIST ARGN)
    catena_cache_with_comments(${target})
  endif()
endfunction()

# catena_cache_with_comments(<target>): for a target that precompiles headers of ours. #pragma once compares a header with the text that
# was precompiled; ccache must not take a precompiled header made before a comment was edited.
function(catena_cache_with_comments target)
  if(CATENA_CCACHE AND CMAKE_CXX_COMPILER_LAUNCHER)
    set_property(TARGET ${target} PROPERTY CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_COMMENTS=1 ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endfunction()

# ---- libraries ----------------------------------------------------------------------------------------------------------------
set(CATENA_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# catena_optimize(<file>...): sources of a SMALL library that are compiled for speed, because their own loops take the time of a call.
function(catena_optimize)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release,RelWithDebInfo>:-O2> SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# catena_compact_loops([UNROLL] <file>...): sources with loops that are vectorised as the others, but whose short inner loops are not
# unrolled completely, for less code: loops that wait for memory, call functions or are unrolled by a pragma are as fast. UNROLL: short
# inner loops are unrolled, where values would otherwise go through memory in each pass; the rest of -O3 is left out.
function(catena_compact_loops)
  cmake_parse_arguments(arg "UNROLL" "" "" ${ARGN})
  set(options -O2 -ftree-loop-vectorize -ftree-slp-vectorize -fvect-cost-model=dynamic)
  if(arg_UNROLL)
    list(APPEND options -fpeel-loops)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CATENA_FAST_BUILD AND NOT CATENA_SANITIZE)
    set_property(SOURCE ${arg_UNPARSED_ARGUMENTS} APPEND PROPERTY COMPILE_OPTIONS ${options})
  endif()
endfunction()

# What all libraries and modules have in common.
function(catena_set_up target)
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    POSITION_INDEPENDENT_CODE ON
    DEFINE_SYMBOL ""  # the same command line for shared and static objects, so that ccache shares them
    INSTALL_RPATH "$ORIGIN"
    BUILD_RPATH_USE_ORIGIN ON)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fno-semantic-interposition)
  endif()
  if(NOT CATENA_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
  set(local_symbols "${CATENA_ROOT}/cmake/local_symbols.map")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${local_symbols}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${local_symbols}")
endfunction()

# catena_library(<component> [SMALL] [FOLDER <folder>] [EXCLUDE <regex>...] [ALONE <regex>...] [CALLS <regex>...] [SOURCES <file>...]
#                DEPENDS <component>...)
# defines catena_<component>, alias catena::<component>, from every .cpp of the folder (default: the current one), those in folders
# modules/ excepted. A folder without a .cpp gives an interface library with the headers. Neighbours are compiled in one go
# (CatenaJoin.cmake), but for the files with loops and ALONE: files with properties of their own, those that share private names with
# a neighbour, and those whose speed depends on what is inlined. SMALL: compiled for size, but for the files with loops; for
# libraries whose time is spent in others. CALLS: files whose time is spent in the functions that they call; compiled by -O1, which
# takes two thirds of the time of -O2 in GCC. A library with such files has large groups of neighbours.
function(catena_library component)
  cmake_parse_arguments(arg "SMALL" "FOLDER" "EXCLUDE;ALONE;CALLS;SOURCES;DEPENDS" ${ARGN})
  if(NOT arg_FOLDER)
    set(arg_FOLDER "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${arg_FOLDER}/*.cpp")
  foreach(regex "^${PROJECT_BINARY_DIR}/" "/modules/[^/]*$" ${arg_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "${regex}")
  endforeach()
  # By their names from the folder on, so that the folder of the checkout is not matched.
  set(neighbours "")
  set(alone "${CATENA_LOOP_FILES}" ${arg_ALONE})
  list(JOIN alone "|" alone)
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH name "${arg_FOLDER}" "${source}")
    if(NOT "/${name}" MATCHES "${alone}")
      list(APPEND neighbours "${name}")
      list(REMOVE_ITEM sources "${source}")
    endif()
  endforeach()
  list(APPEND sources ${arg_SOURCES})

  set(target catena_${component})
  list(TRANSFORM arg_DEPENDS PREPEND catena_ OUTPUT_VARIABLE depends)
  if(sources OR neighbours)
    add_library(${target} ${sources})
    file(RELATIVE_PATH folder "${CATENA_ROOT}" "${arg_FOLDER}")
    set(large "")
    if(arg_CALLS)
      set(large LARGE)
    endif()
    catena_join(${target} FOLDER ${folder} FROM "${arg_FOLDER}" ${large} SOURCES ${neighbours})
    set(scope PUBLIC)
    catena_set_up(${target})
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${CATENA_SOVERSION})
    set(loops ${sources})
    list(FILTER loops INCLUDE REGEX "${CATENA_LOOP_FILES}")
    set_source_files_properties(${loops} PROPERTIES COMPILE_OPTIONS "${CATENA_LOOP_OPTIONS}" SKIP_PRECOMPILE_HEADERS ON)
    if(arg_CALLS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # -O1 of Clang has no option that inlines small functions
      list(JOIN arg_CALLS "|" calls)
      get_target_property(callers ${target} SOURCES)
      list(FILTER callers INCLUDE REGEX "${calls}")
      list(FILTER callers EXCLUDE REGEX "${CATENA_LOOP_FILES}")
      set_property(SOURCE ${callers} APPEND PROPERTY COMPILE_OPTIONS
        $<$<CONFIG:Release,RelWithDebInfo>:-O1> $<$<CONFIG:Release,RelWithDebInfo>:-finline-small-functions>)
    endif()
    if(arg_SMALL)
      set_target_properties(${target} PROPERTIES CATENA_SMALL ON)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-Os>)
    endif()
    catena_precompile(${target})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(catena::${component} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${component})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    "$<BUILD_INTERFACE:${CATENA_INCLUDE_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  if(NOT PROJECT_IS_TOP_LEVEL)
    # As CMake treats the headers of an imported target: without the warnings of the project that uses them.
    target_include_directories(${target} SYSTEM INTERFACE "$<BUILD_INTERFACE:${CATENA_INCLUDE_DIR}>")
  endif()
  target_link_libraries(${target} ${scope} ${depends})

  set_property(GLOBAL APPEND PROPERTY CATENA_TARGETS ${target})
  set_property(GLOBAL APPEND PROPERTY CATENA_INSTALL_COMPONENTS ${component})
  set_property(GLOBAL PROPERTY CATENA_FOLDER_${component} "${arg_FOLDER}")
  set_property(GLOBAL PROPERTY CATENA_DEPENDS_${component} "${arg_DEPENDS}")
endfunction()

# catena_use(<component> <dependency>... [SOURCES <file>...]): links, privately, the dependencies that CatenaDependencies.cmake found. The
# whole component gets their definitions, or only the given sources, which catena_library must have as ALONE.
function(catena_use component)
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  get_target_property(type catena_${component} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  foreach(name IN LISTS arg_UNPARSED_ARGUMENTS)
    if(CATENA_TARGET_${name})
      target_link_libraries(catena_${component} PRIVATE ${CATENA_TARGET_${name}})
      if(arg_SOURCES)
        set_property(SOURCE ${arg_SOURCES} APPEND PROPERTY COMPILE_DEFINITIONS ${CATENA_DEFINE_${name}})
      else()
        target_compile_definitions(catena_${component} PRIVATE ${CATENA_DEFINE_${name}})
      endif()
      set_property(GLOBAL APPEND PROPERTY CATENA_USES_${component} ${name})
    endif()
  endforeach()
endfunction()

# catena_module(<component> <dependency> SOURCES <file>... LOADED_BY <file>...): the sources of a component that need the dependency. Of a
# shared library they are the module libcatena_<component>_<dependency>.so.<version> beside it, which alone is linked to the dependency
# and which the sources LOADED_BY load at first use (kernels/base/module.h). Of an archive they are a part, and its users link the
# dependency. Without the dependency they are not compiled. Beyond LOADED_BY, the component is compiled by the same commands in both
# cases, so that ccache shares its objects.
function(catena_module component dependency)
  cmake_parse_arguments(arg "" "" "SOURCES;LOADED_BY" ${ARGN})
  if(NOT CATENA_TARGET_${dependency})
    return()
  endif()
  set(target catena_${component}_${dependency})
  if(BUILD_SHARED_LIBS)
    set(suffix ".so.${CATENA_SOVERSION}")
    add_library(${target} MODULE ${arg_SOURCES})
    set_target_properties(${target} PROPERTIES SUFFIX "${suffix}")
    target_link_options(${target} PRIVATE "LINKER:-soname,lib${target}${suffix}")  # as every library in a folder of the linker has it
    set_property(SOURCE ${arg_LOADED_BY} APPEND PROPERTY COMPILE_DEFINITIONS "CATENA_MODULE_SUFFIX=\"${suffix}\"")
    add_dependencies(catena_${component} ${target})
    set_property(GLOBAL APPEND PROPERTY CATENA_MODULES ${target})
  else()
    add_library(${target} OBJECT ${arg_SOURCES})
    target_sources(catena_${component} PRIVATE $<TARGET_OBJECTS:${target}>)
    target_link_libraries(catena_${component} INTERFACE $<LINK_ONLY:${CATENA_TARGET_${dependency}}>)
    set_property(GLOBAL APPEND PROPERTY CATENA_USES_${component} ${dependency})
  endif()
  catena_set_up(${target})
  get_property(depends GLOBAL PROPERTY CATENA_DEPENDS_${component})
  list(TRANSFORM depends PREPEND catena_)
  target_link_libraries(${target} PRIVATE ${depends} ${CATENA_TARGET_${dependency}})
  foreach(user ${target} catena_${component})
    target_compile_definitions(${user} PRIVATE ${CATENA_DEFINE_${dependency}})
  endforeach()
endfunction()
