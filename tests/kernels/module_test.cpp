// Errors of modules. That those of this library are found and used is seen in ndarray/cpu_gemm and install/.
#include <boost/test/unit_test.hpp>
#include <string>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/module.h>
#include <catena/kernels/base/version.h>

namespace {

using catena::internal::load_module;

std::string error_of_loading(const void* inside) {
  try {
    load_module("libcatena_nosuch.so.0.1", "catena_nosuch", inside);
  } catch (const catena::RuntimeError& e) {
    return e.what();
  }
  return "no error";
}

BOOST_AUTO_TEST_CASE(errors_name_the_file_and_the_reason) {
  static const char in_program = 0;
  const std::string of_program = "load_module: libcatena_nosuch.so.0.1 is needed by code that is in no shared library";
  BOOST_TEST(error_of_loading(&in_program) == of_program);

  const void* const in_kernels = reinterpret_cast<const void*>(&catena::version);
  for (int i = 0; i < 2; ++i) {
    const std::string text = error_of_loading(in_kernels);
    if (text == of_program) continue;  // a build of archives
    BOOST_TEST(text.starts_with("load_module: /"), text);
    BOOST_TEST(text.find("/kernels/libcatena_nosuch.so.0.1, which ") != std::string::npos, text);
    BOOST_TEST(text.ends_with("libcatena_nosuch.so.0.1: cannot open shared object file: No such file or directory"),
               text);
  }
}

}  // namespace
