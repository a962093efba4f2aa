// Options by name of PyTorch's functions, with the values that PyTorch gives, and its types, constants and settings.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>

#include <catena/autograd/ndarray_backend/torch_dlpack.h>
#include <catena/catena.h>
#include <catena/kernels/registry/bind.h>

using autograd::Variable;
using Doubles = std::vector<double>;
using Integers = std::vector<std::int64_t>;

namespace {

Doubles of(const nd::Array& a) { return a.astype(nd::float64).to_vector<double>(); }
Doubles of(const Variable& v) { return of(nd::Array(v.data())); }
template <class A> void check(const A& a, const Doubles& expected) {
  BOOST_TEST(of(a) == expected, boost::test_tools::tolerance(1e-6) << boost::test_tools::per_element());
}
Variable matrix() { return autograd::tensor({{1.0, 2.0, 3.0}, {6.0, 5.0, 4.0}}); }
Variable integers(const Integers& v) { return autograd::tensor(v); }

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_options)

BOOST_AUTO_TEST_CASE(axes_kept) {
  const Variable x = matrix();
  check(autograd::amax(x, 1, {.keepdim = true}), {3, 6});
  BOOST_TEST(autograd::amin(x, 1, {.keepdim = true}).shape() == nd::Shape({2, 1}));
  const auto greatest = autograd::max(x, 1, {.keepdim = true});
  BOOST_TEST(greatest.values().shape() == nd::Shape({2, 1}));
  check(greatest.values(), {3, 6});
  check(autograd::min(x, 0, {.keepdim = true}).values(), {1, 2, 3});
  check(autograd::median(x, 1, {.keepdim = true}).values, {2, 5});
  check(autograd::nanmedian(x, 1, {.keepdim = true}).values, {2, 5});
  check(autograd::mode(x, 1, {.keepdim = true}).values, {1, 4});
  check(autograd::argmax(x, 1, {.keepdim = true}), {2, 0});
  check(autograd::argmin(x, 1, {.keepdim = true}), {0, 2});
  BOOST_TEST(autograd::any(x > 2, 1, {.keepdim = true}).shape() == nd::Shape({2, 1}));
  BOOST_TEST(autograd::all(x > 2, 1, {.keepdim = true}).shape() == nd::Shape({2, 1}));
  check(autograd::nansum(x, 1, {.keepdim = true}), {6, 15});
  check(autograd::nanmean(x, 1, {.keepdim = true}), {2, 5});
  BOOST_TEST(autograd::logsumexp(x, 1, {.keepdim = true}).shape() == nd::Shape({2, 1}));
  check(autograd::var_mean(x, 1, {.unbiased = false}).var, {2.0 / 3, 2.0 / 3});
  check(autograd::std_mean(x, {.dim = 1, .unbiased = true}).std, {1, 1});
  check(autograd::var_mean(x, 1, {.correction = 0, .keepdim = true}).var, {2.0 / 3, 2.0 / 3});
}

BOOST_AUTO_TEST_CASE(dtypes_of_reductions) {
  const Variable x = matrix();
  const auto is_double = [](const Variable& y, const Doubles& expected) {
    BOOST_TEST(y.dtype() == nd::float64);
    check(y, expected);
  };
  is_double(autograd::sum(x, {.dtype = nd::float64}), {21});
  is_double(autograd::sum(x, {.dim = 1, .keepdim = true, .dtype = nd::float64}), {6, 15});
  is_double(autograd::sum(x, 0, {.dtype = nd::float64}), {7, 7, 7});
  is_double(autograd::mean(x, {0, 1}, {.dtype = nd::float64}), {3.5});
  is_double(autograd::prod(x, 1, {.dtype = nd::float64}), {6, 120});
  is_double(autograd::nansum(x, {.dtype = nd::float64}), {21});
  is_double(autograd::nanmean(x, {.dtype = nd::float64}), {3.5});
  is_double(autograd::cumsum(x, 1, {.dtype = nd::float64}), {1, 3, 6, 6, 11, 15});
  is_double(autograd::cumprod(x, {.dim = 0, .dtype = nd::float64}), {1, 2, 3, 6, 10, 12});
  check(autograd::cumsum(x, {.dim = 0}), {1, 2, 3, 7, 7, 7});
  is_double(autograd::softmax(autograd::zeros(1, 2), -1, {.dtype = nd::float64}), {0.5, 0.5});
  is_double(autograd::log_softmax(autograd::zeros(1, 2), {.dim = -1, .dtype = nd::float64}),
            {-std::log(2.0), -std::log(2.0)});
}

BOOST_AUTO_TEST_CASE(axes_by_name) {
  const Variable x = matrix();
  check(autograd::cummax(x, {.dim = 1}).values, {1, 2, 3, 6, 6, 6});
  check(autograd::cummin(x, {.dim = 1}).values, {1, 1, 1, 6, 5, 4});
  BOOST_TEST(autograd::logcumsumexp(x, {.dim = 1}).shape() == x.shape());
  BOOST_TEST(autograd::unsqueeze(x, {.dim = 1}).shape() == nd::Shape({2, 1, 3}));
  BOOST_TEST(autograd::concatenate({x, x}, {.dim = 1}).shape() == nd::Shape({2, 6}));
  BOOST_TEST(autograd::tensor_split(x, 3, {.dim = 1}).size() == 3U);
  check(autograd::cross(x, x, {.dim = 1}), {0, 0, 0, 0, 0, 0});
  check(autograd::take_along_dim(x, integers({2, 0}).reshape(2, 1), {.dim = 1}), {3, 6});
  const Variable v = autograd::tensor({0.0, 1.0, 3.0});
  check(autograd::trapezoid(v, v, {.dim = 0}), {4.5});
  check(autograd::trapz(v, v, {.dim = 0}), {4.5});
  check(autograd::cumulative_trapezoid(v, v, {.dim = 0}), {0.5, 4.5});
  check(autograd::repeat_interleave(v, 2, {.dim = 0}), {0, 0, 1, 1, 3, 3});
  check(autograd::repeat_interleave(v, Integers{1, 0, 2}, {.dim = 0, .output_size = 3}), {0, 3, 3});
  check(autograd::repeat_interleave(v, integers({1, 0, 2}), {.dim = 0}), {0, 3, 3});
}

BOOST_AUTO_TEST_CASE(positions_by_name) {
  const Variable x = matrix(), i = integers({2, 0}).reshape(2, 1), rows = integers({1});
  check(autograd::gather(x, {.dim = 1, .index = i}), {3, 6});
  check(autograd::gather(x, 1, i, {.sparse_grad = false}), {3, 6});
  check(autograd::index_select(x, {.dim = 0, .index = rows}), {6, 5, 4});
  check(autograd::index_select(x, 0, {.index = rows}), {6, 5, 4});
  check(autograd::select(x, {.dim = 1, .index = 2}), {3, 4});
  check(autograd::narrow(x, {.dim = 1, .start = 1, .length = 2}), {2, 3, 5, 4});
  check(autograd::slice_scatter(x, autograd::zeros(2, 1), {.dim = 1, .start = 2}), {1, 2, 0, 6, 5, 0});
  check(autograd::scatter(x, 1, i, {.value = 9}), {1, 2, 9, 9, 5, 4});
  check(autograd::scatter(x, {.dim = 1, .index = i, .src = autograd::zeros(2, 1)}), {1, 2, 0, 0, 5, 4});
  check(autograd::scatter(x, 1, i, autograd::ones(2, 1), {.reduce = "add"}), {1, 2, 4, 7, 5, 4});
  check(autograd::scatter(x, 1, i, {.value = 2, .reduce = "multiply"}), {1, 2, 6, 12, 5, 4});
  BOOST_CHECK_THROW(autograd::scatter(x, 1, i, autograd::ScatterOptions{}), catena::ValueError);
  BOOST_CHECK_THROW(autograd::scatter(x, 1, i, {.value = 2, .reduce = "max"}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(order) {
  const Variable v = autograd::tensor({2.0, 3.0, 1.0});
  check(autograd::sort(v, {.descending = true, .stable = true}).values, {3, 2, 1});
  check(autograd::sort(v, 0, {.descending = true}).values, {3, 2, 1});
  check(autograd::argsort(v, {.stable = true}), {2, 0, 1});
  check(autograd::argsort(v, -1, {.descending = true}), {1, 0, 2});
  check(autograd::topk(v, 2, 0, {.largest = false}).values, {1, 2});
  const Variable sorted = autograd::tensor({1.0, 2.0, 3.0}), at = autograd::tensor({2.0});
  check(autograd::searchsorted(sorted, at, {.side = "right"}), {2});
  check(autograd::searchsorted(v, at, {.sorter = autograd::argsort(v)}), {1});
  BOOST_TEST(autograd::bucketize(at, sorted, {.out_int32 = true, .right = true}).dtype() == nd::int32);
  BOOST_CHECK_THROW(autograd::searchsorted(sorted, at, {.side = "middle"}), catena::ValueError);
  BOOST_CHECK_THROW(autograd::searchsorted(sorted, at, {.right = true, .side = "left"}), catena::ValueError);
  check(nd::Array(autograd::isin(v, at, {.assume_unique = true, .invert = true})), {0, 1, 1});
}

BOOST_AUTO_TEST_CASE(diagonals_turns_and_numbers) {
  const Variable x = matrix(), v = autograd::tensor({1.0, 2.0});
  check(autograd::diagonal(x, {.offset = 1}), {2, 4});
  check(autograd::diagonal_scatter(x, v, {.offset = 1}), {1, 1, 3, 6, 5, 2});
  check(autograd::diagflat(v, {.offset = 1}), {0, 1, 0, 0, 0, 2, 0, 0, 0});
  check(autograd::diag(x, {.diagonal = 1}), {2, 4});
  check(autograd::diag_embed(v, {.offset = 1}), {0, 1, 0, 0, 0, 2, 0, 0, 0});
  BOOST_TEST(autograd::diag_embed(x, {.dim1 = 0, .dim2 = 2}).shape() == nd::Shape({3, 2, 3}));
  BOOST_TEST(autograd::tril_indices(2, 2, {.dtype = nd::int32}).dtype() == nd::int32);
  check(autograd::triu_indices(2, 2, {.offset = 1}), {0, 1});
  check(autograd::roll(x, {.shifts = 1, .dims = 1}), {3, 1, 2, 4, 6, 5});
  check(autograd::roll(x, {.shifts = {1, 1}, .dims = {0, 1}}), {4, 6, 5, 3, 1, 2});
  check(autograd::rot90(x, {.k = 2}), {4, 5, 6, 3, 2, 1});
  BOOST_TEST(autograd::combinations(v, {.r = 2, .with_replacement = true}).shape() == nd::Shape({3, 2}));
  check(autograd::vander(v, {.N = 2, .increasing = true}), {1, 1, 1, 2});
  check(autograd::dist(v, autograd::zeros(2), {.p = 1}), {3});
  check(autograd::cdist(x, x, {.p = 1}), {0, 9, 9, 0});
  check(autograd::tensordot(x, x, {.dims = 2}), {91});
  check(autograd::tensordot(x, x, {.dims = {{1}, {1}}}), {14, 28, 28, 77});
  check(autograd::logit(autograd::tensor({0.0}), {.eps = 0.25}), {-1.0986122886681098});
  check(autograd::pinverse(autograd::eye(1) * 2, {.rcond = 1e-3}), {0.5});
  check(autograd::clone(v, {.memory_format = autograd::channels_last}), {1, 2});
}

BOOST_AUTO_TEST_CASE(new_tensors) {
  check(autograd::linspace(0, 1, {.steps = 3}), {0, 0.5, 1});
  check(autograd::logspace(0, 2, {.steps = 3, .base = 2}), {1, 2, 4});
  check(autograd::logspace(0, 2, 3, {.base = 2}), {1, 2, 4});
  const auto ones = autograd::ones(2, 3, {.dtype = nd::float64, .layout = autograd::strided, .pin_memory = false});
  BOOST_TEST(ones.dtype() == nd::float64);
  BOOST_TEST(autograd::empty({1, 2}, {.memory_format = autograd::channels_last}).shape() == nd::Shape({1, 2}));
  autograd::Generator g, again;
  g.manual_seed(3), again.manual_seed(3);
  BOOST_TEST(of(autograd::rand(4, {.generator = g})) == of(autograd::rand(4, {.generator = again})));
  BOOST_TEST(of(autograd::randn(2, 2, {.generator = g})) == of(autograd::randn(2, 2, {.generator = again})));
  BOOST_TEST(of(autograd::randperm(9, {.generator = g})) == of(autograd::randperm(9, {.generator = again})));
  BOOST_TEST(of(autograd::randint(9, {8}, {.generator = g})) == of(autograd::randint(9, {8}, {.generator = again})));
  BOOST_TEST(of(autograd::bernoulli(autograd::zeros(9), {.p = 0.5, .generator = g})) ==
             of(autograd::bernoulli(autograd::zeros(9), {.p = 0.5, .generator = again})));
  const Variable w = autograd::tensor({1.0, 1.0, 1.0});
  BOOST_TEST(of(autograd::multinomial(w, 2, {.generator = g})) ==
             of(autograd::multinomial(w, 2, {.generator = again})));
  BOOST_TEST(g.offset == again.offset);
  BOOST_TEST(g.offset > 0U);
  BOOST_TEST(autograd::randint(0, 10, {.size = {2, 3}}).shape() == nd::Shape({2, 3}));
  check(autograd::randint(1, {.size = {2}, .dtype = nd::float32}), {0, 0});
  check(autograd::randint({.low = 4, .high = 5, .size = {2}}), {4, 4});
  check(autograd::randint_like(w, 4, 5, {.dtype = nd::int64}), {4, 4, 4});
  check(autograd::randint_like(w, 1), {0, 0, 0});
}

BOOST_AUTO_TEST_CASE(types_and_constants) {
  BOOST_TEST(autograd::pi == 3.141592653589793);
  BOOST_TEST(std::isinf(autograd::inf));
  BOOST_TEST(std::isnan(autograd::nan));
  check(autograd::FloatTensor({{1, 2}, {3, 4}}), {1, 2, 3, 4});
  BOOST_TEST(autograd::LongTensor(Doubles{1, 2}).dtype() == nd::int64);
  BOOST_TEST(autograd::BoolTensor(2, 3).shape() == nd::Shape({2, 3}));
  BOOST_TEST(matrix().astype(autograd::DoubleTensor).dtype() == nd::float64);
  BOOST_TEST(autograd::zeros(2, {.dtype = autograd::cfloat}).dtype() == nd::complex64);
  const autograd::dtype kind = autograd::cdouble;
  BOOST_TEST(kind == nd::complex128);
  autograd::set_default_tensor_type(autograd::DoubleTensor);
  BOOST_TEST(autograd::ones(1, 1).dtype() == nd::float64);
  autograd::set_default_tensor_type(autograd::FloatTensor);
}

// The dtypes are those of PyTorch.
BOOST_AUTO_TEST_CASE(promotion) {
  const Variable f = autograd::ones(2, 1), i = integers({1}),
                 number = autograd::scalar_tensor(1, {.dtype = nd::float64});
  BOOST_TEST(autograd::result_type(f, i) == nd::float32);
  BOOST_TEST(autograd::result_type(f, 2.5) == nd::float32);
  BOOST_TEST(autograd::result_type(f, number) == nd::float32);
  BOOST_TEST(autograd::result_type(number, i) == nd::float64);
  BOOST_TEST(autograd::result_type(i, 2.5) == nd::float32);
  BOOST_TEST(autograd::result_type(i.astype(nd::uint8), 300) == nd::uint8);
  BOOST_TEST(autograd::result_type(i.astype(nd::bool_), 1) == nd::int64);
  BOOST_TEST(autograd::result_type(f.astype(nd::float16), f.astype(nd::bfloat16)) == nd::float32);
  BOOST_TEST(autograd::can_cast(nd::float64, nd::float16));
  BOOST_TEST(!autograd::can_cast(nd::float32, nd::int64));
  BOOST_TEST(!autograd::can_cast(nd::int8, nd::bool_));
}

BOOST_AUTO_TEST_CASE(settings) {
  autograd::manual_seed(7);
  BOOST_TEST(autograd::initial_seed() == 7U);
  const auto before = autograd::get_default_device();
  autograd::set_default_device("cpu");
  BOOST_TEST((autograd::get_default_device() == autograd::device("cpu")));
  autograd::set_default_device(before);
  BOOST_TEST(!autograd::is_autocast_enabled());
  {
    const autograd::autocast scope(nd::float16);
    BOOST_TEST(autograd::is_autocast_enabled("cuda"));
    BOOST_TEST(autograd::get_autocast_dtype("cpu") == nd::float16);
  }
  BOOST_TEST(autograd::get_autocast_gpu_dtype() == nd::float16);
  BOOST_TEST(autograd::get_autocast_cpu_dtype() == nd::bfloat16);
  const bool anomalies = autograd::is_anomaly_enabled();
  autograd::set_anomaly_enabled(true);
  BOOST_TEST(autograd::is_anomaly_enabled());
  autograd::set_anomaly_enabled(anomalies);
  {
    const autograd::inference_mode scope;
    BOOST_TEST(autograd::is_inference_mode_enabled());
  }
  autograd::set_deterministic_debug_mode("error");
  BOOST_TEST(autograd::get_deterministic_debug_mode() == 2);
  autograd::set_deterministic_debug_mode("default");
  BOOST_TEST(autograd::get_deterministic_debug_mode() == 0);
  BOOST_CHECK_THROW(autograd::set_deterministic_debug_mode("loud"), catena::ValueError);
  autograd::set_num_interop_threads(2);
  BOOST_TEST(!autograd::set_flush_denormal(true));
  nn::Linear linear(2, 3);
  BOOST_TEST((&autograd::compile(linear, {.mode = "max-autotune"}) == &linear));
}

BOOST_AUTO_TEST_CASE(from_memory_and_files) {
  const std::vector<float> xs = {1, 2};
  BOOST_TEST(autograd::asarray(xs, {.dtype = nd::float64, .requires_grad = true}).requires_grad());
  check(autograd::asarray({1.0, 2.0}), {1, 2});
  const Variable x = autograd::tensor({1.0, 2.0});
  check(autograd::asarray(x, {.copy = true}), {1, 2});
  const auto bytes = std::as_bytes(std::span(xs));
  check(autograd::frombuffer(bytes, {.dtype = nd::float32, .offset = 4}), {2});
  const std::string path = "torch_options_test.bin";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(xs.data()), 8);
  check(autograd::from_file(path, {.size = 2}), {1, 2});
  BOOST_CHECK_THROW(autograd::from_file(path, {.size = 3}), catena::ValueError);
  check(autograd::from_dlpack(autograd::to_dlpack(x)), {1, 2});
  BOOST_TEST(nd::Array(autograd::empty_strided({2, 3}, {1, 2}).data()).strides() == nd::Strides({4, 8}));
  const nd::Array permuted = autograd::empty_permuted({2, 3, 4}, {2, 0, 1}).data();
  BOOST_TEST((permuted.strides() == nd::Strides({12, 4, 24})));
  BOOST_CHECK_THROW(autograd::empty_permuted({2, 3}, {0, 0}), catena::ValueError);
  BOOST_CHECK_THROW(autograd::empty_strided({2, 3}, {1}), catena::ValueError);
  check(autograd::range(0, 1, 0.5), {0, 0.5, 1});
  BOOST_CHECK_THROW(autograd::range(0, 1, -1), catena::ValueError);
  check(autograd::nonzero_static(integers({0, 1, 0, 1}), {.size = 3}), {1, 3, -1});
  check(autograd::nonzero_static(integers({0, 1, 0, 1}), {.size = 1}), {1});
  check(autograd::binomial(autograd::tensor({3.0, 4.0}), autograd::tensor({0.0, 1.0})), {0, 4});
}

BOOST_AUTO_TEST_CASE(functions_of_networks) {
  const Variable x = autograd::ones(1, 1, 2, 2);
  check(autograd::conv2d(x, x), {4});
  check(autograd::max_pool2d(x, 2), {1});
  check(autograd::layer_norm(autograd::tensor({1.0, 3.0}), {2}), {-0.999995, 0.999995});
  check(autograd::embedding(integers({1}), matrix()), {6, 5, 4});
  check(autograd::cosine_similarity(matrix(), matrix(), {.dim = 1}), {1, 1});
  check(autograd::pixel_shuffle(autograd::ones(1, 4, 1, 1), 2), {1, 1, 1, 1});
}

BOOST_AUTO_TEST_SUITE_END()
