# The software CUDA device: one shared library that exports the entry points of the CUDA libraries, found in ${software_cuda} under the
# name of each. A program with CATENA_CUDA_LIBRARIES=${software_cuda} in its environment uses it.
file(GLOB software_cuda_sources CONFIGURE_DEPENDS "${cuda_device}/*.cpp")
list(FILTER software_cuda_sources EXCLUDE REGEX "/(control|generate_kernels|manifest)\\.cpp$")
file(GLOB ptx_sources CONFIGURE_DEPENDS RELATIVE "${cuda_device}" "${cuda_device}/ptx/*.cpp")
add_library(software_cuda SHARED ${software_cuda_sources})
catena_join(software_cuda FOLDER tests/support/cuda_device FROM "${cuda_device}" SOURCES ${ptx_sources})
catena_precompile(software_cuda)
target_include_directories(software_cuda PRIVATE "${CATENA_INCLUDE_DIR}")
target_link_libraries(software_cuda PRIVATE catena::kernels ${CMAKE_DL_LIBS})
set_target_properties(software_cuda PROPERTIES
  CXX_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY "${software_cuda}")
# Its own calls are not resolved by name, because a test hides the names one by one to simulate an older driver.
target_link_options(software_cuda PRIVATE -Wl,-Bsymbolic)
if(NOT CATENA_SANITIZE)
  target_link_options(software_cuda PRIVATE -Wl,--no-undefined)
endif()
# The functions of cuDNN for networks, which are not in the library of the device: the framework uses its own kernels unless a program is
# given the folder of a device that has them.
file(GLOB software_cudnn_sources CONFIGURE_DEPENDS "${cuda_device}/cudnn_networks/*.cpp")
add_library(software_cudnn SHARED ${software_cudnn_sources})
target_include_directories(software_cudnn PRIVATE "${CATENA_INCLUDE_DIR}")
target_link_libraries(software_cudnn PRIVATE software_cuda catena::kernels)
set_target_properties(software_cudnn PROPERTIES
  CXX_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY "${software_cuda}")

# software_cuda_folder(<target> <folder> [<library>...]): the names of the libraries, each a link to the software device, beside those given.
set(software_cuda_names libcuda.so.1 libcublasLt.so.13 libcublas.so.13 libcurand.so.10 libcusolver.so.12 libcufft.so.12 libcusparse.so.12
  libnvjpeg.so.13 libnccl.so.2)
function(software_cuda_folder target folder)
  file(MAKE_DIRECTORY "${folder}")
  foreach(name IN LISTS software_cuda_names ARGN)
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink "${software_cuda}/$<TARGET_FILE_NAME:software_cuda>" "${folder}/${name}" VERBATIM)
  endforeach()
endfunction()
software_cuda_folder(software_cuda "${software_cuda}" libnvrtc.so.13 libcudnn.so.9)
# The same device with NVRTC of the toolkit, whose PTX it executes: CATENA_CUDA_LIBRARIES=${software_cuda_ptx}. Without a toolkit the folder
# has no NVRTC, and the tests that need it say so.
software_cuda_folder(software_cuda "${software_cuda_ptx}" libcudnn.so.9)
# Both with cuDNN's functions for networks
software_cuda_folder(software_cudnn "${software_cuda}_cudnn" libnvrtc.so.13)
software_cuda_folder(software_cudnn "${software_cuda_ptx}_cudnn")
foreach(folder "${software_cuda}_cudnn" "${software_cuda_ptx}_cudnn")
  add_custom_command(TARGET software_cudnn POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink "${software_cuda}/$<TARGET_FILE_NAME:software_cudnn>" "${folder}/libcudnn.so.9" VERBATIM)
endforeach()
foreach(file IN LISTS nvrtc_files)
  get_filename_component(name "${file}" NAME)
  foreach(folder "${software_cuda_ptx}" "${software_cuda_ptx}_cudnn")
    file(CREATE_LINK "${file}" "${folder}/${name}" SYMBOLIC)
  endforeach()
endforeach()

# software_cuda_tests(<name>...): cuda/<name> runs on the software device. Its reports name the lines of the program.
function(software_cuda_tests)
  foreach(name IN LISTS ARGN)
    if(TEST cuda/${name})
      set_source_files_properties("${CMAKE_CURRENT_SOURCE_DIR}/cuda/${name}_test.cpp" PROPERTIES
        COMPILE_OPTIONS -g1 SKIP_PRECOMPILE_HEADERS ON)
      set_property(TEST cuda/${name} APPEND PROPERTY ENVIRONMENT "CATENA_CUDA_LIBRARIES=${software_cuda}")
    endif()
  endforeach()
endfunction()
software_cuda_tests(software_access software_device software_pools software_streams)

# cuda/ptx*: with the toolkit's NVRTC. All loops are hundreds of compilations: the entries cuda/ptx_loops and cuda/ptx_loops_<k> have a part
# of them each.
if(TEST cuda/ptx_loops)
  set(ptx_shards 8)
  set_property(TEST cuda/ptx_loops APPEND PROPERTY ENVIRONMENT "CATENA_TEST_SHARD=0/${ptx_shards}")
  math(EXPR last "${ptx_shards} - 1")
  foreach(k RANGE 1 ${last})
    catena_test_entry(cuda/ptx_loops_${k} test_cuda_ptx_loops cuda/ptx_loops_test.cpp LABELS ptx
      ENVIRONMENT "CATENA_TEST_SHARD=${k}/${ptx_shards}")
  endforeach()
endif()
get_property(ptx_tests DIRECTORY PROPERTY TESTS)
list(FILTER ptx_tests INCLUDE REGEX "^cuda/ptx")
foreach(test IN LISTS ptx_tests)
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT ${ptx_environment} CATENA_DEVICE=cuda)
  set_tests_properties(${test} PROPERTIES TIMEOUT 900)
  catena_count_ptx(${test})
endforeach()

# Entries integration/<name>.cudnn: with cuDNN's functions for networks.
foreach(name cudnn cudnn_calls cudnn_layout software_cudnn use_cudnn)
  if(TEST integration/${name})
    catena_test_entry(integration/${name}.cudnn test_integration integration/${name}_test.cpp LABELS software_cuda ENVIRONMENT
      CATENA_DEVICE=cuda "CATENA_CUDA_LIBRARIES=${software_cuda}_cudnn" "CATENA_CACHE_DIR=${software_cuda}/catena_cache")
  endif()
endforeach()
