# The software CUDA device, and the kernels of tests/support/cuda_device/manifest.h for it: generated as text and compiled for the CPU at
# build time. Included by tests/CMakeLists.txt after the tests.
set(cuda_device "${CATENA_ROOT}/tests/support/cuda_device")
if("ndarray" IN_LIST CATENA_COMPONENTS AND NOT CATENA_THREAD_SANITIZER)
  include("${cuda_device}/library.cmake")

  # ---- the device's own compiler: this one, with the options of the kernels below ---------------------------------------------------
  # Weak symbols may stay apart in each object, and extern __shared__ arrays are plain variables.
  set(kernel_options -Og -ffp-contract=off -w)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND kernel_options -fno-gnu-unique -fno-extern-tls-init)
  endif()
  set(command "${CMAKE_CXX_COMPILER}" -std=c++20 -fPIC ${kernel_options})
  if(CATENA_SANITIZE)
    list(APPEND command -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  endif()
  if(CATENA_MOLD)
    list(APPEND command -fuse-ld=mold)
  endif()
  list(JOIN command "|" command)
  set_source_files_properties("${cuda_device}/jit.cpp" PROPERTIES COMPILE_DEFINITIONS
    "CATENA_JIT_COMMAND=\"${command}\";CATENA_JIT_CACHE=\"${software_cuda}/cache\";CATENA_JIT_ROOT=\"${CATENA_ROOT}\"")

  # ---- the kernels of the manifest ----------------------------------------------------------------------------------------------------
  add_executable(generate_kernels "${cuda_device}/generate_kernels.cpp" "${cuda_device}/kernel_text.cpp" "${cuda_device}/manifest.cpp")
  target_include_directories(generate_kernels PRIVATE "${CATENA_INCLUDE_DIR}")
  target_link_libraries(generate_kernels PRIVATE catena::ndarray)

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/generated_kernels")
  file(MAKE_DIRECTORY "${folder}")
  set(files 16)
  set(generated "${folder}/table.cpp")
  math(EXPR last "${files} - 1")
  foreach(k RANGE ${last})
    list(APPEND generated "${folder}/kernels_${k}.cpp")
  endforeach()
  add_custom_command(
    OUTPUT ${generated}
    COMMAND generate_kernels "${folder}" ${files}
    DEPENDS generate_kernels
    COMMENT "Generating the kernels that the build compiles for the software CUDA device"
    VERBATIM)
  add_library(software_cuda_kernels SHARED ${generated})
  target_include_directories(software_cuda_kernels PRIVATE "${CATENA_INCLUDE_DIR}")
  target_link_libraries(software_cuda_kernels PRIVATE software_cuda)
  target_compile_options(software_cuda_kernels PRIVATE ${kernel_options})
  target_link_options(software_cuda_kernels PRIVATE -Wl,-Bsymbolic)
  set_target_properties(software_cuda_kernels PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${software_cuda}")

  software_cuda_tests(software_compiler software_check)
  # The program that runs those kernels itself, and those that the device runs them for.
  target_link_libraries(test_cuda_execute PRIVATE software_cuda_kernels software_cuda)
  get_property(programs DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER programs INCLUDE REGEX "^test_(ndarray|cuda|integration)(_|$)|_ndarray$")
  list(FILTER programs EXCLUDE REGEX "^test_cuda_(nvrtc|ptx)")  # these run none of them
  foreach(program IN LISTS programs)
    add_dependencies(${program} software_cuda_kernels)
  endforeach()
  foreach(program test_cuda_ptx test_cuda_ptx_loops)
    if(TARGET ${program})
      add_dependencies(${program} software_cuda)
    endif()
  endforeach()
endif()

# Thousands of compilations: several minutes in one process. They are cut into entries that run side by side and remember what they have
# compiled; cuda/nvrtc itself runs behind them and finds what all of them have. The time limit is for a machine that does other work, too.
if(TEST cuda/nvrtc)
  set(nvrtc_shards 12)
  math(EXPR last "${nvrtc_shards} - 1")
  foreach(k RANGE ${last})
    catena_test_entry(cuda/nvrtc_${k} test_cuda_nvrtc cuda/nvrtc_test.cpp LABELS cpu nvrtc
      ENVIRONMENT CATENA_DEVICE=cpu "CATENA_TEST_BUILD_DIR=${CMAKE_CURRENT_BINARY_DIR}" "CATENA_TEST_SHARD=${k}/${nvrtc_shards}"
      ARGUMENTS --run_test=all_kernels)
    set_tests_properties(cuda/nvrtc_${k} PROPERTIES FIXTURES_SETUP compile_records)
  endforeach()
  set_property(TEST cuda/nvrtc APPEND PROPERTY ENVIRONMENT "CATENA_TEST_BUILD_DIR=${CMAKE_CURRENT_BINARY_DIR}")
  set_tests_properties(cuda/nvrtc PROPERTIES FIXTURES_REQUIRED compile_records)
endif()
