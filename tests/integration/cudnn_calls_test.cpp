// The calls of the cuDNN extension, and that its results are those of the portable implementation. Where
// cuDNN is not there (on the software CUDA device it never is), a fake stands in, which refuses what the library would
// and computes the rest on the host.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/ndarray_backend/cudnn/extension.h>
#include <catena/autograd/ndarray_backend/cudnn/plans.h>
#include <catena/catena.h>
#include <catena/ndarray/cuda/vendor/blas.h>
#include <catena/ndarray/device/stream.h>
#include <catena/tests/integration/fake_cudnn.h>

namespace {

using namespace autograd;

const Device kCuda{Device::Kind::cuda, 0};

NnExtension& own() {
  fake_cudnn::stands_in();
  static NnExtension& extension = *internal::make_cudnn_extension().release();
  return extension;
}

bool have_cuda() {
  if (nd::is_available(Device::Kind::cuda)) return true;
  std::cout << "skipped: there is no CUDA device on this machine\n";
  return false;
}

Array numbers(const Shape& shape, Dtype dtype, int seed) {
  std::vector<double> values(static_cast<std::size_t>(catena::size_of(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = double((i * 7 + i / 5 * 3 + std::size_t(seed)) % 11) / 8 - 0.625;
  return to_device(astype(from_host(values.data(), shape, Dtype::float64, nd::cpu_device), dtype), kCuda);
}

void check_close(const Array& actual, const Array& expected, double tolerance, const char* what) {
  BOOST_REQUIRE_MESSAGE(actual.shape() == expected.shape(),
                        what << ": " << actual.shape() << " and not " << expected.shape());
  BOOST_TEST((actual.dtype() == expected.dtype()), what << ": " << actual.dtype() << " and not " << expected.dtype());
  const std::vector<double> a = to_vector<double>(actual), e = to_vector<double>(expected);
  double scale = 1, worst = 0;
  for (const double v : e) scale = std::max(scale, std::abs(v));
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::isnan(a[i]) ? 1e300 : std::abs(a[i] - e[i]));
  BOOST_TEST(worst <= tolerance * scale, what << " is off by " << worst);
}

double tolerance_of(Dtype t) {
  return t == Dtype::float64 ? 1e-12 : t == Dtype::float32 ? 1e-5 : t == Dtype::float16 ? 2e-3 : 1.6e-2;
}
constexpr Dtype kFloats[] = {Dtype::float32, Dtype::float64, Dtype::float16, Dtype::bfloat16};

Array channels_last(const Array& a) {
  Dims to{0}, back{0, a.ndim() - 1};
  for (int i = 2; i < a.ndim(); ++i) to.push_back(i);
  to.push_back(1);
  for (int i = 1; i < a.ndim() - 1; ++i) back.push_back(i);
  return transpose(copy(transpose(a, to)), back);
}
Array reversed_axes(const Array& a) { return transpose(copy(transpose(a))); }

Dims tail(const Shape& s) { return Dims(std::span<const std::int64_t>(s.data() + 2, std::size_t(s.size() - 2))); }

// The fake does everything that we ask for; what the library leaves to the portable implementation is its own affair.
void check_who(const char* expected) {
  if (fake_cudnn::stands_in()) BOOST_TEST(last_implementation() == expected);
}

std::size_t calls_of(const char* name) {
  const auto& calls = fake_cudnn::record().calls;
  return std::size_t(std::count(calls.begin(), calls.end(), name));
}

struct Fixture {
  Fixture() { fake_cudnn::stands_in(); }
  ~Fixture() {
    fake_cudnn::record().refuse.clear();
    BOOST_TEST(fake_cudnn::record().live == 0, "descriptors are left");
  }
};

BOOST_FIXTURE_TEST_SUITE(cudnn_calls, Fixture)

BOOST_AUTO_TEST_CASE(convolutions) {
  if (!have_cuda()) return;
  const struct {
    Shape x, w;
    ConvolutionSpec spec;
  } cases[] = {{{2, 8, 6, 7}, {4, 8, 3, 2}, {.stride = {2, 1}, .pad = {1, 0}, .dilate = {1, 2}}},
               {{2, 4, 9}, {6, 2, 3}, {.stride = {2}, .pad = {1}, .dilate = {1}, .groups = 2, .cover_all = true}}};
  for (const auto& c : cases)
    for (const Dtype t : {Dtype::float32, Dtype::float64, Dtype::float16}) {
      const Array x = numbers(c.x, t, 1), w = numbers(c.w, t, 2), b = numbers({c.w[0]}, t, 3);
      NnExtension& portable = portable_nn_extension();
      const Array y = portable.convolution(x, w, b, c.spec), gy = numbers(y.shape(), t, 4);
      check_close(own().convolution(x, w, b, c.spec), y, tolerance_of(t), "y");
      check_who("cudnn");
      check_close(own().convolution(channels_last(x), w, {}, c.spec), portable.convolution(x, w, {}, c.spec),
                  tolerance_of(t), "without b");
      check_close(own().convolution_backward_data(w, gy, tail(c.x), c.spec),
                  portable.convolution_backward_data(w, gy, tail(c.x), c.spec), tolerance_of(t), "gx");
      check_who("cudnn");
      check_close(own().convolution_backward_filter(x, gy, tail(c.w), t, c.spec),
                  portable.convolution_backward_filter(x, gy, tail(c.w), t, c.spec), 4 * tolerance_of(t), "gw");
      check_who("cudnn");
    }
}

// The extension does not override pooling: its comment on that has the reasons.
BOOST_AUTO_TEST_CASE(pooling_is_ours) {
  if (!have_cuda()) return;
  const PoolingSpec spec{{2, 2}, {2, 2}, {0, 0}, false};
  std::vector<double> counted(32);
  for (std::size_t i = 0; i < counted.size(); ++i) counted[i] = double(i);
  const std::vector<double> gradients{4, 8, 12, 16, 20, 24, 28, 32};
  const auto given = [](const std::vector<double>& values, const Shape& shape, Dtype t) {
    return to_device(astype(from_host(values.data(), shape, Dtype::float64, nd::cpu_device), t), kCuda);
  };
  for (const Dtype t : kFloats)
    for (const bool last : {false, true}) BOOST_TEST_CONTEXT(t << (last ? " channels last" : "")) {
        const auto arranged = [&](const Array& a) { return last ? channels_last(a) : a; };
        const Array x = arranged(given(counted, {1, 2, 4, 4}, t)), gy = arranged(given(gradients, {1, 2, 2, 2}, t));
        const Arrays maxima = own().max_pooling(x, spec);
        BOOST_TEST(last_implementation() == "portable");
        BOOST_TEST(to_vector<double>(maxima[0]) == (std::vector<double>{5, 7, 13, 15, 21, 23, 29, 31}));
        BOOST_TEST(to_vector<int>(maxima[1]) == std::vector<int>(8, 3));
        const Array averages = own().average_pooling(x, spec);
        BOOST_TEST(last_implementation() == "portable");
        BOOST_TEST(to_vector<double>(averages) == (std::vector<double>{2.5, 4.5, 10.5, 12.5, 18.5, 20.5, 26.5, 28.5}));
        const Array gx = own().average_pooling_backward(gy, {4, 4}, spec);
        BOOST_TEST(last_implementation() == "portable");
        BOOST_TEST(to_vector<double>(gx) == (std::vector<double>{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4,
                                                                 5, 5, 6, 6, 5, 5, 6, 6, 7, 7, 8, 8, 7, 7, 8, 8}));
      }
}

BOOST_AUTO_TEST_CASE(batch_normalization) {
  if (!have_cuda()) return;
  const struct {
    Shape x, p;
    Dims axes;
    const char* who;
  } layouts[] = {{{6, 3}, {1, 3}, {0}, "cudnn"},
                 {{4, 3, 2, 5}, {1, 3, 1, 1}, {0, 2, 3}, "cudnn"},
                 {{4, 3, 2}, {1, 3, 2}, {0}, "cudnn"},
                 {{3, 4, 2, 3}, {1, 4, 2, 1}, {0, 3}, "cudnn"},
                 {{2, 3, 4}, {1, 1, 4}, {0, 1}, "cudnn"},
                 {{2, 3, 4}, {2, 1, 1}, {1, 2}, "portable"},
                 {{2, 3, 4, 2}, {1, 3, 1, 2}, {0, 2}, "portable"}};
  constexpr double kEps = 1e-3;
  NnExtension& portable = portable_nn_extension();
  for (const auto& l : layouts)
    for (const Dtype t : kFloats) {
      const Array x = numbers(l.x, t, 1), gamma = numbers(l.p, t, 2), beta = numbers(l.p, t, 3),
                  gy = numbers(l.x, t, 4);
      const double tolerance = 8 * tolerance_of(t), narrow = t == Dtype::float64 ? 1e-12 : 1e-5;
      const Arrays y = portable.batch_normalization(x, gamma, beta, kEps, l.axes);
      const Arrays g = portable.batch_normalization_backward(x, gy, gamma, y[1], y[3], l.axes);
      const Array fixed = portable.fixed_batch_normalization(x, gamma, beta, astype(y[1], t), astype(y[2], t), kEps);
      std::vector<Array> given{x, reversed_axes(x)};
      if (x.ndim() > 2) given.push_back(channels_last(x));
      for (const Array& images : given) {
        const Arrays made = own().batch_normalization(images, gamma, beta, kEps, l.axes);
        check_who(l.who);
        check_close(made[0], y[0], tolerance, "y");
        check_close(made[1], y[1], narrow, "mean");
        check_close(made[2], y[2], narrow, "variance");
        check_close(made[3], y[3], 8 * narrow, "inverse deviation");
        const Arrays back = own().batch_normalization_backward(images, gy, gamma, y[1], y[3], l.axes);
        check_who(l.who);
        for (std::size_t k = 0; k < 3; ++k) check_close(back[k], g[k], tolerance, "a gradient");
        const Array by_own =
            own().fixed_batch_normalization(images, gamma, beta, astype(y[1], t), astype(y[2], t), kEps);
        check_close(by_own, fixed, tolerance, "fixed");
        check_who(l.who);
      }
    }
  // Parameters with fewer axes than x, and a variance of 0.
  const Array x = to_device(arrays::full({4, 3, 2}, 5), kCuda), one = numbers({3, 1}, Dtype::float32, 2);
  const Arrays y = own().batch_normalization(x, one, one, kEps, {0, 2});
  BOOST_TEST(y[2].shape() == Shape({1, 3, 1}));
  for (const double v : to_vector<double>(y[2])) BOOST_TEST((v >= 0 && v < 1e-8));
  check_close(own().fixed_batch_normalization(x, one, one, one + 5, one * one, kEps),
              portable.fixed_batch_normalization(x, one, one, one + 5, one * one, kEps), 1e-4, "fixed of fewer axes");
}

// float32 parameters beside 16-bit images are used as they are, in both memory layouts.
BOOST_AUTO_TEST_CASE(batch_normalization_of_16_bit_images) {
  if (!have_cuda()) return;
  constexpr double kEps = 1e-3;
  const Dims axes{0, 2, 3};
  NnExtension& portable = portable_nn_extension();
  for (const Dtype t : {Dtype::float16, Dtype::bfloat16})
    for (const std::int64_t channels : {8, 6})
      for (const bool last : {false, true}) {
        const Shape p{1, channels, 1, 1};
        const Array plain = numbers({3, channels, 4, 5}, t, 1), x = last ? channels_last(plain) : plain;
        const Array gy = numbers(plain.shape(), t, 4), wide = astype(plain, Dtype::float32);
        // Not representable in 16 bits.
        const Array gamma = numbers(p, Dtype::float32, 2) + 1.0009765625 / 3, beta = numbers(p, Dtype::float32, 3) / 3;
        const Arrays y = portable.batch_normalization(wide, gamma, beta, kEps, axes);
        const Arrays g =
            portable.batch_normalization_backward(wide, astype(gy, Dtype::float32), gamma, y[1], y[3], axes);
        const double tolerance = tolerance_of(t);
        for (const bool own_one : {false, true}) {
          NnExtension& nn = own_one ? own() : portable;
          fake_cudnn::record().calls.clear();
          const Arrays made = nn.batch_normalization(x, gamma, beta, kEps, axes);
          check_close(made[0], astype(y[0], t), tolerance, "y");
          check_close(made[1], y[1], 1e-6, "mean");
          BOOST_TEST(made[0].strides() == x.strides());
          const Arrays back = nn.batch_normalization_backward(x, gy, gamma, made[1], made[3], axes,
                                                              made.size() > 4 ? made[4] : Array());
          check_close(back[0], astype(g[0], t), tolerance, "gx");
          BOOST_TEST(back[0].strides() == x.strides());
          for (std::size_t k = 1; k < 3; ++k) check_close(back[k], g[k], 1e-5, "gradients of float32 parameters");
          const Array fixed = nn.fixed_batch_normalization(x, gamma, beta, y[1], y[2], kEps);
          check_close(fixed, astype(y[0], t), tolerance, "fixed");
          BOOST_TEST(fixed.strides() == x.strides());
          if (!own_one || !fake_cudnn::stands_in()) continue;
          const std::size_t with_spaces = last && channels % 4 == 0 ? 1 : 0;
          BOOST_TEST(calls_of("cudnnBatchNormalizationForwardTrainingEx") == with_spaces);
          BOOST_TEST(calls_of("cudnnBatchNormalizationForwardTraining") == 1 - with_spaces);
          BOOST_TEST(calls_of("cudnnBatchNormalizationBackwardEx") == with_spaces);
          BOOST_TEST(calls_of("cudnnBatchNormalizationBackward") == 1 - with_spaces);
          // Without the reserve, and where the functions with workspaces do not support the case.
          check_close(nn.batch_normalization_backward(x, gy, gamma, made[1], made[3], axes)[0], astype(g[0], t),
                      tolerance, "gx without the reserve");
          fake_cudnn::record().refusal = nd::cuda::api::cudnn_not_supported;
          fake_cudnn::record().refuse = "cudnnGetBatchNormalizationTrainingExReserveSpaceSize";
          check_close(nn.batch_normalization(x, gamma, beta, kEps, axes)[0], astype(y[0], t), tolerance, "y");
          check_who("cudnn");
          fake_cudnn::record().refuse.clear();
          BOOST_TEST(calls_of("cudnnBatchNormalizationForwardTrainingEx") == with_spaces);
        }
      }
}

// The layer's averages are moved by cuDNN itself: no kernel runs beside it. A single element per channel has no
// unbiased variance; the averages are then moved by kernels of the library, with the factor 1.
BOOST_AUTO_TEST_CASE(moving_averages_of_batch_normalization) {
  if (!have_cuda()) return;
  for (const Shape& shape : {Shape{4, 3, 2, 5}, Shape{6, 3}, Shape{1, 3}})
    for (const Dtype t : {Dtype::float32, Dtype::float64, Dtype::float16}) {
      const Dtype wide = t == Dtype::float64 ? t : Dtype::float32;
      const Array x = numbers(shape, t, 1), p = numbers({3}, wide, 2);
      const double n = double(x.size()) / 3;
      const std::vector<double> host = to_vector<double>(x);
      for (const bool by_link : {true, false}) {
        const Array mean = numbers({3}, wide, 5), var = numbers({3}, wide, 6);
        const std::vector<double> old_mean = to_vector<double>(mean), old_var = to_vector<double>(var);
        const std::uint64_t version = mean->storage->version.load();
        const nn::BatchNormalizationOptions options{.running_mean = mean, .running_var = var, .decay = 0.75};
        fake_cudnn::record().calls.clear();
        Array new_mean = mean, new_var = var;
        if (by_link) {
          nn::internal::moving_batch_normalization(Variable(x), Variable(p), Variable(p), options);
          BOOST_TEST(mean->storage->version.load() > version);
        } else {
          const auto r = nn::batch_normalization(Variable(x), Variable(p), Variable(p), options, nn::return_statistics);
          new_mean = r.running_mean, new_var = r.running_var;
          BOOST_TEST(to_vector<double>(mean) == old_mean);
          BOOST_TEST(to_vector<double>(var) == old_var);
        }
        const std::vector<double> m = to_vector<double>(new_mean), v = to_vector<double>(new_var);
        const std::int64_t rest = x.size() / shape[0] / 3;
        for (std::int64_t c = 0; c < 3; ++c) {
          double sum = 0, squares = 0;
          for (std::int64_t i = 0; i < shape[0]; ++i)
            for (std::int64_t k = 0; k < rest; ++k) sum += host[std::size_t((i * 3 + c) * rest + k)];
          for (std::int64_t i = 0; i < shape[0]; ++i)
            for (std::int64_t k = 0; k < rest; ++k)
              squares += std::pow(host[std::size_t((i * 3 + c) * rest + k)] - sum / n, 2);
          BOOST_TEST(m[std::size_t(c)] == 0.75 * old_mean[std::size_t(c)] + 0.25 * sum / n,
                     boost::test_tools::tolerance(1e-4));
          BOOST_TEST(v[std::size_t(c)] == 0.75 * old_var[std::size_t(c)] + 0.25 * squares / std::max(n - 1, 1.0),
                     boost::test_tools::tolerance(1e-4));
        }
      }
    }
}

// ---- recurrent networks -------------------------------------------------------------------------
RnnOperands operands_of(const RnnSpec& spec, const std::vector<std::int64_t>& batches, std::int64_t inputs,
                        std::int64_t units, Dtype t) {
  RnnOperands o;
  std::int64_t rows = 0;
  for (const std::int64_t n : batches) rows += n;
  const std::int64_t directions = spec.bidirectional ? 2 : 1;
  o.x = numbers({rows, inputs}, t, 1);
  o.batches = batches;
  o.hx = numbers({spec.layers * directions, batches[0], units}, t, 2);
  if (spec.mode == RnnMode::lstm) o.cx = numbers(o.hx.shape(), t, 3);
  for (std::int64_t k = 0; k < spec.layers * directions; ++k)
    for (int j = 0; j < rnn_matrices(spec.mode); ++j) {
      const std::int64_t below = k < directions ? inputs : units * directions;
      o.ws.push_back(numbers({units, j < rnn_matrices(spec.mode) / 2 ? below : units}, t, 10 + int(k) * 8 + j));
      // No sum is 0, where implementations choose different derivatives of relu.
      o.bs.push_back(numbers({units}, t, 60 + int(k) * 8 + j) + 0.013);
    }
  return o;
}

void check_same(const RnnGradients& got, const RnnGradients& expected, double tolerance) {
  check_close(got.gx, expected.gx, tolerance, "gx");
  check_close(got.ghx, expected.ghx, tolerance, "ghx");
  BOOST_TEST(bool(got.gcx) == bool(expected.gcx));
  if (expected.gcx) check_close(got.gcx, expected.gcx, tolerance, "gcx");
  BOOST_REQUIRE_EQUAL(got.gws.size(), expected.gws.size());
  BOOST_REQUIRE_EQUAL(got.gbs.size(), expected.gbs.size());
  for (std::size_t i = 0; i < got.gws.size(); ++i) {
    check_close(got.gws[i], expected.gws[i], tolerance, "gws");
    check_close(got.gbs[i], expected.gbs[i], tolerance, "gbs");
  }
}

RnnSpec rnn_spec(RnnMode mode, std::int64_t layers, bool both, double dropout = 0) {
  RnnSpec s;
  s.mode = mode;
  s.layers = layers;
  s.bidirectional = both;
  s.dropout = dropout;
  s.seed = 9;
  const std::int64_t masks = dropout > 0 ? (layers - 1) * (both ? 2 : 1) : 0;
  for (std::int64_t k = 1; k <= masks; ++k) s.offsets.emplace_back(Scalar(std::uint64_t(100 * k)));
  return s;
}

void check_rnn(const RnnSpec& spec, Dtype t) {
  const RnnOperands o = operands_of(spec, {3, 2, 2, 1}, 3, 4, t);
  const double tolerance = t == Dtype::float64 ? 1e-11 : t == Dtype::float32 ? 1e-4 : 2e-2;
  const RnnResult r = portable_nn_extension().rnn(o, spec), made = own().rnn(o, spec);
  check_who("cudnn");
  check_close(made.y, r.y, tolerance, "y");
  check_close(made.hy, r.hy, tolerance, "hy");
  BOOST_TEST(bool(made.cy) == bool(r.cy));
  if (r.cy) check_close(made.cy, r.cy, tolerance, "cy");
  RnnOutputGradients g{numbers(r.y.shape(), t, 5), numbers(r.hy.shape(), t, 6),
                       r.cy ? numbers(r.hy.shape(), t, 7) : Array()};
  const RnnGradients expected = portable_nn_extension().rnn_backward(o, spec, r, g);
  check_same(own().rnn_backward(o, spec, made, g), expected, tolerance);
  check_who("cudnn");
  check_same(own().rnn_backward(o, spec, made, g), expected, tolerance);  // once more: the reserve is as it was
  g.ghy = {};
  check_same(own().rnn_backward(o, spec, made, g), portable_nn_extension().rnn_backward(o, spec, r, g), tolerance);

  RnnSpec inference = spec;
  inference.training = false;
  check_close(own().rnn(o, inference).y, portable_nn_extension().rnn(o, inference).y, tolerance, "y of inference");
}

BOOST_AUTO_TEST_CASE(recurrent_networks) {
  if (!have_cuda()) return;
  for (const RnnMode mode : {RnnMode::relu, RnnMode::tanh, RnnMode::lstm, RnnMode::gru})
    for (const bool both : {false, true}) BOOST_TEST_CONTEXT("mode " << int(mode) << (both ? ", both directions" : ""))
  check_rnn(rnn_spec(mode, 2, both), Dtype::float32);
  check_rnn(rnn_spec(RnnMode::lstm, 3, true), Dtype::float64);
  check_rnn(rnn_spec(RnnMode::gru, 2, false), Dtype::float16);
  const std::size_t before = calls_of("cudnnRNNForward");
  check_rnn(rnn_spec(RnnMode::lstm, 3, true, 0.5), Dtype::float64);
  if (fake_cudnn::stands_in())
    BOOST_TEST(calls_of("cudnnRNNForward") == before + 4);  // layer by layer, and all at once for inference
}

BOOST_AUTO_TEST_CASE(tf32_is_used_where_it_is_allowed_only) {
  if (!have_cuda() || !fake_cudnn::stands_in()) return;
  const RnnSpec spec = rnn_spec(RnnMode::tanh, 1, false);
  const bool allowed = nd::cuda::tf32_allowed();
  for (const bool tf32 : {false, true}) {
    nd::cuda::allow_tf32(tf32);
    own().rnn(operands_of(spec, {1}, 2, 2, Dtype::float32), spec);
    BOOST_TEST(fake_cudnn::record().math == (tf32 ? nd::cuda::api::cudnn_default_math : nd::cuda::api::cudnn_fma_math));
  }
  nd::cuda::allow_tf32(allowed);
}

// ---- what a program chooses ---------------------------------------------------------------------
struct Step {
  Array y, gx, gw;
  std::vector<int> engines;  // of the forward pass and the two gradients
  std::vector<std::string_view> who;
};

// A convolution and its gradients, `backward` being what is in force in the backward pass.
Step step_of(const nn::ConvolutionOptions& options, const ConfigOptions& forward, const ConfigOptions& backward) {
  Variable x(numbers({2, 4, 6, 5}, Dtype::float32, 1)), W(numbers({3, 4, 3, 3}, Dtype::float32, 2));
  std::vector<int>& engines = fake_cudnn::record().engines;
  engines.clear();
  Step s;
  Variable y;
  {
    const auto scope = using_config(forward);
    y = nn::convolution_2d(x, W, {}, options);
    s.who.push_back(last_implementation());
  }
  y.set_grad(numbers(y.shape(), Dtype::float32, 3));
  const auto scope = using_config(backward);
  y.backward();
  s.who.push_back(last_implementation());
  s.y = y.data(), s.gx = x.grad(), s.gw = W.grad(), s.engines = engines;
  return s;
}

BOOST_AUTO_TEST_CASE(one_scope_chooses_algorithms_work_space_and_library) {
  if (!have_cuda()) return;
  NnExtension* const found = default_backend().extension<NnExtension>(kCuda);
  if (found == nullptr) {
    std::cout << "skipped: this program asked for cuDNN before the fake was in its place\n";
    return;
  }
  const ConfigOptions never{.use_cudnn = "never"}, fixed{.cudnn_deterministic = true};
  const Step expected = step_of({}, never, never);
  BOOST_TEST(expected.who == (std::vector<std::string_view>{"portable", "portable"}));
  BOOST_TEST(expected.engines.empty());
  const struct {
    const char* name;
    nn::ConvolutionOptions options;
    ConfigOptions forward, backward;
    int engine;  // -1: none
  } cases[] = {{"the defaults", {}, {}, {}, 0},
               {"always", {}, {.use_cudnn = "always"}, {}, 0},
               {"deterministic by the scope", {}, fixed, {}, 1},
               {"deterministic by the call", {.deterministic = true}, {}, {}, 1},
               {"the call against the scope", {.deterministic = false}, fixed, fixed, 0},
               {"little work space", {}, {.max_workspace_size = 100}, {.max_workspace_size = 100}, 2},
               {"deterministic in some work space",
                {},
                {.cudnn_deterministic = true, .max_workspace_size = 2000},
                {.max_workspace_size = 2000},
                1},
               {"no work space", {}, {.max_workspace_size = 95}, {.max_workspace_size = 95}, -1},
               {"never by the call", {.use_cudnn = false}, {}, {}, -1},
               {"never by the scope, in the forward pass", {}, never, {}, -1},
               {"the call against never", {.use_cudnn = true}, never, never, 0}};
  for (const auto& c : cases) BOOST_TEST_CONTEXT(c.name) {
      const Step s = step_of(c.options, c.forward, c.backward);
      check_close(s.y, expected.y, 1e-5, "y");
      check_close(s.gx, expected.gx, 1e-5, "gx");
      check_close(s.gw, expected.gw, 1e-5, "gw");
      if (!fake_cudnn::stands_in()) continue;
      BOOST_TEST(s.engines == (c.engine < 0 ? std::vector<int>() : std::vector<int>(3, c.engine)));
      const std::string_view who = c.engine < 0 ? "portable" : "cudnn";
      BOOST_TEST(s.who == (std::vector<std::string_view>{who, who}));
    }
  // Every operation of networks, and only on the thread of the scope.
  const Array x = numbers({4, 3}, Dtype::float32, 1), p = numbers({1, 3}, Dtype::float32, 2);
  {
    const auto scope = using_config("use_cudnn", "never");
    nn_extension(x).batch_normalization(x, p, p, 1e-3, {0});
    BOOST_TEST(last_implementation() == "portable");
    BOOST_TEST(&nn_extension(x, true) == found);
    const NnExtension* there = nullptr;
    std::thread([&] { there = &nn_extension(x); }).join();
    BOOST_TEST(there == found);
  }
  BOOST_TEST(&nn_extension(x) == found);
  BOOST_TEST(&nn_extension(x, false) == &portable_nn_extension());
}

// Without memory for the workspace of the first engine, the next one computes.
BOOST_AUTO_TEST_CASE(less_work_space_where_memory_is_short) {
  if (!have_cuda() || !fake_cudnn::stands_in()) return;
  const Array x = numbers({2, 4, 6, 5}, Dtype::float32, 1), w = numbers({3, 4, 3, 3}, Dtype::float32, 2);
  const ConvolutionSpec spec{.stride = {1, 1}, .pad = {1, 1}, .dilate = {1, 1}};
  std::vector<int>& engines = fake_cudnn::record().engines;
  nd::MemoryPool& pool = nd::memory_pool(Device::Kind::cuda);
  struct Limit {
    nd::MemoryPool& pool;
    ~Limit() { pool.set_limit(0); }
  };
  engines.clear();
  const Array y = own().convolution(x, w, {}, spec);
  {
    const Limit limit{pool};
    Array reserved = arrays::empty({1 << 20}, Dtype::uint8, kCuda);  // for the result
    pool.set_limit(pool.total_bytes(0));
    std::vector<Array> held;
    for (const std::int64_t bytes : {6 << 20, 1 << 20}) {
      try {
        for (;;) held.push_back(arrays::empty({bytes}, Dtype::uint8, kCuda));
      } catch (const catena::OutOfMemoryError&) {}
    }
    reserved = {};
    const Array other = own().convolution(x, w, {}, spec);
    check_close(other, y, 1e-6, "y");
  }
  own().convolution(x, w, {}, spec);
  BOOST_TEST(engines == (std::vector<int>{0, 1, 0}), boost::test_tools::per_element());
}

// The state that a network keeps for its gradients is that of its implementation.
BOOST_AUTO_TEST_CASE(gradients_of_a_network_are_its_implementations) {
  if (!have_cuda()) return;
  const RnnSpec spec = rnn_spec(RnnMode::lstm, 2, true);
  const RnnOperands o = operands_of(spec, {3, 1}, 3, 4, Dtype::float32);
  const RnnResult theirs = own().rnn(o, spec), ours = portable_nn_extension().rnn(o, spec);
  const RnnOutputGradients g{numbers(ours.y.shape(), Dtype::float32, 5), {}, {}};
  const RnnGradients expected = portable_nn_extension().rnn_backward(o, spec, ours, g);
  check_same(portable_nn_extension().rnn_backward(o, spec, theirs, g), expected, 1e-4);
  check_who("cudnn");
  check_same(own().rnn_backward(o, spec, ours, g), expected, 1e-6);
  BOOST_TEST(last_implementation() == "portable");
}

// ---- streams and errors -------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(work_goes_to_the_current_stream) {
  if (!have_cuda() || !fake_cudnn::stands_in()) return;
  const Array x = numbers({2, 3, 4, 4}, Dtype::float32, 1), p = numbers({1, 3, 1, 1}, Dtype::float32, 2);
  nd::synchronize(kCuda);
  const nd::Stream stream;
  const nd::StreamScope scope(stream);
  own().batch_normalization(x, p, p, 1e-3, {0, 2, 3});
  BOOST_TEST(fake_cudnn::record().stream == stream.ptr());
  fake_cudnn::record().stream = nullptr;
  own().convolution(x, numbers({2, 3, 3, 3}, Dtype::float32, 3), {},
                    {.stride = {1, 1}, .pad = {1, 1}, .dilate = {1, 1}});
  BOOST_TEST(fake_cudnn::record().stream == stream.ptr());
  stream.synchronize();
}

BOOST_AUTO_TEST_CASE(what_is_not_supported_is_done_by_the_portable_implementation) {
  if (!have_cuda() || !fake_cudnn::stands_in()) return;
  fake_cudnn::Record& record = fake_cudnn::record();
  record.refusal = nd::cuda::api::cudnn_not_supported;
  const Array x = numbers({4, 3}, Dtype::float32, 1), p = numbers({1, 3}, Dtype::float32, 2);
  record.refuse = "cudnnBatchNormalizationForwardTraining";
  const Arrays y = own().batch_normalization(x, p, p, 1e-3, {0});
  BOOST_TEST(last_implementation() == "portable");
  check_close(y[0], portable_nn_extension().batch_normalization(x, p, p, 1e-3, {0})[0], 1e-6, "y");

  const RnnSpec spec = rnn_spec(RnnMode::gru, 2, true);
  const RnnOperands o = operands_of(spec, {2, 1}, 3, 2, Dtype::float32);
  const RnnResult expected = portable_nn_extension().rnn(o, spec);
  const RnnOutputGradients g{numbers(expected.y.shape(), Dtype::float32, 5), {}, {}};
  record.refuse = "cudnnRNNForward";
  const RnnResult r = own().rnn(o, spec);
  BOOST_TEST(last_implementation() == "portable");
  record.refuse.clear();
  check_same(own().rnn_backward(o, spec, r, g), portable_nn_extension().rnn_backward(o, spec, expected, g), 1e-6);
  BOOST_TEST(last_implementation() == "portable");  // whose result it was
  const RnnResult theirs = own().rnn(o, spec);
  record.refuse = "cudnnRNNBackwardData_v8";
  check_same(own().rnn_backward(o, spec, theirs, g), portable_nn_extension().rnn_backward(o, spec, expected, g), 1e-4);
  BOOST_TEST(last_implementation() == "portable");
}

BOOST_AUTO_TEST_CASE(errors_carry_the_librarys_code_and_words) {
  if (!have_cuda() || !fake_cudnn::stands_in()) return;
  fake_cudnn::Record& record = fake_cudnn::record();
  const RnnSpec spec = rnn_spec(RnnMode::lstm, 1, false);
  const RnnOperands o = operands_of(spec, {2, 1}, 3, 2, Dtype::float32);
  record.refuse = "cudnnRNNForward";
  record.refusal = fake_cudnn::kBadParameter;
  try {
    own().rnn(o, spec);
    BOOST_ERROR("nothing was thrown");
  } catch (const catena::CudaError& e) {
    BOOST_TEST(e.library() == "cuDNN");
    BOOST_TEST(e.code() == fake_cudnn::kBadParameter);
    BOOST_TEST(e.symbol() == "CUDNN_STATUS_BAD_PARAM");
    BOOST_TEST(std::string(e.what()).find("cudnnRNNForward: as the test asked") == 0u, e.what());
  }
  record.refusal = nd::cuda::api::cudnn_device_allocation_failed;
  BOOST_CHECK_THROW(own().rnn(o, spec), catena::OutOfMemoryError);
  record.refuse = "cudnnBatchNormalizationBackward";
  record.refusal = nd::cuda::api::cudnn_internal_error;
  const Array x = numbers({4, 3}, Dtype::float32, 1), p = numbers({1, 3}, Dtype::float32, 2);
  BOOST_CHECK_THROW(own().batch_normalization_backward(x, x, p, p, p, {0}), catena::CudaError);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
