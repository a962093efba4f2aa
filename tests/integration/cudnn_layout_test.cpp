// 16-bit networks keep their dtype and their memory layout: between the convolutions of a channels-last network no
// array is copied into another layout or converted to another dtype. A cuDNN for tests stands in for the library.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include <catena/autograd/ndarray_backend/cudnn/extension.h>
#include <catena/catena.h>
#include <catena/tests/integration/fake_cudnn.h>
#include <catena/tests/support/cuda_device/control.h>

namespace {

using namespace autograd;

const Device kCuda{Device::Kind::cuda, 0};

bool is_channels_last(const Array& a) { return a.strides()[1] == std::int64_t(catena::itemsize(a.dtype())); }

Array numbers(const Shape& shape, Dtype dtype, int seed) {
  std::vector<double> values(static_cast<std::size_t>(catena::size_of(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = double((i * 7 + i / 5 * 3 + std::size_t(seed)) % 11) / 8 - 0.625;
  return to_device(astype(from_host(values.data(), shape, Dtype::float64, nd::cpu_device), dtype), kCuda);
}
Array channels_last(const Array& a) { return transpose(copy(transpose(a, {0, 2, 3, 1})), {0, 3, 1, 2}); }

struct Step {
  Variable normalized, rectified, dropped, z;
};
// The part of a network behind a convolution; z is the gradient's beginning.
Step layers(const Variable& x, nn::BatchNormalization& bn) {
  Step s;
  s.normalized = bn(x);
  s.rectified = nn::relu(s.normalized);
  s.dropped = nn::dropout(s.rectified, 0.25, true);
  s.z = s.dropped + x;
  return s;
}

BOOST_AUTO_TEST_SUITE(cudnn_layout)

BOOST_AUTO_TEST_CASE(layers_keep_dtype_and_layout) {
  if (!nd::is_available(Device::Kind::cuda)) {
    std::cout << "skipped: there is no CUDA device on this machine\n";
    return;
  }
  const bool fake = fake_cudnn::stands_in();
  const nd::DeviceScope on(kCuda);
  for (const Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float32}) {
    nn::BatchNormalization bn(8);
    Variable x(channels_last(numbers({2, 8, 4, 3}, t, 1)));
    const Array gz = channels_last(numbers({2, 8, 4, 3}, t, 2));
    const auto step = [&] {
      x.cleargrad();
      bn.cleargrads();
      Step s = layers(x, bn);
      s.z.set_grad(gz);
      s.z.backward();
      return s;
    };
    const Step s = step();
    for (const Variable& v : {s.normalized, s.rectified, s.dropped, s.z}) {
      BOOST_TEST((v.dtype() == t));
      BOOST_TEST(is_channels_last(v.data()));
    }
    BOOST_TEST(is_channels_last(x.grad()));
    BOOST_TEST((x.grad().dtype() == t));
    BOOST_TEST((bn.gamma->grad().dtype() == Dtype::float32));
    if (!fake || !cuda_device::Control::available()) continue;
    cuda_device::Control control;
    control.reset_records();
    fake_cudnn::record().calls.clear();
    step();
    std::vector<std::string> names;
    for (const auto& l : control.launches()) {
      names.push_back(l.kernel);
      BOOST_TEST(l.kernel.find("copy") == std::string::npos, l.kernel);
    }
    // relu, dropout, the sum; the gradients of dropout, of relu, and the sum of the two gradients of x.
    BOOST_TEST(names.size() == 6u);
    const bool wide = t == Dtype::float32;
    const std::vector<std::string> calls{
        wide ? "cudnnBatchNormalizationForwardTraining" : "cudnnBatchNormalizationForwardTrainingEx",
        wide ? "cudnnBatchNormalizationBackward" : "cudnnBatchNormalizationBackwardEx"};
    BOOST_TEST(fake_cudnn::record().calls == calls, boost::test_tools::per_element());
  }
}

// A convolution is one call of cuDNN: no operand is copied, whatever its layout. The results of 16-bit convolutions are
// channels last; gradients of filters are contiguous.
BOOST_AUTO_TEST_CASE(convolutions_take_operands_as_they_are) {
  if (!nd::is_available(Device::Kind::cuda)) return;
  const bool fake = fake_cudnn::stands_in();
  static NnExtension& own = *internal::make_cudnn_extension().release();
  NnExtension& portable = portable_nn_extension();
  const ConvolutionSpec spec{.stride = {1, 1}, .pad = {1, 1}, .dilate = {1, 1}};
  for (const Dtype t : {Dtype::float16, Dtype::float32})
    for (const bool last : {false, true})
      for (const bool gradient_last : {false, true}) {
        const Array plain = numbers({2, 8, 5, 6}, t, 1), w = numbers({4, 8, 3, 3}, t, 2),
                    plain_gy = numbers({2, 4, 5, 6}, t, 3);
        const Array x = last ? channels_last(plain) : plain, gy = gradient_last ? channels_last(plain_gy) : plain_gy;
        const auto run = [&] {
          return Arrays{own.convolution(x, w, {}, spec), own.convolution_backward_data(w, gy, {5, 6}, spec),
                        own.convolution_backward_filter(x, gy, {3, 3}, t, spec)};
        };
        const Arrays made = run();
        const Arrays expected{portable.convolution(plain, w, {}, spec),
                              portable.convolution_backward_data(w, plain_gy, {5, 6}, spec),
                              portable.convolution_backward_filter(plain, plain_gy, {3, 3}, t, spec)};
        for (std::size_t k = 0; k < 3; ++k) {
          const std::vector<double> a = to_vector<double>(made[k]), e = to_vector<double>(expected[k]);
          double worst = 0;
          for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - e[i]));
          BOOST_TEST(worst <= (t == Dtype::float16 ? 2e-2 : 1e-4), "result " << k << " is off by " << worst);
        }
        const bool narrow = t == Dtype::float16;
        BOOST_TEST(is_channels_last(made[0]) == (narrow || last));
        BOOST_TEST(is_channels_last(made[1]) == (narrow || gradient_last));
        BOOST_TEST(made[2].is_c_contiguous());
        if (!fake || !cuda_device::Control::available()) continue;
        cuda_device::Control control;
        control.reset_records();
        fake_cudnn::record().calls.clear();
        run();
        for (const auto& l : control.launches()) BOOST_ERROR(l.kernel << " was launched");
        BOOST_TEST(fake_cudnn::record().calls == std::vector<std::string>(3, "cudnnBackendExecute"),
                   boost::test_tools::per_element());
      }
}

// The mask belongs to the elements in the order of their memory, so the gradient of any layout uses the same one.
BOOST_AUTO_TEST_CASE(dropout_drops_the_same_elements_of_gradients_of_any_layout) {
  for (const bool cuda : {false, true}) {
    if (cuda && !nd::is_available(Device::Kind::cuda)) continue;
    const Device device = cuda ? kCuda : nd::cpu_device;
    const Array ones_there = to_device(arrays::ones({3, 4, 5, 6}, Dtype::float32, nd::cpu_device), device);
    for (const bool last : {false, true})
      for (const bool gradient_last : {false, true}) {
        Variable x(last ? channels_last(ones_there) : ones_there);
        Variable y = nn::dropout(x, 0.5, true);
        y.set_grad(gradient_last ? channels_last(ones_there) : ones_there);
        y.backward();
        BOOST_TEST(to_vector<float>(y.data()) == to_vector<float>(x.grad()));
        BOOST_TEST(is_channels_last(y.data()) == last);
        const std::vector<float> v = to_vector<float>(y.data());
        const auto kept = std::count(v.begin(), v.end(), 2.0f), dropped = std::count(v.begin(), v.end(), 0.0f);
        BOOST_TEST(kept + dropped == 360);
        BOOST_TEST((kept > 120 && kept < 240));
      }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
