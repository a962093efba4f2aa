// cuDNN itself, where it is installed, with or without a device: versions, types, descriptors as it reads them back,
// its errors. Handles and activations are in cuda/device_cudnn.
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include <catena/ndarray/cuda/vendor/cudnn.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/cuda/cudnn_descriptors.h>
#include <catena/tests/support/run_self.h>

namespace {

using namespace nd::cuda;

bool have_cudnn() {
  try {
    cudnn_library();
    return true;
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return false;
  }
}

BOOST_AUTO_TEST_SUITE(cudnn_descriptors)

BOOST_AUTO_TEST_CASE(versions_and_types) {
  BOOST_TEST(cudnn::get_data_type(nd::float32) == 0);
  BOOST_TEST(cudnn::get_data_type(nd::float64) == 1);
  BOOST_TEST(cudnn::get_data_type(nd::float16) == 2);
  BOOST_TEST(cudnn::get_data_type(nd::bfloat16) == 9);
  if (!have_cudnn()) return;
  BOOST_TEST(cudnn::get_version() >= 90000u);
  BOOST_TEST(cudnn::get_version() == cudnn_library().version);
  BOOST_TEST(cudnn_library().path.find("libcudnn") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(tensors) {
  if (have_cudnn()) test::check_tensors();
}
BOOST_AUTO_TEST_CASE(filters) {
  if (have_cudnn()) test::check_filters();
}
BOOST_AUTO_TEST_CASE(convolutions) {
  if (have_cudnn()) test::check_convolutions();
}
BOOST_AUTO_TEST_CASE(poolings) {
  if (have_cudnn()) test::check_poolings();
}
BOOST_AUTO_TEST_CASE(activations) {
  if (have_cudnn()) test::check_activation_descriptors();
}
BOOST_AUTO_TEST_CASE(networks) {
  if (have_cudnn()) test::check_networks();
}
BOOST_AUTO_TEST_CASE(errors) {
  if (have_cudnn()) test::check_descriptor_errors();
}

// Arrays and handles of the CPU; the messages come before cuDNN is looked for.
BOOST_AUTO_TEST_CASE(the_cpu_has_no_cudnn) {
  const nd::DeviceScope on(nd::cpu_device);
  const nd::Array x = nd::zeros({2, 3}, nd::float32);
  BOOST_TEST(test::message_of<catena::RuntimeError>([] { cudnn::get_handle(); }) ==
             "cudnn::get_handle: the CPU has no cuDNN");
  BOOST_TEST(test::message_of<catena::RuntimeError>([] { cudnn::create_dropout_states(nullptr); }) ==
             "cudnn::create_dropout_states: the CPU has no cuDNN");
  BOOST_TEST(test::message_of<catena::ValueError>([&] { cudnn::activation_forward(x, cudnn::ActivationMode::relu); }) ==
             "cudnn::activation_forward: x is on cpu:0, not on a cuda device");
  BOOST_TEST(test::message_of<catena::ValueError>([&] {
               cudnn::activation_backward(x, x, x, cudnn::ActivationMode::relu);
             }) == "cudnn::activation_backward: x is on cpu:0, not on a cuda device");
  BOOST_TEST(test::message_of<catena::ValueError>([&] { cudnn::create_dropout_descriptor(nullptr, 0.5, x, 4, 1); }) ==
             "cudnn::create_dropout_descriptor: the states are on cpu:0, the current device is cpu:0; they must be "
             "on it, and it a cuda device");
}

// The program of the two cases below; nothing otherwise.
BOOST_AUTO_TEST_CASE(child) {
  if (std::getenv("CATENA_CUDNN_CHILD") == nullptr) return;
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      cudnn::create_activation_descriptor(cudnn::ActivationMode::relu);
      std::cout << "no error\n";
    } catch (const catena::RuntimeError& e) {
      std::cout << "error: " << e.what() << "\n";
    }
  }
}

test::Run without_cudnn(const std::string& folder) {
  return test::run_self("--source=cuda/cudnn_test.cpp --run_test=cudnn_descriptors/child",
                        "CATENA_CUDNN_CHILD=1 CATENA_CUDA_LIBRARIES='" + folder + "'");
}

BOOST_AUTO_TEST_CASE(a_library_that_is_not_there) {
  const std::string line =
      "error: cuDNN is unavailable: libcudnn.so.9 not found (tried: /nowhere/libcudnn.so.9, /nowhere/libcudnn.so)\n";
  const test::Run run = without_cudnn("/nowhere");
  BOOST_TEST(run.status == 0);
  BOOST_TEST(run.says(line + line), run.output);
}

BOOST_AUTO_TEST_CASE(a_library_that_is_too_old) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("catena_cudnn_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "old.cpp") << "extern \"C\" unsigned long cudnnGetVersion() { return 8907; }\n";
  const std::string file = (folder / "libcudnn.so.9").string();
  const std::string command = "c++ -shared -fPIC -o '" + file + "' '" + (folder / "old.cpp").string() + "' 2>&1";
  if (std::system(command.c_str()) != 0) {
    std::cout << "skipped: there is no compiler c++ for a library of another version\n";
    std::filesystem::remove_all(folder);
    return;
  }
  const test::Run run = without_cudnn(folder.string());
  BOOST_TEST(run.status == 0);
  BOOST_TEST(run.says("error: cuDNN is unavailable: " + file + " is version 8907, 9 or newer is needed\n"), run.output);
  std::filesystem::remove_all(folder);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
