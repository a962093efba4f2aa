// autograd::cuda: what it takes from nd::cuda, and what concerns cuDNN.
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <catena/catena.h>

namespace {

namespace cuda = autograd::cuda;

int warnings = 0;
std::string last_warning;

// The exit status of f in a process in which nothing has been opened yet; 99 for an exception.
int in_child(const std::function<int()>& f) {
  std::cout << std::flush;
  const pid_t child = fork();
  if (child == 0) {
    nd::set_warning_handler([](std::string_view category, std::string_view text) {
      ++warnings;
      last_warning = std::string(category) + ": " + std::string(text);
    });
    int status = 99;
    try {
      status = f();
    } catch (const std::exception& e) {
      std::cerr << e.what() << std::endl;
    }
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

BOOST_AUTO_TEST_SUITE(cuda_helpers)

// First, while this process has opened neither CUDA nor cuDNN.
BOOST_AUTO_TEST_CASE(a_missing_cudnn_is_warned_of_once) {
  const bool there = in_child([] { return int(cuda::available()); }) == 1;
  if (!there) {
    BOOST_TEST(in_child([] {
                 try {
                   cuda::check_cuda_available();
                   return 1;
                 } catch (const nd::RuntimeError& e) {
                   return std::string(e.what()).starts_with("CUDA is unavailable: ") && warnings == 0 ? 0 : 2;
                 }
               }) == 0);
    return;
  }
  // The software device has no cuDNN; on a machine with one it is hidden.
  const auto without_cudnn = [](const char* chainer_cudnn) {
    if (chainer_cudnn != nullptr) ::setenv("CHAINER_CUDNN", chainer_cudnn, 1);
    else ::unsetenv("CHAINER_CUDNN");
    cuda::check_cuda_available();
    cuda::check_cuda_available();
    return cuda::cudnn_enabled();
  };
  const int found = in_child([&] {
    ::unsetenv("CHAINER_CUDNN");
    return int(cuda::cudnn_enabled());
  });
  if (found == 0) {
    BOOST_TEST(in_child([&] {
                 if (without_cudnn(nullptr) || warnings != 1) return 1;
                 return last_warning.starts_with("RuntimeWarning: cuDNN is not found") ? 0 : 2;
               }) == 0);
  } else {
    std::cout << "not checked: the warning, because there is a cuDNN\n";
    BOOST_TEST(in_child([&] { return without_cudnn(nullptr) && warnings == 0 ? 0 : 1; }) == 0);
  }
  // The first use of what cuDNN would do, without a question before it.
  const auto convolve = [](const char* chainer_cudnn) {
    if (chainer_cudnn != nullptr) ::setenv("CHAINER_CUDNN", chainer_cudnn, 1);
    else ::unsetenv("CHAINER_CUDNN");
    const nd::DeviceScope on(nd::device_from_name("cuda:0"));
    const autograd::Variable x(nd::ones({1, 1, 3, 3}, nd::float32));
    if (warnings != 0) return 1;  // arrays alone need no cuDNN
    for (int i = 0; i < 2; ++i) nn::convolution_2d(x, x);
    return warnings == 0 ? 0 : warnings == 1 && last_warning.starts_with("RuntimeWarning: cuDNN is not found") ? 2 : 3;
  };
  BOOST_TEST(in_child([&] { return convolve(nullptr); }) == (found != 0 ? 0 : 2));
  BOOST_TEST(in_child([&] { return convolve("0"); }) == 0);
  // The user has disabled it: nothing to warn of.
  BOOST_TEST(in_child([&] { return without_cudnn("0") || warnings != 0 ? 1 : 0; }) == 0);
  BOOST_TEST(in_child([&] { return int(without_cudnn("1")); }) == found);
}

BOOST_AUTO_TEST_CASE(workspace_limit) {
  constexpr std::int64_t kLeast = 256 << 20, kMost = 1 << 30;
  for (const nd::Device device : {nd::cpu_device, nd::current_device()}) {
    const nd::DeviceScope on(device);
    BOOST_TEST((cuda::get_max_workspace_size() >= kLeast && cuda::get_max_workspace_size() <= kMost));
  }
  cuda::set_max_workspace_size(1 << 20);
  BOOST_TEST(cuda::get_max_workspace_size() == 1 << 20);
  BOOST_CHECK_THROW(cuda::set_max_workspace_size(-1), nd::ValueError);
  BOOST_TEST(cuda::get_max_workspace_size() == 1 << 20);
  cuda::set_max_workspace_size(8 << 20);
}

// Variables and arrays of the framework stand for their arrays.
BOOST_AUTO_TEST_CASE(variables_and_arrays) {
  const nd::DeviceScope on(nd::cpu_device);
  const nd::Array host = nd::ones({2, 3}, nd::float32);
  const autograd::Variable x{autograd::Array(host)};
  BOOST_TEST((cuda::get_array_module(x) == nd::ArrayModule(nd::Device::Kind::cpu)));
  BOOST_TEST((cuda::get_device_from_array(x) == cuda::DummyDevice));
  BOOST_TEST((cuda::DummyDevice == cuda::Device(nd::cpu_device)));
  static_assert(std::is_same_v<cuda::ndarray, nd::Array> && std::is_same_v<cuda::Stream, nd::Stream> &&
                std::is_same_v<cuda::Event, nd::Event> && std::is_same_v<cuda::Device, nd::cuda::Device>);
  const autograd::Array same = cuda::to_cpu(x.data());
  BOOST_TEST((same.get() == x.data().get()));
  if (!cuda::available()) return;
  const autograd::Array there = cuda::to_gpu(x.data(), 0);
  const autograd::Variable y(there);
  BOOST_TEST((cuda::get_array_module(x, y) == nd::ArrayModule(nd::Device::Kind::cuda)));
  BOOST_TEST((cuda::get_device_from_array(x, y) == cuda::Device(0)));
  BOOST_TEST((cuda::get_device_from_array(there) == cuda::Device(0)));
  BOOST_TEST(nd::sum(cuda::to_cpu(there)).item<double>() == 6);
  BOOST_TEST((nd::Array(cuda::copy(there, {.out_device = cuda::DummyDevice})).device() == nd::cpu_device));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
