// nd::cuda: devices as objects, the module of an array, transfers, and kernels by their texts, with and without a GPU.
#include <catena/ndarray/chainer_cuda/cuda.h>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

namespace cuda = nd::cuda;
using nd::Array;
using test::check_values;
using test::message_of;

bool has_cuda() { return nd::is_available(nd::Device::Kind::cuda); }
bool on_cpu() { return nd::current_device() == nd::cpu_device; }

std::vector<std::string> warnings;
struct KeepWarnings {
  KeepWarnings() { warnings.clear(); }
  ~KeepWarnings() { nd::set_warning_handler(before); }
  nd::WarningHandler before = nd::set_warning_handler([](std::string_view category, std::string_view text) {
    warnings.push_back(std::string(category) + ": " + std::string(text));
  });
};

// An object that holds a Variable: an array behind data().
struct Holder {
  Array array;
  const Array& data() const { return array; }
};

std::string no_cuda() { return "CUDA is unavailable: "; }

BOOST_AUTO_TEST_SUITE(device_helpers)

BOOST_AUTO_TEST_CASE(devices_are_numbers) {
  const cuda::Device zero(0), one(1), same = zero;
  BOOST_TEST(one.id == 1);
  BOOST_TEST(int(one) == 1);
  BOOST_TEST((zero == same));
  BOOST_TEST((zero != one));
  BOOST_TEST((zero < one && zero <= one && one > zero && one >= one));
  BOOST_TEST((zero == nd::Device{nd::Device::Kind::cuda, 0}));
  BOOST_TEST((nd::Device{nd::Device::Kind::cuda, 1} == one));
  BOOST_TEST((nd::Device(one) == nd::Device{nd::Device::Kind::cuda, 1}));
  std::ostringstream out;
  out << one;
  BOOST_TEST(out.str() == "<CUDA Device 1>");
  BOOST_TEST(message_of<nd::ValueError>([] { cuda::Device(-1); }) ==
             "Device: -1 is not the number of a device; DummyDevice is the CPU");
  BOOST_CHECK_THROW(cuda::Device(100000), nd::ValueError);
  BOOST_TEST(cuda::Device().id == (on_cpu() ? -1 : 0));  // the current one
  BOOST_TEST(cuda::get_device_id() == cuda::Device().id);
}

BOOST_AUTO_TEST_CASE(the_dummy_does_nothing) {
  const auto& dummy = cuda::DummyDevice;
  BOOST_TEST(dummy.id == -1);
  BOOST_TEST(int(dummy) == -1);
  BOOST_TEST((dummy == cuda::Device(nd::cpu_device)));
  BOOST_TEST((dummy == nd::cpu_device));
  BOOST_TEST((dummy != cuda::Device(0)));
  const nd::Device before = nd::current_device();
  dummy.use();
  dummy.synchronize();
  {
    const auto on = dummy.scope();
    BOOST_TEST((nd::current_device() == before));
  }
  BOOST_TEST((nd::current_device() == before));
  BOOST_TEST(dummy.compute_capability().empty());
  BOOST_TEST(cuda::to_string(dummy) == "<CPU Device>");
  BOOST_CHECK_THROW(dummy.cublas_handle(), nd::RuntimeError);
  BOOST_CHECK_THROW(dummy.cusolver_handle(), nd::RuntimeError);
}

BOOST_AUTO_TEST_CASE(use_and_scopes) {
  if (!has_cuda()) {
    BOOST_TEST(message_of<nd::RuntimeError>([] { cuda::Device(0).use(); }).starts_with(no_cuda()));
    BOOST_TEST(message_of<nd::RuntimeError>([] { const auto on = cuda::Device(0).scope(); }).starts_with(no_cuda()));
    return;
  }
  const nd::Device before = nd::current_device();
  const int last = nd::device_count(nd::Device::Kind::cuda) - 1;
  const cuda::Device device(last);
  std::thread([&] {
    device.use();
    BOOST_TEST(cuda::get_device_id() == last);
    device.synchronize();
    const auto first = cuda::Device(0).scope();
    {
      const auto on = device.scope();
      const auto again = device.scope();
      BOOST_TEST(cuda::get_device_id() == last);
    }
    BOOST_TEST(cuda::get_device_id() == 0);
    try {
      const auto on = device.scope();
      throw std::runtime_error("stop");
    } catch (const std::runtime_error&) {}
    BOOST_TEST(cuda::get_device_id() == 0);
  }).join();
  BOOST_TEST((nd::current_device() == before));
  BOOST_CHECK_THROW(cuda::Device(last + 1).use(), nd::ValueError);
  const std::string capability = device.compute_capability();
  BOOST_TEST(capability == nd::properties(device).compute_capability());
  BOOST_TEST(capability.size() >= 2u);
}

BOOST_AUTO_TEST_CASE(handles_of_a_device) {
  if (!has_cuda()) {
    BOOST_TEST(message_of<nd::RuntimeError>([] { cuda::Device(0).cublas_handle(); }).starts_with(no_cuda()));
    BOOST_TEST(message_of<nd::RuntimeError>([] { cuda::Device(0).cusolver_handle(); }).starts_with(no_cuda()));
    return;
  }
  const auto on = cuda::Device(0).scope();
  BOOST_TEST((cuda::Device(0).cublas_handle() != nullptr));
  BOOST_TEST((cuda::Device(0).cublas_handle() == cuda::Device(0).cublas_handle()));
  BOOST_TEST((cuda::get_cublas_handle() == cuda::Device(0).cublas_handle()));
  BOOST_TEST((cuda::get_cusolver_handle() == cuda::Device(0).cusolver_handle()));
  BOOST_TEST((cuda::get_cusolver_handle() != nullptr));
  const int count = nd::device_count(nd::Device::Kind::cuda);
  if (count > 1) BOOST_TEST((cuda::Device(1).cublas_handle() != cuda::Device(0).cublas_handle()));
  BOOST_CHECK_THROW(cuda::Device(count).cublas_handle(), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(available_and_init) {
  BOOST_TEST(cuda::available() == has_cuda());
  if (has_cuda()) cuda::check_available();
  else BOOST_TEST(message_of<nd::RuntimeError>([] { cuda::check_available(); }).starts_with(no_cuda()));
  const KeepWarnings kept;
  cuda::init();
  BOOST_TEST(warnings == std::vector<std::string>{
                             "DeprecationWarning: cuda.init is deprecated. It does nothing, and is not needed."});
}

BOOST_AUTO_TEST_CASE(devices_of_numbers_and_arrays) {
  const nd::DeviceScope on(nd::cpu_device);
  const Array host = nd::ones(3);
  BOOST_TEST((cuda::get_device_from_id(std::nullopt) == cuda::DummyDevice));
  BOOST_TEST((cuda::get_device_from_array() == cuda::DummyDevice));
  BOOST_TEST((cuda::get_device_from_array(host, 3, Holder{host}, Array()) == cuda::DummyDevice));
  const KeepWarnings kept;
  BOOST_TEST((cuda::get_device(host, nullptr) == cuda::DummyDevice));
  BOOST_TEST((cuda::get_device(host, 2, cuda::Device(1)) == cuda::Device(2)));
  BOOST_TEST((cuda::get_device(cuda::Device(1), 2) == cuda::Device(1)));
  BOOST_TEST(warnings.size() == 3u);
  BOOST_TEST(warnings[0].starts_with("DeprecationWarning: cuda.get_device is deprecated. Use get_device_from_id"));
  if (!has_cuda()) {
    BOOST_TEST(message_of<nd::RuntimeError>([] { cuda::get_device_from_id(0); }).starts_with(no_cuda()));
    return;
  }
  BOOST_TEST((cuda::get_device_from_id(0) == cuda::Device(0)));
  const int last = nd::device_count(nd::Device::Kind::cuda) - 1;
  const Array there = cuda::to_gpu(host, last), empty = cuda::to_gpu(nd::zeros(0), 0);
  BOOST_TEST((cuda::get_device_from_array(host, empty, Holder{there}) == cuda::Device(last)));
  BOOST_TEST((cuda::get_device_from_array(empty) == cuda::DummyDevice));  // it owns no memory
  BOOST_TEST((cuda::get_device(host, there, 0) == cuda::Device(last)));
}

BOOST_AUTO_TEST_CASE(module_of_an_array) {
  const Array host = nd::zeros(3).to_device(nd::cpu_device);
  const auto np = nd::get_array_module(host, 1.5, Holder{host}, Array());
  BOOST_TEST((np.kind() == nd::Device::Kind::cpu));
  BOOST_TEST((np == nd::get_array_module()));
  BOOST_TEST(nd::to_string(np) == "nd (cpu)");
  BOOST_TEST((np.zeros({2, 3}).device() == nd::cpu_device));
  BOOST_TEST((np.full({2}, 1.5f).dtype() == nd::float32));
  check_values<double>(np.arange(3), {0, 1, 2});
  check_values<double>(np.array({1, 2}), {1, 2});
  check_values<double>(np.linspace(0, 1, 3), {0, 0.5, 1});
  check_values<double>(np.eye(2), {1, 0, 0, 1});
  BOOST_TEST((np.ones({2}, nd::int8).dtype() == nd::int8));
  BOOST_TEST((np.sum(np.ones_like(host)).item<double>() == 3));
  if (!has_cuda()) {
    BOOST_TEST(message_of<nd::RuntimeError>([] {
                 nd::ArrayModule(nd::Device::Kind::cuda).zeros({2});
               }).starts_with(no_cuda()));
    return;
  }
  const nd::DeviceScope on(nd::cpu_device);
  const Array device = cuda::to_gpu(host);
  const auto cp = nd::get_array_module(host, Holder{device});
  BOOST_TEST((cp == cuda::get_array_module(device)));
  BOOST_TEST((cp != np));
  BOOST_TEST(nd::to_string(cp) == "nd (cuda)");
  for (const Array& a : {cp.zeros({2}), cp.empty({2}), cp.ones({2}), cp.zeros_like(host), cp.full_like(host, 3),
                         cp.arange(2), cp.array({1, 2}), cp.full({2}, 2)})
    BOOST_TEST((a.device() == nd::Device{nd::Device::Kind::cuda, 0}));
}

BOOST_AUTO_TEST_CASE(options_of_a_module) {
  const Array x = nd::array({{1, 2, 3}, {4, 5, 6}}).to_device(nd::cpu_device);
  const auto xp = nd::get_array_module(x);
  check_values<double>(xp.sum(x, {.axis = 0}).astype(nd::float64), {5, 7, 9});
  check_values<double>(xp.mean(x, 1, {.keepdims = true}), {2, 5});
  check_values<double>(xp.max(x, {0, 1}).astype(nd::float64), {6});
  check_values<std::int64_t>(xp.argmax(x, {.axis = 1}), {2, 2});
  check_values<double>(xp.cumsum(x, {.axis = 1}).astype(nd::float64), {1, 3, 6, 4, 9, 15});
  BOOST_TEST(xp.concatenate({x, x}, {.axis = 1}).shape() == (nd::Shape{2, 6}));
  BOOST_TEST(xp.stack({x, x}, 1).shape() == (nd::Shape{2, 2, 3}));
  BOOST_TEST(xp.vstack({x, x}).shape() == (nd::Shape{4, 3}));
  BOOST_TEST(xp.transpose(xp.reshape(x, {3, -1})).shape() == (nd::Shape{2, 3}));
  BOOST_TEST(xp.split(x, 3, 1).size() == 3u);
  BOOST_TEST((xp.asarray({1, 2}, xp.float32).dtype() == nd::float32));
  check_values<double>(xp.identity(2), {1, 0, 0, 1});
}

// Written once, it runs where its argument is.
Array softplus(const Array& x) {
  const auto xp = nd::get_array_module(x);
  return xp.maximum(0, x) + xp.log1p(xp.exp(-xp.abs(x)));
}
BOOST_AUTO_TEST_CASE(softplus_on_both) {
  const std::vector<double> values{-50, -1.5, -0.0, 0.25, 3, 800};
  const auto check_on = [&](nd::Device device) {
    const Array x = nd::array(values).to_device(device), y = softplus(x);
    BOOST_TEST((y.device() == device));
    const auto result = y.to_vector<double>();
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double expected = values[k] > 700 ? values[k] : std::log1p(std::exp(values[k]));
      BOOST_TEST(std::abs(result[k] - expected) <= 1e-14 * std::max(1.0, expected), values[k]);
    }
  };
  check_on(nd::cpu_device);
  if (has_cuda()) check_on({nd::Device::Kind::cuda, 0});
  else std::cout << "not on CUDA: there is no device\n";
}

BOOST_AUTO_TEST_CASE(to_gpu_and_back) {
  const nd::DeviceScope on(nd::cpu_device);
  const Array host = nd::arange(12).reshape(3, 4);
  BOOST_TEST(cuda::to_cpu(host).get() == host.get());  // itself
  BOOST_CHECK_THROW(cuda::to_cpu(Array()), nd::TypeError);
  BOOST_CHECK_THROW(cuda::to_gpu(Array()), nd::TypeError);
  if (!has_cuda()) {
    BOOST_TEST(message_of<nd::RuntimeError>([&] { cuda::to_gpu(host); }).starts_with(no_cuda()));
    return;
  }
  const int last = nd::device_count(nd::Device::Kind::cuda) - 1;
  BOOST_CHECK_THROW(cuda::to_gpu(host, cuda::DummyDevice), nd::ValueError);
  BOOST_CHECK_THROW(cuda::to_gpu(host, last + 1), nd::ValueError);
  const Array a = cuda::to_gpu(host.transpose());
  BOOST_TEST((a.device() == nd::Device{nd::Device::Kind::cuda, 0}));
  BOOST_TEST(a.is_c_contiguous());
  CHECK_SAME(test::difference(cuda::to_cpu(a), host.transpose()), "there and back");
  BOOST_TEST(cuda::to_gpu(a).get() == a.get());
  const Array elsewhere = cuda::to_gpu(a, last);
  BOOST_TEST((elsewhere.device() == nd::Device(cuda::Device(last))));
  if (last > 0) BOOST_TEST(elsewhere.get() != a.get());
  CHECK_SAME(test::difference(cuda::to_cpu(elsewhere), host.transpose()), "from device to device");
  {
    const auto current = cuda::Device(last).scope();
    BOOST_TEST((cuda::to_gpu(host).device() == nd::Device(cuda::Device(last))));
  }
  // Through a stream, with a source that changes at once.
  const auto first = cuda::Device(0).scope();
  const nd::Stream stream;
  const Array source = host.copy().to_device(nd::cpu_device);
  const Array b = cuda::to_gpu(source, 0, stream);
  source.fill(-1);
  const Array back = cuda::to_cpu(b, stream);
  stream.synchronize();
  BOOST_TEST((back.device() == nd::cpu_device));
  CHECK_SAME(test::difference(back, host), "through a stream");
  if (last > 0) {
    BOOST_CHECK_THROW(cuda::to_gpu(source, last, stream), nd::ValueError);
    BOOST_CHECK_THROW(cuda::to_cpu(elsewhere, stream), nd::ValueError);
  }
}

BOOST_AUTO_TEST_CASE(copies) {
  const Array a = test::range(6).reshape(2, 3), b = cuda::copy(a);
  BOOST_TEST((b.device() == a.device()));
  b.fill(9);
  check_values<double>(a, {0, 1, 2, 3, 4, 5});
  const Array out = nd::zeros({2, 3});
  BOOST_TEST(cuda::copy(a, {.out = out, .out_device = cuda::DummyDevice}).get() == out.get());  // `out` wins
  check_values<double>(out, {0, 1, 2, 3, 4, 5});
  const Array host = cuda::copy(a, {.out_device = cuda::DummyDevice});
  BOOST_TEST((host.device() == nd::cpu_device));
  CHECK_SAME(test::difference(host, a), "to the host");
  BOOST_CHECK_THROW(cuda::copy(Array()), nd::TypeError);
  BOOST_CHECK_THROW(cuda::copy(a, {.out = nd::zeros({3, 2})}), nd::ValueError);
  if (!has_cuda()) return;
  const int last = nd::device_count(nd::Device::Kind::cuda) - 1;
  const auto on = cuda::Device(last).scope();
  const nd::Stream stream;
  const Array there = cuda::copy(host, {.out_device = cuda::Device(last), .stream = stream});
  stream.synchronize();
  BOOST_TEST((there.device() == nd::Device(cuda::Device(last))));
  CHECK_SAME(test::difference(there, host), "on a stream");
  CHECK_SAME(
      test::difference(
          cuda::copy(there, {.out = nd::zeros({2, 3}, nd::float32).to_device({nd::Device::Kind::cuda, 0})}), host),
      "between devices");
}

BOOST_AUTO_TEST_CASE(deprecated_creation) {
  const KeepWarnings kept;
  if (!has_cuda()) {
    BOOST_TEST(message_of<nd::RuntimeError>([] { cuda::zeros({2}); }).starts_with(no_cuda()));
    BOOST_TEST(warnings.size() == 1u);
    return;
  }
  const nd::DeviceScope on(nd::cpu_device);
  const Array host = nd::ones({2}, nd::int16);
  const auto check_one = [&](const Array& a, nd::Dtype dtype, double value, const char* name) {
    BOOST_TEST((a.device() == nd::Device{nd::Device::Kind::cuda, 0}), name);
    BOOST_TEST((a.dtype() == dtype), name);
    BOOST_TEST((a.shape() == nd::Shape{2}), name);
    if (!std::isnan(value)) check_values<double>(a, {value, value});
    BOOST_REQUIRE(!warnings.empty());
    BOOST_TEST(warnings.back() ==
               "DeprecationWarning: cuda." + std::string(name) + " is deprecated. Use nd::" + name + " instead.");
  };
  check_one(cuda::empty({2}), nd::float32, NAN, "empty");
  check_one(cuda::zeros({2}), nd::float32, 0, "zeros");
  check_one(cuda::ones({2}), nd::float32, 1, "ones");
  check_one(cuda::full({2}, 2.5), nd::float32, 2.5, "full");
  check_one(cuda::zeros({2}, nd::int8), nd::int8, 0, "zeros");
  check_one(cuda::empty_like(host), nd::int16, NAN, "empty_like");
  check_one(cuda::zeros_like(host), nd::int16, 0, "zeros_like");
  check_one(cuda::ones_like(host), nd::int16, 1, "ones_like");
  check_one(cuda::full_like(host, 7), nd::int16, 7, "full_like");
  BOOST_TEST((nd::current_device() == nd::cpu_device));
}

BOOST_AUTO_TEST_CASE(kernels_are_made_once) {
  const auto add = [](const nd::ElementwiseKernelOptions& options = {}) {
    return cuda::elementwise("T x, T y", "T z", "z = x + y * LIMIT", "add_limit", options);
  };
  const nd::ElementwiseKernelOptions ten{.preamble = "#define LIMIT 10\n"}, two{.preamble = "#define LIMIT 2\n"};
  const Array x = test::range(3);
  check_values<double>(add(ten)(x, x), {0, 11, 22});
  check_values<double>(add(two)(x, x), {0, 3, 6});
  BOOST_TEST(&add(ten).params() == &add(ten).params());
  BOOST_TEST(&add(ten).params() != &add(two).params());
  BOOST_CHECK_THROW(cuda::elementwise("T x", "T y", "y = x", ""), nd::ValueError);
  const auto sum = [](const std::string& post) {
    return cuda::reduce("T x", "T y", "x * x", "a + b", post, "0", "norm");
  };
  BOOST_TEST(sum("y = a")(x).item<double>() == 5);
  BOOST_TEST(sum("y = -a")(x).item<double>() == -5);
  BOOST_CHECK_THROW(cuda::reduce("T x", "T y", "x", "a + b", "y = a", "0", ""), nd::ValueError);
  const auto largest = cuda::reduce("T x", "T y", "x", "max(a, b)", "y = a", "-100", "largest");
  check_values<double>(largest(x.reshape(1, 3), {.axis = 1}), {2});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
