# python/module: the Python module against NumPy (module_test.py).
if(NOT TARGET catena_python OR CATENA_SANITIZE)
  return()
endif()
set(CATENA_NUMPY_PYTHON "${CATENA_PYTHON}" CACHE FILEPATH "A Python with NumPy, for the tests")
add_test(NAME python/module COMMAND "${CATENA_NUMPY_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/python/module_test.py")
set_tests_properties(python/module PROPERTIES LABELS cpu TIMEOUT 300 SKIP_REGULAR_EXPRESSION "skipped: NumPy: "
  ENVIRONMENT "${test_environment};CATENA_DEVICE=cpu;PYTHONPATH=$<TARGET_FILE_DIR:catena_python>")

# python/array_api: the test suite of the array API standard, where CATENA_ARRAY_API_TESTS names a checkout of it (array_api_test.py).
set(CATENA_ARRAY_API_TESTS "" CACHE PATH "A checkout of data-apis/array-api-tests, for the test of the Python module")
add_test(NAME python/array_api COMMAND "${CATENA_NUMPY_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/python/array_api_test.py")
set_tests_properties(python/array_api PROPERTIES LABELS cpu TIMEOUT 900 SKIP_REGULAR_EXPRESSION "skipped: array-api-tests: "
  ENVIRONMENT "${test_environment};CATENA_DEVICE=cpu;PYTHONPATH=$<TARGET_FILE_DIR:catena_python>;CATENA_ARRAY_API_TESTS=${CATENA_ARRAY_API_TESTS}")
