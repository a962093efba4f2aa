#include <boost/test/unit_test.hpp>

#include <catena/kernels/base/error_context.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>

#include <catena/kernels/base/error.h>

namespace {

template <class E> void thrown_again(const E& error, const std::string& expected) {
  try {
    try {
      throw error;
    } catch (...) {
      catena::rethrow_from("extension x");
    }
  } catch (const E& e) {
    BOOST_TEST((typeid(e) == typeid(E)));
    BOOST_TEST(e.what() == expected);
  }
}

struct Mine : catena::ValueError {
  int code = 7;
  using ValueError::ValueError;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(error_context)

BOOST_AUTO_TEST_CASE(classes_stay_and_messages_begin_with_the_place) {
  thrown_again(catena::ValueError("f: bad"), "extension x: f: bad");
  thrown_again(catena::OverflowError("f: bad"), "extension x: f: bad");
  thrown_again(catena::KeyError("f: bad"), "extension x: f: bad");
  thrown_again(catena::OutOfMemoryError("f: bad"), "extension x: f: bad");
  thrown_again(catena::IndexError("f: bad"), "extension x: f: bad");
  thrown_again(std::runtime_error("bad"), "extension x: bad");
  thrown_again(std::out_of_range("bad"), "extension x: bad");
  BOOST_CHECK_EXCEPTION(
      {
        try {
          throw std::bad_alloc();
        } catch (...) {
          catena::rethrow_from("extension x");
        }
      },
      catena::OutOfMemoryError,
      [](const auto& e) { return e.what() == std::string("extension x: the host has no memory left"); });
  thrown_again(Mine("bad"), "bad");  // what it is cannot be made again
  const catena::InvalidType type("a == b", "1 != 2", "In f: ");
  thrown_again(type, std::string("extension x: ") + type.what());
  const catena::CudaError cuda("cuBLAS", 13, "CUBLAS_STATUS_X", "matmul");
  thrown_again(cuda, std::string("extension x: ") + cuda.what());
}

BOOST_AUTO_TEST_CASE(axis_errors_are_of_both_classes) {
  const catena::AxisError axis(-4, 3, "sum"), plain(1, 0);
  BOOST_TEST(axis.what() == std::string("sum: axis -4 is out of bounds for array of dimension 3"));
  BOOST_TEST(plain.what() == std::string("axis 1 is out of bounds for array of dimension 0"));
  BOOST_TEST(axis.axis() == -4);
  BOOST_TEST(axis.ndim() == 3);
  BOOST_CHECK_THROW(throw axis, catena::ValueError);
  BOOST_CHECK_THROW(throw axis, catena::IndexError);
  BOOST_CHECK_THROW(throw axis, catena::Error);
  BOOST_CHECK_THROW(throw axis, std::exception);
  const catena::ValueError& value = axis;
  const catena::IndexError& index = axis;
  BOOST_TEST(value.what() == axis.what());
  BOOST_TEST(index.what() == axis.what());
  thrown_again(axis, "extension x: sum: axis -4 is out of bounds for array of dimension 3");
  thrown_again(plain, "extension x: axis 1 is out of bounds for array of dimension 0");

  const catena::InvalidAxis invalid("axis < x.ndim", "2 >= 2", 2, 2, "In f: ");
  BOOST_TEST(invalid.what() == std::string("In f: Expect: axis < x.ndim\nActual: 2 >= 2\n"
                                           "axis 2 is out of bounds for array of dimension 2"));
  BOOST_CHECK_THROW(throw invalid, catena::InvalidType);
  BOOST_CHECK_THROW(throw invalid, catena::AxisError);
  BOOST_CHECK_THROW(throw invalid, std::runtime_error);
  thrown_again(invalid, std::string("extension x: ") + invalid.what());
  BOOST_TEST(Mine("bad").what() == std::string("bad"));  // a program's class names its direct base only
}

BOOST_AUTO_TEST_CASE(parts_of_errors_stay) {
  try {
    try {
      throw catena::CudaError("cuBLAS", 13, "CUBLAS_STATUS_X", "matmul");
    } catch (...) {
      catena::rethrow_from("here");
    }
  } catch (const catena::CudaError& e) {
    BOOST_TEST(e.library() == "cuBLAS");
    BOOST_TEST(e.code() == 13);
    BOOST_TEST(e.symbol() == "CUBLAS_STATUS_X");
  }
  try {
    try {
      throw catena::InvalidType("a", "b", "In f: ");
    } catch (...) {
      catena::rethrow_from("here");
    }
  } catch (const catena::InvalidType& e) {
    BOOST_TEST(e.expect() == "a");
    BOOST_TEST(e.actual() == "b");
  }
}

// An exception of the standard library for want of memory or threads becomes an error of this library.
BOOST_AUTO_TEST_CASE(errors_of_the_standard_library) {
  const auto again = [](auto thrown) {
    try {
      try {
        throw thrown;
      } catch (...) {
        catena::rethrow_standard("here");
      }
    } catch (const catena::OutOfMemoryError& e) {
      return std::string("memory ") + e.what();
    } catch (const catena::RuntimeError& e) {
      return std::string("system ") + e.what();
    } catch (const std::exception& e) {
      return std::string("as it is ") + e.what();
    }
  };
  BOOST_TEST(again(std::bad_alloc()) == "memory here: the host has no memory left");
  BOOST_TEST(again(std::system_error(EAGAIN, std::generic_category(), "thread")).starts_with("system here: thread"));
  BOOST_TEST(again(std::bad_array_new_length()) == "memory here: the host has no memory left");
  BOOST_TEST(again(std::length_error("vector::reserve")) ==
             "memory here: more is asked for than any memory holds (vector::reserve)");
  try {
    try {
      throw std::bad_alloc();
    } catch (...) {
      catena::rethrow_standard([]() -> std::string { throw std::bad_alloc(); });
    }
  } catch (const catena::OutOfMemoryError& e) {
    BOOST_TEST(std::string(e.what()) == "the host has no memory left");
  }
  const auto renamed = [](const char* message) {
    try {
      try {
        throw catena::OutOfMemoryError(message);
      } catch (...) {
        catena::rethrow_standard("outer", true);
      }
    } catch (const catena::OutOfMemoryError& e) {
      return std::string(e.what());
    }
  };
  BOOST_TEST(renamed("inner: for 5 bytes: none") == "outer: for 5 bytes: none");
  BOOST_TEST(renamed("the host has no memory left") == "outer: the host has no memory left");
  BOOST_TEST(again(catena::OutOfMemoryError("inner: none")) == "memory inner: none");
  BOOST_TEST(again(catena::ValueError("f: x")) == "as it is f: x");
  BOOST_TEST(again(std::out_of_range("y")) == "as it is y");
}

BOOST_AUTO_TEST_SUITE_END()
