// The cuDNN of the software device: its convolutions against sums on the host, the works that it records, and its
// errors. The framework's calls of any cuDNN are tested by the other files of this folder (cudnn_*), which run on this
// one, too.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <catena/autograd/ndarray_backend/cudnn/extension.h>
#include <catena/autograd/ndarray_backend/cudnn/plans.h>
#include <catena/catena.h>
#include <catena/ndarray/cuda/vendor/blas.h>
#include <catena/tests/support/cuda_device/control.h>

namespace {

using namespace autograd;
namespace cudnn = internal::cudnn;
namespace api = nd::cuda::api;

const Device kCuda{Device::Kind::cuda, 0};

bool have_software_cudnn() {
  if (cuda_device::Control::available() && cudnn::is_available()) return true;
  std::cout << "skipped: the software device has no cuDNN for networks here\n";
  return false;
}

using Numbers = std::vector<double>;

// Multiples of 1/8, which all dtypes hold.
Numbers numbers(const Shape& shape, int seed) {
  Numbers values(static_cast<std::size_t>(catena::size_of(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = double((i * 7 + i / 5 * 3 + std::size_t(seed)) % 11) / 8 - 0.625;
  return values;
}
Array on_device(const Numbers& values, const Shape& shape, Dtype dtype, bool channels_last) {
  const Array plain = to_device(astype(from_host(values.data(), shape, Dtype::float64, nd::cpu_device), dtype), kCuda);
  return channels_last ? transpose(copy(transpose(plain, {0, 2, 3, 1})), {0, 3, 1, 2}) : plain;
}

struct Problem {
  const char* name;
  Shape x, w;
  std::int64_t stride, pad, dilate, groups;

  std::int64_t length(int axis) const { return (x[axis] + 2 * pad - ((w[axis] - 1) * dilate + 1)) / stride + 1; }
  Shape y() const { return {x[0], w[0], length(2), length(3)}; }
};
const Problem kProblems[] = {{"plain", {2, 8, 5, 6}, {4, 8, 3, 3}, 1, 1, 1, 1},
                             {"stride", {1, 3, 7, 6}, {5, 3, 3, 2}, 2, 1, 1, 1},
                             {"dilation", {2, 4, 9, 8}, {3, 4, 3, 3}, 1, 2, 2, 1},
                             {"groups", {2, 6, 5, 5}, {9, 2, 3, 3}, 1, 1, 1, 3},
                             {"one filter element", {3, 4, 4, 3}, {8, 4, 1, 1}, 1, 0, 1, 1},
                             {"one channel", {1, 1, 3, 3}, {1, 1, 2, 2}, 1, 0, 1, 1}};

// y, gx and gw by their sums.
struct Sums {
  Numbers y, gx, gw;
};
Sums sums_of(const Problem& p, const Numbers& x, const Numbers& w, const Numbers& b, const Numbers& gy) {
  const Shape y = p.y();
  Sums s{Numbers(gy.size()), Numbers(x.size()), Numbers(w.size())};
  const std::int64_t per_group = p.w[1], of_group = p.w[0] / p.groups;
  for (std::int64_t n = 0; n < y[0]; ++n)
    for (std::int64_t k = 0; k < y[1]; ++k)
      for (std::int64_t i = 0; i < y[2]; ++i)
        for (std::int64_t j = 0; j < y[3]; ++j) {
          const auto at_y = static_cast<std::size_t>(((n * y[1] + k) * y[2] + i) * y[3] + j);
          s.y[at_y] = b.empty() ? 0 : b[static_cast<std::size_t>(k)];
          for (std::int64_t c = 0; c < per_group; ++c)
            for (std::int64_t u = 0; u < p.w[2]; ++u)
              for (std::int64_t v = 0; v < p.w[3]; ++v) {
                const std::int64_t row = i * p.stride + u * p.dilate - p.pad,
                                   column = j * p.stride + v * p.dilate - p.pad;
                if (row < 0 || row >= p.x[2] || column < 0 || column >= p.x[3]) continue;
                const std::int64_t channel = k / of_group * per_group + c;
                const auto at_x = static_cast<std::size_t>(((n * p.x[1] + channel) * p.x[2] + row) * p.x[3] + column);
                const auto at_w = static_cast<std::size_t>(((k * per_group + c) * p.w[2] + u) * p.w[3] + v);
                s.y[at_y] += x[at_x] * w[at_w];
                s.gx[at_x] += gy[at_y] * w[at_w];
                s.gw[at_w] += gy[at_y] * x[at_x];
              }
        }
  return s;
}

void check_close(const Array& actual, const Numbers& expected, double tolerance, const char* what) {
  const Numbers a = to_vector<double>(actual);
  BOOST_REQUIRE(a.size() == expected.size());
  double worst = 0, scale = 1;
  for (const double v : expected) scale = std::max(scale, std::abs(v));
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::isnan(a[i]) ? 1e9 : std::abs(a[i] - expected[i]));
  BOOST_TEST(worst <= tolerance * scale, what << " is off by " << worst);
}

// The error that a call causes: "<symbol>: <message>".
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const catena::CudaError& e) {
    return e.symbol() + ": " + e.what();
  } catch (const cudnn::NotSupported&) {
    return "not supported";
  }
  return "no error";
}
void check_error(const std::function<void()>& call, const std::string& words) {
  const std::string error = error_of(call);
  BOOST_TEST(error.find(words) != std::string::npos, error << " has no '" << words << "'");
}

BOOST_AUTO_TEST_SUITE(software_cudnn)

BOOST_AUTO_TEST_CASE(convolutions_are_their_sums) {
  if (!have_software_cudnn()) return;
  const auto extension = internal::make_cudnn_extension();
  NnExtension& own = *extension;
  for (const Problem& p : kProblems)
    for (const Dtype t : {Dtype::float32, Dtype::float64, Dtype::float16, Dtype::bfloat16})
      for (const bool last : {false, true})
        for (const bool with_bias : {false, true}) {
          BOOST_TEST_CONTEXT(p.name << ", " << t << (last ? ", channels last" : "")) {
            const Numbers x = numbers(p.x, 1), w = numbers(p.w, 2), gy = numbers(p.y(), 3),
                          b = with_bias ? numbers({p.w[0]}, 4) : Numbers();
            const Sums expected = sums_of(p, x, w, b, gy);
            const Array images = on_device(x, p.x, t, last), filters = on_device(w, p.w, t, false),
                        gradients = on_device(gy, p.y(), t, last);
            const Array bias = with_bias ? on_device(b, {p.w[0]}, t, false) : Array();
            const ConvolutionSpec spec{.stride = {p.stride, p.stride},
                                       .pad = {p.pad, p.pad},
                                       .dilate = {p.dilate, p.dilate},
                                       .groups = p.groups};
            // Rounding of the result alone: sums are of 24 binary digits at least.
            const double tolerance = t == Dtype::float64   ? 1e-14
                                     : t == Dtype::float32 ? 1e-6
                                     : t == Dtype::float16 ? 1e-3
                                                           : 8e-3;
            check_close(own.convolution(images, filters, bias, spec), expected.y, tolerance, "y");
            BOOST_TEST(last_implementation() == "cudnn");
            check_close(own.convolution_backward_data(filters, gradients, {p.x[2], p.x[3]}, spec), expected.gx,
                        tolerance, "gx");
            BOOST_TEST(last_implementation() == "cudnn");
            check_close(own.convolution_backward_filter(images, gradients, {p.w[2], p.w[3]}, t, spec), expected.gw,
                        tolerance, "gw");
            BOOST_TEST(last_implementation() == "cudnn");
          }
        }
}

// The best engine of float32 rounds factors to 10 binary digits, and is used only where that is allowed.
BOOST_AUTO_TEST_CASE(tf32_shows_in_the_result) {
  if (!have_software_cudnn()) return;
  const auto extension = internal::make_cudnn_extension();
  NnExtension& own = *extension;
  const Array x = on_device({1 + std::ldexp(1, -12)}, {1, 1, 1, 1}, Dtype::float32, false),
              w = on_device({1}, {1, 1, 1, 1}, Dtype::float32, false);
  const ConvolutionSpec spec{.stride = {1, 1}, .pad = {0, 0}, .dilate = {1, 1}};
  const bool allowed = nd::cuda::tf32_allowed();
  nd::cuda::allow_tf32(false);
  BOOST_TEST(to_vector<double>(own.convolution(x, w, {}, spec))[0] == 1 + std::ldexp(1, -12));
  nd::cuda::allow_tf32(true);
  BOOST_TEST(to_vector<double>(own.convolution(x, w, {}, spec))[0] == 1);
  nd::cuda::allow_tf32(allowed);
}

// A library without the functions of a group: the framework's own implementation computes.
BOOST_AUTO_TEST_CASE(recurrent_networks_are_missing) {
  if (!have_software_cudnn()) return;
  BOOST_TEST(cudnn::library().has_batch_norm);
  BOOST_TEST(!cudnn::library().has_rnn);
  const auto extension = internal::make_cudnn_extension();
  NnExtension& own = *extension;
  RnnOperands o;
  o.x = on_device(numbers({2, 3}, 1), {2, 3}, Dtype::float32, false);
  o.batches = {2};
  o.hx = on_device(numbers({1, 2, 2}, 2), {1, 2, 2}, Dtype::float32, false);
  o.ws = {on_device(numbers({2, 3}, 3), {2, 3}, Dtype::float32, false),
          on_device(numbers({2, 2}, 4), {2, 2}, Dtype::float32, false)};
  o.bs = {on_device(numbers({2}, 5), {2}, Dtype::float32, false),
          on_device(numbers({2}, 6), {2}, Dtype::float32, false)};
  RnnSpec spec;
  spec.mode = RnnMode::tanh;
  BOOST_TEST(to_vector<double>(own.rnn(o, spec).y) == to_vector<double>(portable_nn_extension().rnn(o, spec).y));
}

// A block under mixed precision: the filter is converted once, nothing else is copied or converted, and the images stay
// channels-last. So does the filter, if it is; only its gradient is C-ordered.
BOOST_AUTO_TEST_CASE(works_of_a_block_under_autocast) {
  if (!have_software_cudnn()) return;
  const nd::DeviceScope on(kCuda);
  const Shape shape{2, 8, 5, 4};
  const Array gy = on_device(numbers(shape, 2), shape, Dtype::float16, true);
  for (const bool filter_last : {false, true}) {
    Variable x(on_device(numbers(shape, 1), shape, Dtype::float16, true));
    Variable w(on_device(numbers({8, 8, 3, 3}, 3), {8, 8, 3, 3}, Dtype::float32, filter_last));
    Variable gamma(arrays::ones({8}, Dtype::float32, kCuda)), beta(arrays::zeros({8}, Dtype::float32, kCuda));
    const auto step = [&] {
      for (Variable* v : {&x, &w, &gamma, &beta}) v->cleargrad();
      Variable y;
      {
        const autocast scope(Dtype::float16);
        y = nn::relu(nn::batch_normalization(nn::convolution_2d(x, w, {}, 1, 1), gamma, beta));
      }
      y.set_grad(gy);
      y.backward();
      return y;
    };
    step();
    nd::synchronize(kCuda);
    cuda_device::Control control;
    control.reset_records();
    const Variable y = step();
    int own = 0;
    std::vector<std::string> calls;
    for (const auto& launch : control.launches()) {
      if (launch.kernel.starts_with("cudnn")) calls.push_back(launch.kernel);
      else ++own;
    }
    // The filter to 16 bits and its gradient back, relu and its gradient.
    BOOST_TEST(own == 4);
    const std::string copied = filter_last ? ")" : "; copies w)";
    const std::vector<std::string> expected{
        "cudnnBackendExecute(convolution_forward" + copied, "cudnnBatchNormalizationForwardTrainingEx",
        "cudnnBatchNormalizationBackwardEx", "cudnnBackendExecute(convolution_data" + copied,
        "cudnnBackendExecute(convolution_filter; copies w)"};
    BOOST_TEST(calls == expected, boost::test_tools::per_element());
    for (const Array& a : {y.data(), x.grad()}) BOOST_TEST(a.strides()[1] == 2);
    BOOST_TEST((w.grad().dtype() == Dtype::float32));
  }
}

// ---- errors -------------------------------------------------------------------------------------
cudnn::Descriptor tensor(std::vector<std::int64_t> shape, std::vector<std::int64_t> strides, std::int64_t id = 1,
                         int type = api::cudnn_float, std::int64_t alignment = 16) {
  cudnn::Descriptor d(api::cudnn_tensor);
  d.set_type(api::cudnn_attr_tensor_data_type, type);
  d.set_integers(api::cudnn_attr_tensor_dimensions, Dims(std::span<const std::int64_t>(shape)));
  d.set_integers(api::cudnn_attr_tensor_strides, Dims(std::span<const std::int64_t>(strides)));
  d.set_integer(api::cudnn_attr_tensor_id, id);
  d.set_integer(api::cudnn_attr_tensor_alignment, alignment);
  return d;
}
cudnn::Descriptor convolution(std::int64_t stride = 1, std::int64_t before = 0, std::int64_t after = 0) {
  cudnn::Descriptor d(api::cudnn_convolution);
  d.set_type(api::cudnn_attr_convolution_compute_type, api::cudnn_float);
  d.set_enumerator(api::cudnn_attr_convolution_mode, api::cudnn_type_convolution_mode, api::cudnn_cross_correlation);
  d.set_integer(api::cudnn_attr_convolution_spatial_dims, 2);
  d.set_integers(api::cudnn_attr_convolution_strides, {stride, stride});
  d.set_integers(api::cudnn_attr_convolution_dilations, {1, 1});
  d.set_integers(api::cudnn_attr_convolution_pre_paddings, {before, before});
  d.set_integers(api::cudnn_attr_convolution_post_paddings, {after, after});
  return d;
}

BOOST_AUTO_TEST_CASE(errors_of_descriptors) {
  if (!have_software_cudnn()) return;
  check_error([] { tensor({2, 3}, {3}).finalize(); }, "CUDNN_STATUS_BAD_PARAM: cudnnBackendFinalize: as many strides");
  check_error([] { tensor({2, 0}, {1, 1}).finalize(); }, "lengths and strides must be positive");
  check_error([] { tensor({2, 3}, {3, 1}, 1, 77).finalize(); }, "an unknown data type");
  check_error([] { tensor({2, 3}, {3, 1}, 1, api::cudnn_float, 12).finalize(); }, "no power of 2");
  check_error([] { cudnn::Descriptor(api::cudnn_tensor).finalize(); }, "is missing");
  check_error([] { cudnn::Descriptor(9999); }, "not supported");
  check_error([] { convolution(0).finalize(); }, "too small");
  check_error([] { convolution(1, -1, -1).finalize(); }, "too small");
  check_error([] { convolution(1, 1, 0).finalize(); }, "not supported");
  check_error([] { cudnn::Descriptor(api::cudnn_tensor).set_integer(api::cudnn_attr_convolution_spatial_dims, 2); },
              "none of this descriptor");
  check_error([] { cudnn::Descriptor(api::cudnn_tensor).set_type(api::cudnn_attr_tensor_id, 1); }, "another type");
  check_error(
      [] {
        cudnn::Descriptor d = tensor({2, 3}, {3, 1});
        d.finalize();
        d.set_integer(api::cudnn_attr_tensor_id, 2);
      },
      "CUDNN_STATUS_NOT_INITIALIZED");
  check_error(
      [] {
        std::int64_t bytes = 0;
        tensor({2, 3}, {3, 1}).get_attribute(api::cudnn_attr_plan_workspace_bytes, api::cudnn_type_int64, 1, &bytes);
      },
      "not finalised");
  check_error(
      [] {
        cudnn::Descriptor d = tensor({2, 3}, {3, 1});
        d.finalize();
        std::int64_t bytes = 0;
        d.get_attribute(api::cudnn_attr_plan_workspace_bytes, api::cudnn_type_int64, 1, &bytes);
      },
      "cannot be read");
}

BOOST_AUTO_TEST_CASE(errors_of_operations) {
  if (!have_software_cudnn()) return;
  const auto operation = [](std::vector<std::int64_t> w_shape, std::vector<std::int64_t> y_shape, int w_type) {
    cudnn::Descriptor c = convolution(), x = tensor({1, 4, 3, 3}, {36, 9, 3, 1}),
                      w = tensor(w_shape, {1000, 100, 10, 1}, 2, w_type), y = tensor(y_shape, {1000, 100, 10, 1}, 3);
    for (cudnn::Descriptor* d : {&c, &x, &w, &y}) d->finalize();
    cudnn::Descriptor op(api::cudnn_operation_convolution_forward);
    op.set_descriptor(api::cudnn_attr_forward_convolution, c);
    op.set_descriptor(api::cudnn_attr_forward_x, x);
    op.set_descriptor(api::cudnn_attr_forward_w, w);
    op.set_descriptor(api::cudnn_attr_forward_y, y);
    op.finalize();
  };
  const auto refused = [&](std::vector<std::int64_t> w, std::vector<std::int64_t> y, const char* words,
                           int type = api::cudnn_float) { check_error([&] { operation(w, y, type); }, words); };
  BOOST_CHECK_NO_THROW(operation({2, 4, 3, 3}, {1, 2, 1, 1}, api::cudnn_float));
  BOOST_CHECK_NO_THROW(operation({2, 2, 3, 3}, {1, 2, 1, 1}, api::cudnn_float));
  refused({2, 4, 3, 3}, {2, 2, 1, 1}, "images of x and y");
  refused({2, 4, 3, 3}, {1, 3, 1, 1}, "filters of w and channels of y");
  refused({2, 3, 3, 3}, {1, 2, 1, 1}, "channels that the groups do not divide");
  refused({3, 2, 3, 3}, {1, 3, 1, 1}, "channels that the groups do not divide");
  refused({2, 4, 3, 3}, {1, 2, 2, 1}, "axis 2 of y has another length");
  refused({2, 4, 4, 3}, {1, 2, 1, 1}, "axis 2 of y has another length");
  refused({2, 4, 3, 3}, {1, 2, 1, 1}, "not supported", api::cudnn_half);
  check_error(
      [] {
        cudnn::Descriptor c = convolution(), op(api::cudnn_operation_convolution_forward);
        op.set_descriptor(api::cudnn_attr_forward_convolution, c);
        op.finalize();
      },
      "no finalised descriptor of its type");
}

BOOST_AUTO_TEST_CASE(errors_of_executions) {
  if (!have_software_cudnn()) return;
  const ConvolutionSpec spec{.stride = {1, 1}, .pad = {0, 0}, .dilate = {1, 1}};
  const Shape shape{1, 2, 2, 2}, w_shape{2, 2, 1, 1};
  const cudnn::ConvolutionProblem problem(
      cudnn::Pass::forward, api::cudnn_half,
      {cudnn::Layout::contiguous, cudnn::Layout::contiguous, cudnn::Layout::contiguous}, shape, w_shape, shape, spec);
  const cudnn::Handle handle(kCuda.id);
  const cudnn::PlanPtr plan =
      cudnn::make_plan({handle.get(), nullptr}, problem.describe(), {api::cudnn_half, false, false, 1 << 20});
  BOOST_REQUIRE(plan != nullptr);
  // Copies of x and y beside a little; a filter of one element is in both layouts.
  BOOST_TEST(plan->workspace_bytes == 512 + 2 * (8 + 8));
  const Array x = on_device(numbers(shape, 1), shape, Dtype::float16, false),
              w = on_device(numbers(w_shape, 2), w_shape, Dtype::float16, false),
              y = arrays::zeros(shape, Dtype::float16, kCuda);
  const Array workspace = cudnn::new_workspace(*plan, x);
  const auto run = [&](std::vector<cudnn::Binding> bindings, const Array& scratch) {
    cudnn::execute(plan, bindings, scratch, x);
  };
  const std::vector<cudnn::Binding> all{{cudnn::kX, x->data}, {cudnn::kW, w->data}, {cudnn::kY, y->data}};
  BOOST_CHECK_NO_THROW(run(all, workspace));
  check_error([&] { run({all[0], all[1]}, workspace); }, "has no address");
  check_error(
      [&] {
        run({all[0], all[1], {cudnn::kY, static_cast<char*>(all[2].data) + 2}}, workspace);
      },
      "is not aligned");
  alignas(16) static char host[64];
  check_error([&] { run({all[0], all[1], {cudnn::kY, host}}, workspace); }, "is no device memory");
  const Array on_host = arrays::zeros({1024}, Dtype::uint8, nd::cpu_device);
  check_error([&] { run(all, on_host); }, "the workspace is no device memory");
}

BOOST_AUTO_TEST_CASE(errors_of_batch_normalization) {
  if (!have_software_cudnn()) return;
  const Shape shape{2, 4, 3, 1};
  const Array x = on_device(numbers(shape, 1), shape, Dtype::float32, false),
              y = arrays::zeros(shape, Dtype::float32, kCuda), ones4 = arrays::ones({4}, Dtype::float32, kCuda);
  const auto images = cudnn::tensor_descriptor(api::cudnn_float, shape, {12, 3, 1, 1}),
             statistics = cudnn::tensor_descriptor(api::cudnn_float, {1, 4, 1, 1}, {4, 1, 1, 1}),
             others = cudnn::tensor_descriptor(api::cudnn_float, {1, 3, 1, 1}, {3, 1, 1, 1}),
             flat = cudnn::tensor_descriptor(api::cudnn_float, {2, 4, 3}, {12, 3, 1});
  const float one = 1, zero = 0;
  const cudnn::Handle handle(x);
  struct Call {
    int mode = api::cudnn_batch_norm_spatial;
    double eps = 1e-5;
    cudnnTensorStruct *x = nullptr, *statistics = nullptr;
    void* scale = nullptr;
    void* mean = nullptr;
  };
  const auto run = [&](const Call& c) {
    CATENA_CUDNN(batch_norm_training, handle.get(), c.mode, &one, &zero, c.x, x->data, c.x, y->data, c.statistics,
                 c.scale, ones4->data, 1.0, nullptr, nullptr, c.eps, c.mean, nullptr);
  };
  const Call good{.x = images.get(), .statistics = statistics.get(), .scale = ones4->data};
  BOOST_CHECK_NO_THROW(run(good));
  const auto with = [&](auto&& change) {
    Call c = good;
    change(c);
    return error_of([&] { run(c); });
  };
  const auto has = [](const std::string& error, const char* words) {
    BOOST_TEST(error.find(words) != std::string::npos, error << " has no '" << words << "'");
  };
  has(with([](Call& c) { c.mode = 7; }), "CUDNN_STATUS_BAD_PARAM");
  has(with([](Call& c) { c.eps = -1; }), "not eps >= 0");
  has(with([&](Call& c) { c.statistics = others.get(); }), "not statistics->shape == expected");
  has(with([&](Call& c) { c.x = flat.get(); }), "not supported");
  has(with([](Call& c) { c.mode = api::cudnn_batch_norm_per_activation; }), "not statistics->shape == expected");
  has(with([&](Call& c) { c.mean = ones4->data; }), "not (mean == nullptr) == (inv_std == nullptr)");
  static float host[4];
  has(with([](Call& c) { c.scale = host; }), "no device memory");
  std::size_t bytes = 0;
  check_error(
      [&] {
        CATENA_CUDNN(get_batch_norm_reserve, handle.get(), api::cudnn_batch_norm_spatial_persistent, 1, nullptr,
                     images.get(), &bytes);
      },
      "not supported");
}

// Gradients need the reserve that the forward pass has written: without, they are NaN.
BOOST_AUTO_TEST_CASE(a_reserve_that_was_not_written) {
  if (!have_software_cudnn()) return;
  const auto extension = internal::make_cudnn_extension();
  NnExtension& own = *extension;
  const Shape shape{2, 4, 3, 2};
  const Array x = on_device(numbers(shape, 1), shape, Dtype::float16, true),
              gy = on_device(numbers(shape, 2), shape, Dtype::float16, true),
              gamma = arrays::ones({1, 4, 1, 1}, Dtype::float32, kCuda);
  const Arrays made = own.batch_normalization(x, gamma, gamma, 1e-5, {0, 2, 3});
  BOOST_REQUIRE(made.size() == 5u);
  const auto gx = [&](const Array& reserve) {
    return to_vector<double>(
        own.batch_normalization_backward(x, gy, gamma, made[1], made[3], {0, 2, 3}, reserve)[0])[0];
  };
  BOOST_TEST(!std::isnan(gx(made[4])));
  BOOST_TEST(std::isnan(gx(arrays::zeros(made[4].shape(), Dtype::uint8, kCuda))));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
