# interop/chainer, interop/pytorch: files of this library in Chainer 1.24 and PyTorch, and theirs here (interop_test.py). Where the Python
# lacks them the entries say that they are skipped.
find_program(CATENA_PYTHON python3)
set(CATENA_CHAINER_PYTHON "${CATENA_PYTHON}" CACHE FILEPATH "A Python with Chainer 1.24, for the tests")
set(CATENA_PYTORCH_PYTHON "${CATENA_PYTHON}" CACHE FILEPATH "A Python with PyTorch and safetensors, for the tests")
mark_as_advanced(CATENA_PYTHON CATENA_CHAINER_PYTHON CATENA_PYTORCH_PYTHON)
if(CATENA_SANITIZE OR NOT TARGET catena_autograd_ndarray OR NOT TARGET catena_training)
  return()
endif()

add_executable(test_interop interop/interop.cpp)
target_link_libraries(test_interop PRIVATE test_case_flags catena::catena)
foreach(library chainer pytorch)
  string(TOUPPER ${library} upper)
  set(python "${CATENA_${upper}_PYTHON}")
  if(NOT python)
    continue()
  endif()
  add_test(NAME interop/${library} COMMAND "${python}" "${CMAKE_CURRENT_SOURCE_DIR}/interop/interop_test.py"
    --program $<TARGET_FILE:test_interop> --only ${library})
  set_tests_properties(interop/${library} PROPERTIES LABELS cpu TIMEOUT 300
    SKIP_REGULAR_EXPRESSION "skipped: (Chainer|PyTorch): " ENVIRONMENT "${test_environment};CATENA_DEVICE=cpu")
endforeach()

# interop/dlpack_numpy, interop/dlpack_pytorch: arrays in the memory of one process (dlpack_test.py).
add_library(test_dlpack MODULE interop/dlpack.cpp)
target_link_libraries(test_dlpack PRIVATE test_case_flags catena::ndarray)
set(CATENA_NUMPY_PYTHON "${CATENA_PYTHON}" CACHE FILEPATH "A Python with NumPy, for the tests")
mark_as_advanced(CATENA_NUMPY_PYTHON)
foreach(library numpy pytorch)
  string(TOUPPER ${library} upper)
  if(CATENA_${upper}_PYTHON)
    add_test(NAME interop/dlpack_${library} COMMAND "${CATENA_${upper}_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/interop/dlpack_test.py"
      --library $<TARGET_FILE:test_dlpack> --only ${library})
    set_tests_properties(interop/dlpack_${library} PROPERTIES LABELS cpu TIMEOUT 300
      SKIP_REGULAR_EXPRESSION "skipped: (NumPy|PyTorch): " ENVIRONMENT "${test_environment};CATENA_DEVICE=cpu")
  endif()
endforeach()

# interop/onnx: exported networks in onnxruntime (onnx_test.py, onnx/).
set(CATENA_ONNX_PYTHON "${CATENA_PYTHON}" CACHE FILEPATH "A Python with onnx and onnxruntime, for the tests")
mark_as_advanced(CATENA_ONNX_PYTHON)
if(CATENA_ONNX_PYTHON)
  file(GLOB onnx_networks CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/interop/onnx/*.cpp")
  add_executable(test_onnx ${onnx_networks})
  target_link_libraries(test_onnx PRIVATE test_case_flags catena::catena)
  add_test(NAME interop/onnx COMMAND "${CATENA_ONNX_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/interop/onnx_test.py"
    --program $<TARGET_FILE:test_onnx>)
  set_tests_properties(interop/onnx PROPERTIES LABELS cpu TIMEOUT 300 SKIP_REGULAR_EXPRESSION "skipped: onnxruntime: "
    ENVIRONMENT "${test_environment};CATENA_DEVICE=cpu")
endif()
