// nd::cuda::cudnn on a device: handles, activations against their formulas in double precision, dropout states,
// streams, errors. Descriptors as in cuda/cudnn.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/vendor/cudnn.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/cuda/cudnn_descriptors.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

namespace cudnn = nd::cuda::cudnn;
using cudnn::ActivationMode;
using nd::Array;

const nd::Device kCuda{nd::Device::Kind::cuda, 0};

bool have_cudnn() {
  try {
    nd::cuda::cudnn_library();
    return true;
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return false;
  }
}

// f(x, coef) and its derivative.
struct Formula {
  ActivationMode mode;
  double coef;
  double (*value)(double x, double coef);
  double (*slope)(double x, double coef);
};
double sigmoid(double x, double) { return 1 / (1 + std::exp(-x)); }
const Formula kFormulas[] = {
    {ActivationMode::sigmoid, 0, sigmoid, [](double x, double) { return sigmoid(x, 0) * (1 - sigmoid(x, 0)); }},
    {ActivationMode::relu, 0, [](double x, double) { return std::max(x, 0.0); },
     [](double x, double) { return double(x > 0); }},
    {ActivationMode::tanh, 0, [](double x, double) { return std::tanh(x); },
     [](double x, double) { return 1 / (std::cosh(x) * std::cosh(x)); }},
    {ActivationMode::clipped_relu, 0.8, [](double x, double c) { return std::min(std::max(x, 0.0), c); },
     [](double x, double c) { return double(x > 0 && x < c); }},
};

double tolerance_of(nd::Dtype dtype) {
  switch (dtype) {
    case nd::float64: return 1e-12;
    case nd::float32: return 2e-6;
    case nd::float16: return 2e-3;
    default: return 1.6e-2;
  }
}

// Of both signs and above the ceiling, none of them at a corner, exact in every dtype.
Array numbers(const nd::Shape& shape, nd::Dtype dtype, int seed) {
  std::vector<double> values(std::size_t(catena::size_of(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = double((i * 7 + std::size_t(seed)) % 23) / 8 - 1.3125;
  return nd::array(values, shape, {.dtype = dtype}).to_device(kCuda);
}

void check_activation(const Formula& f, const Array& x, const Array& gy) {
  const double tolerance = tolerance_of(x.dtype());
  const auto before = x.to_vector<double>(), given = gy.to_vector<double>();
  const Array y = cudnn::activation_forward(x, f.mode, f.coef);
  const Array gx = cudnn::activation_backward(x, y, gy, f.mode, f.coef);
  for (const Array& made : {y, gx}) {
    BOOST_TEST((made.shape() == x.shape() && made.dtype() == x.dtype() && made.device() == x.device()));
    BOOST_TEST(made.is_c_contiguous());
  }
  const auto values = y.to_vector<double>(), slopes = gx.to_vector<double>();
  for (std::size_t i = 0; i < before.size(); ++i) {
    BOOST_TEST(std::abs(values[i] - f.value(before[i], f.coef)) <= tolerance,
               "y of " << before[i] << " is " << values[i] << ", " << x.dtype());
    BOOST_TEST(std::abs(slopes[i] - given[i] * f.slope(before[i], f.coef)) <= 4 * tolerance,
               "gx at " << before[i] << " is " << slopes[i] << ", " << x.dtype());
  }
  BOOST_TEST(x.to_vector<double>() == before, boost::test_tools::per_element());
  BOOST_TEST(gy.to_vector<double>() == given, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE(device_cudnn)

BOOST_AUTO_TEST_CASE(descriptors) {
  if (!have_cudnn()) return;
  test::check_tensors();
  test::check_filters();
  test::check_convolutions();
  test::check_poolings();
  test::check_activation_descriptors();
  test::check_networks();
  test::check_descriptor_errors();
}

BOOST_AUTO_TEST_CASE(a_handle_of_each_device) {
  if (!have_cudnn()) return;
  const nd::DeviceScope on(kCuda);
  const nd::cuda::api::cudnn_handle handle = cudnn::get_handle();
  BOOST_TEST(handle != nullptr);
  BOOST_TEST(cudnn::get_handle() == handle);
  std::thread([&] {
    const nd::DeviceScope here(kCuda);
    BOOST_TEST(cudnn::get_handle() == handle);
  }).join();
  BOOST_TEST(cudnn::get_stream(handle) == nullptr);
  const nd::Stream stream;
  cudnn::set_stream(handle, static_cast<CUstream_st*>(stream.ptr()));
  BOOST_TEST(cudnn::get_stream(handle) == stream.ptr());
  cudnn::set_stream(handle, nullptr);
  const nd::cuda::api::cudnn_handle own = cudnn::create();
  BOOST_TEST(own != handle);
  cudnn::destroy(own);
  BOOST_TEST(cudnn::get_version() >= 90000u);
  if (nd::device_count(nd::Device::Kind::cuda) < 2) {
    std::cout << "skipped: the handle of another device (there is one)\n";
    return;
  }
  const nd::DeviceScope other({nd::Device::Kind::cuda, 1});
  BOOST_TEST(cudnn::get_handle() != handle);
}

BOOST_AUTO_TEST_CASE(activations_against_formulas) {
  if (!have_cudnn()) return;
  for (const Formula& f : kFormulas)
    for (const nd::Dtype dtype : {nd::float32, nd::float64, nd::float16, nd::bfloat16})
      for (const nd::Shape& shape :
           {nd::Shape{}, nd::Shape{1}, nd::Shape{37}, nd::Shape{5, 7}, nd::Shape{2, 3, 4, 5}, nd::Shape{2, 1, 2, 1, 3}})
        check_activation(f, numbers(shape, dtype, 0), numbers(shape, dtype, 5));
}

// A view is copied first; what it views stays as it is.
BOOST_AUTO_TEST_CASE(views) {
  if (!have_cudnn()) return;
  for (const Formula& f : kFormulas) {
    const Array base = numbers({6, 8}, nd::float32, 1);
    check_activation(f, base.transpose(), numbers({6, 8}, nd::float32, 2).transpose());
    check_activation(f, base(nd::Slice(1, 6, 2)), numbers({6, 8}, nd::float32, 3)(nd::Slice(0, 3)));
    const Array row = numbers({8}, nd::float32, 4);
    check_activation(f, nd::broadcast_to(row, {3, 8}), numbers({3, 8}, nd::float32, 4));
  }
}

BOOST_AUTO_TEST_CASE(without_elements) {
  if (!have_cudnn()) return;
  const Array x = numbers({3, 0, 2}, nd::float16, 0);
  const Array y = cudnn::activation_forward(x, ActivationMode::tanh),
              gx = cudnn::activation_backward(x, y, x, ActivationMode::tanh);
  for (const Array& made : {y, gx})
    BOOST_TEST((made.shape() == x.shape() && made.dtype() == x.dtype() && made.device() == x.device()));
  const nd::DeviceScope on(kCuda);
  BOOST_CHECK_THROW(cudnn::activation_forward(nd::zeros({0}, nd::int32), ActivationMode::tanh), catena::TypeError);
}

// Work goes to the stream that is current, and is among the launches on record. The handle of the program keeps its
// stream.
BOOST_AUTO_TEST_CASE(work_is_on_the_current_stream) {
  if (!have_cudnn()) return;
  const nd::DeviceScope on(kCuda);
  const nd::cuda::api::cudnn_handle handle = cudnn::get_handle();
  const Array x = numbers({4, 11}, nd::float32, 0);
  const nd::Stream stream;
  const auto newest = [&](const std::string& launch) {
    const std::string all = nd::cuda::recent_launches();
    std::ostringstream start;
    start << "cuda:0 stream " << stream.ptr() << ", newest first: " << launch;
    return all.find(start.str()) != all.npos;
  };
  {
    const nd::StreamScope in(stream);
    const Array y = cudnn::activation_forward(x, ActivationMode::relu);
    BOOST_TEST(newest("cudnnActivationForward(44)"), nd::cuda::recent_launches());
    cudnn::activation_backward(x, y, x, ActivationMode::relu);
    BOOST_TEST(newest("cudnnActivationBackward(44)"), nd::cuda::recent_launches());
  }
  BOOST_TEST(cudnn::get_stream(handle) == nullptr);
  // The result waits for what was on the stream before: a chain of many without synchronisation.
  const nd::StreamScope in(stream);
  Array chain = numbers({1000}, nd::float64, 0);
  const auto start = chain.to_vector<double>();
  for (int i = 0; i < 20; ++i) chain = cudnn::activation_forward(chain, ActivationMode::tanh);
  const auto end = chain.to_vector<double>();
  for (std::size_t i = 0; i < start.size(); i += 111) {
    double expected = start[i];
    for (int k = 0; k < 20; ++k) expected = std::tanh(expected);
    BOOST_TEST(std::abs(end[i] - expected) < 1e-12);
  }
}

// The result is on the device of x, whatever device is current.
BOOST_AUTO_TEST_CASE(the_device_of_the_array) {
  if (!have_cudnn()) return;
  const nd::DeviceScope on(nd::cpu_device);
  check_activation(kFormulas[0], numbers({9}, nd::float32, 0), numbers({9}, nd::float32, 1));
  if (nd::device_count(nd::Device::Kind::cuda) < 2) {
    std::cout << "skipped: an array of another device (there is one)\n";
    return;
  }
  const nd::Device other{nd::Device::Kind::cuda, 1};
  const nd::DeviceScope first(kCuda);
  const Array x = numbers({9}, nd::float32, 0).to_device(other);
  check_activation(kFormulas[2], x, x);
  BOOST_TEST(test::message_of<catena::ValueError>([&] {
               cudnn::activation_backward(x, numbers({9}, nd::float32, 0), x, ActivationMode::relu);
             }) == "cudnn::activation_backward: x is on cuda:1, y is on cuda:0");
}

BOOST_AUTO_TEST_CASE(operands_are_checked) {
  if (!have_cudnn()) return;
  const nd::DeviceScope on(kCuda);
  const Array x = numbers({2, 3}, nd::float32, 0), longer = numbers({2, 4}, nd::float32, 0),
              wide = numbers({2, 3}, nd::float64, 0), whole = nd::zeros({2, 3}, nd::int32);
  const auto forward = [](const Array& a) { return [a] { cudnn::activation_forward(a, ActivationMode::relu); }; };
  const auto backward = [](const Array& a, const Array& b, const Array& c) {
    return [a, b, c] { cudnn::activation_backward(a, b, c, ActivationMode::relu); };
  };
  BOOST_TEST(test::message_of<catena::ValueError>(forward(Array())) == "cudnn::activation_forward: x is null");
  BOOST_TEST(test::message_of<catena::ValueError>(forward(x.to_device(nd::cpu_device))) ==
             "cudnn::activation_forward: x is on cpu:0, not on a cuda device");
  BOOST_TEST(test::message_of<catena::TypeError>(forward(whole)) ==
             "cudnn::get_data_type: cuDNN has no type for arrays of dtype int32");
  BOOST_TEST(test::message_of<catena::ValueError>(backward(x, Array(), x)) == "cudnn::activation_backward: y is null");
  BOOST_TEST(test::message_of<catena::ValueError>(backward(x, x, x.to_device(nd::cpu_device))) ==
             "cudnn::activation_backward: gy is on cpu:0, not on a cuda device");
  BOOST_TEST(test::message_of<catena::ValueError>(backward(x, x, longer)) ==
             "cudnn::activation_backward: x (2, 3) and gy (2, 4) must have one shape");
  BOOST_TEST(test::message_of<catena::TypeError>(backward(x, wide, x)) ==
             "cudnn::activation_backward: x is float32, y is float64; they must agree");
  BOOST_CHECK_THROW(backward(whole, whole, whole)(), catena::TypeError);
  const std::string text =
      test::message_of<catena::CudnnError>([&] { cudnn::activation_forward(x, static_cast<ActivationMode>(9)); });
  BOOST_TEST(text.starts_with("cudnnSetActivationDescriptor: "), text);
  BOOST_TEST(text.find("CUDNN_STATUS_BAD_PARAM") != text.npos, text);
}

BOOST_AUTO_TEST_CASE(dropout) {
  if (!have_cudnn()) return;
  const nd::DeviceScope on(kCuda);
  const nd::cuda::api::cudnn_handle handle = cudnn::get_handle();
  const Array states = cudnn::create_dropout_states(handle);
  BOOST_TEST((states.dtype() == nd::int8 && states.ndim() == 1 && states.device() == kCuda));
  BOOST_TEST(states.nbytes() == cudnn::get_dropout_states_size(handle));
  const std::uint64_t version = states->storage->version.load(catena::MemoryOrder::relaxed);
  cudnn::DropoutDescriptor desc = cudnn::create_dropout_descriptor(handle, 0.25, states, states.nbytes(), 13);
  BOOST_TEST(states->storage->version.load(catena::MemoryOrder::relaxed) == version + 1);
  const auto after = states.to_vector<int>();
  BOOST_TEST(std::any_of(after.begin(), after.end(), [](int v) { return v != 0; }));

  float ratio = -1;
  void* memory = nullptr;
  unsigned long long seed = 0;
  const auto read = [&] { cudnn::get_dropout(desc.value(), handle, &ratio, &memory, &seed); };
  read();
  BOOST_TEST((ratio == 0.25f && memory == states->data && seed == 13u));
  cudnn::set_dropout_descriptor(desc, handle, 0.5);
  read();
  BOOST_TEST(ratio == 0.5f);
  // cuDNN does not document what else it answers then.
  if (cuda_device::Control::available()) BOOST_TEST((memory == states->data && seed == 13u));
  BOOST_TEST(states.to_vector<int>() == after, boost::test_tools::per_element());

  BOOST_TEST(test::message_of<catena::ValueError>([&] {
               cudnn::create_dropout_descriptor(handle, 1.5, states, states.nbytes(), 1);
             }) == "cudnn::create_dropout_descriptor: the ratio 1.5 must be 0 to 1");
  BOOST_CHECK_THROW(cudnn::set_dropout_descriptor(desc, handle, -0.1), catena::ValueError);
  BOOST_TEST(test::message_of<catena::ValueError>([&] {
               cudnn::create_dropout_descriptor(handle, 0.5, nd::zeros({4}, nd::int8), 5, 1);
             }) == "cudnn::create_dropout_descriptor: the states have 4 bytes, not 5");
  BOOST_CHECK_THROW(cudnn::create_dropout_descriptor(handle, 0.5, states(nd::Slice(0, 100, 2)), 4, 1),
                    catena::ValueError);
  BOOST_CHECK_THROW(cudnn::create_dropout_descriptor(handle, 0.5, states.to_device(nd::cpu_device), 4, 1),
                    catena::ValueError);
  BOOST_TEST(test::message_of<catena::CudnnError>([&] {
               cudnn::create_dropout_descriptor(handle, 0.5, states, 4, 1);
             }).starts_with("cudnnSetDropoutDescriptor: "));
  cudnn::set_stream(handle, nullptr);
}

// A network's descriptor refers to its dropout, and that to its states: they live as long as it does.
BOOST_AUTO_TEST_CASE(what_descriptors_keep) {
  if (!have_cudnn()) return;
  const nd::DeviceScope on(kCuda);
  const nd::cuda::api::cudnn_handle handle = cudnn::get_handle();
  Array states = cudnn::create_dropout_states(handle);
  void* const memory = states->data;
  cudnn::RnnDescriptor network;
  cudnnDropoutStruct* dropout_desc = nullptr;
  {
    const cudnn::DropoutDescriptor desc = cudnn::create_dropout_descriptor(handle, 0.25, states, states.nbytes(), 3);
    dropout_desc = desc.value();
    network = cudnn::create_rnn_descriptor(4, 2, desc, cudnn::RnnInputMode::linear,
                                           cudnn::DirectionMode::unidirectional, cudnn::RnnMode::lstm, nd::float32);
  }
  BOOST_TEST(test::RnnRead(network).dropout == dropout_desc);
  states = Array();
  // Memory of this size that is free would be given out again.
  std::vector<Array> others;
  for (int i = 0; i < 4; ++i) others.push_back(cudnn::create_dropout_states(handle));
  for (const Array& other : others) BOOST_TEST(static_cast<void*>(other->data) != memory);
  float ratio = -1;
  void* kept = nullptr;
  unsigned long long seed = 0;
  cudnn::get_dropout(dropout_desc, handle, &ratio, &kept, &seed);
  BOOST_TEST((ratio == 0.25f && kept == memory && seed == 3u));
  network = cudnn::RnnDescriptor();
  BOOST_TEST(static_cast<void*>(cudnn::create_dropout_states(handle)->data) == memory);  // now it is free
  cudnn::set_stream(handle, nullptr);
}

// Handles are taken from a pool, so threads need no lock of their own.
BOOST_AUTO_TEST_CASE(threads) {
  if (!have_cudnn()) return;
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&, t] {
      const nd::DeviceScope on(kCuda);
      const nd::Stream stream;
      const nd::StreamScope in(stream);
      for (int i = 0; i < 20; ++i) {
        const Array x = numbers({50}, nd::float64, int(t) + i);
        const auto y = cudnn::activation_forward(x, ActivationMode::relu).to_vector<double>();
        const auto from = x.to_vector<double>();
        right[t] +=
            std::equal(y.begin(), y.end(), from.begin(), [](double a, double b) { return a == std::max(b, 0.0); });
      }
    });
  for (std::thread& t : threads) t.join();
  for (const int n : right) BOOST_TEST(n == 20);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
