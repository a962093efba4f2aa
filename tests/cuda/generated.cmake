# The kernels of tests/support/cuda_device/manifest.cpp: generated as text at build time, compiled for the CPU by the shim, and linked to
# the tests that execute them. Included by tests/CMakeLists.txt after the tests.
if("ndarray" IN_LIST CATENA_COMPONENTS AND NOT CATENA_THREAD_SANITIZER)
  set(cuda_device "${CATENA_ROOT}/tests/support/cuda_device")
  add_executable(generate_kernels "${cuda_device}/generate_kernels.cpp" "${cuda_device}/manifest.cpp")
  target_include_directories(generate_kernels PRIVATE "${CATENA_ROOT}")
  target_link_libraries(generate_kernels PRIVATE catena::ndarray)

  set(generated "${CMAKE_CURRENT_BINARY_DIR}/generated_kernels.cpp")
  add_custom_command(
    OUTPUT "${generated}"
    COMMAND generate_kernels "${generated}"
    DEPENDS generate_kernels
    COMMENT "Generating the kernels that tests execute on the CPU"
    VERBATIM)
  add_library(cuda_device_kernels STATIC "${generated}")
  target_link_libraries(cuda_device_kernels PUBLIC test_base catena_test_support_ndarray)
  # The text itself is never changed for the CPU, so what only the GPU's compiler understands is passed over.
  target_compile_options(cuda_device_kernels PRIVATE -Wno-unknown-pragmas -Wno-unused-variable -Wno-unused-but-set-variable)

  foreach(program test_cuda_shim test_cuda_codegen)
    if(TARGET ${program})
      target_link_libraries(${program} PRIVATE cuda_device_kernels)
    endif()
  endforeach()
endif()

# Some 2000 compilations: 45 s on two free cores, several minutes where others use them too.
if(TARGET test_cuda_nvrtc)
  set_tests_properties(cuda/nvrtc PROPERTIES TIMEOUT 900)
endif()
