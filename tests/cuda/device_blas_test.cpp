// Products by cuBLASLt on a device, compared with those of the CPU backend: every dtype, layout and kind of batch that
// it takes, what it leaves to the portable kernel, epilogues, streams.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <complex>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/vendor/blas.h>
#include <catena/ndarray/cuda/vendor/linear.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/cuda_device/launches.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using cuda_device::launches_of;
using nd::cuda::Activation;
using nd::cuda::blas_matmul;

const nd::Device kCuda{nd::Device::Kind::cuda, 0};

catena::BoundOperand operand(const nd::Array& a) { return {a->data, a.dtype(), false, &a.shape(), &a.strides()}; }
bool multiply(const nd::Array& a, const nd::Array& b, const nd::Array& out, const nd::cuda::Epilogue& epilogue = {}) {
  return blas_matmul({operand(a), operand(b), operand(out)}, nd::current_stream(kCuda), epilogue);
}

// Small integers: products and sums are exact in every dtype and in every order.
nd::Array integers(const nd::Shape& shape, nd::Dtype dtype, std::mt19937& random) {
  std::vector<double> values(static_cast<std::size_t>(catena::size_of(shape)));
  for (double& v : values) v = double(random() % 7) - 3;
  const nd::Array real = nd::array(values, shape, {.dtype = dtype});
  if (!catena::is_complex_dtype(dtype)) return real;
  for (double& v : values) v = double(random() % 7) - 3;
  return real + nd::array(values, shape, {.dtype = dtype}) * std::complex<double>(0, 1);
}
nd::Array swapped(const nd::Array& a) { return nd::swapaxes(a, -1, -2); }
nd::Array on_cpu(const nd::Array& a) { return a.to_device(nd::cpu_device); }
// "" if all numbers are equal.
std::string difference(const nd::Array& a, const nd::Array& b) {
  if (!catena::is_complex_dtype(a.dtype())) return test::difference(a, b);
  return test::difference(a.real().copy(), b.real().copy()) + test::difference(a.imag().copy(), b.imag().copy());
}
nd::Array product_on_cpu(const nd::Array& a, const nd::Array& b) { return nd::matmul(on_cpu(a), on_cpu(b)); }

// Where the library is not there the product is the portable kernel's, and nothing here can be tested.
bool have_cublaslt() {
  try {
    nd::cuda::cublaslt();
    return true;
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return false;
  }
}

BOOST_AUTO_TEST_SUITE(device_blas)

BOOST_AUTO_TEST_CASE(products_of_every_dtype_and_layout) {
  if (!have_cublaslt()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(1);
  for (const nd::Dtype dtype : {nd::float16, nd::bfloat16, nd::float32, nd::float64, nd::complex64, nd::complex128})
    for (const std::int64_t m : {1, 33})
      for (const std::int64_t n : {1, 17})
        for (int which = 0; which < 8; ++which) {
          constexpr std::int64_t k = 20;
          const nd::Array a = which & 1 ? swapped(integers({k, m}, dtype, random)) : integers({m, k}, dtype, random);
          const nd::Array b = which & 2 ? swapped(integers({n, k}, dtype, random)) : integers({k, n}, dtype, random);
          const nd::Array out = which & 4 ? swapped(nd::zeros({n, m}, dtype)) : nd::zeros({m, n}, dtype);
          BOOST_TEST(multiply(a, b, out));
          BOOST_TEST(nd::cuda::last_matmul() == "cublaslt");
          CHECK_SAME(difference(on_cpu(out), product_on_cpu(a, b)),
                     dtype << " " << m << "x" << n << " layout " << which);
        }
}

BOOST_AUTO_TEST_CASE(batches) {
  if (!have_cublaslt()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(2);
  const auto same = [&](const nd::Array& a, const nd::Array& b, const nd::Shape& shape) {
    const nd::Array out = nd::zeros(shape, a.dtype());
    BOOST_TEST(multiply(a, b, out));
    CHECK_SAME(difference(on_cpu(out), product_on_cpu(a, b)), a.shape() << " @ " << b.shape());
  };
  for (const nd::Dtype dtype : {nd::float16, nd::float32, nd::float64, nd::complex64}) {
    same(integers({3, 5, 4}, dtype, random), integers({3, 4, 6}, dtype, random), {3, 5, 6});
    same(integers({2, 3, 5, 4}, dtype, random), integers({2, 3, 4, 6}, dtype, random), {2, 3, 5, 6});
    same(integers({3, 5, 4}, dtype, random), nd::broadcast_to(integers({4, 6}, dtype, random), {3, 4, 6}), {3, 5, 6});
    same(nd::broadcast_to(integers({5, 4}, dtype, random), {3, 5, 4}), integers({3, 4, 6}, dtype, random), {3, 5, 6});
    same(swapped(integers({3, 4, 5}, dtype, random)), integers({3, 4, 6}, dtype, random), {3, 5, 6});
  }
}

// Heads of attention: one call for each sentence, without copies.
BOOST_AUTO_TEST_CASE(leading_axes_that_do_not_merge) {
  if (!have_cublaslt()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(9);
  for (const nd::Dtype dtype : {nd::float16, nd::bfloat16, nd::float32, nd::float64, nd::complex64, nd::complex128}) {
    const auto same = [&](const nd::Array& a, const nd::Array& b, const nd::Shape& shape) {
      const nd::Array out = nd::zeros(shape, dtype);
      const auto names = launches_of([&] { BOOST_TEST(multiply(a, b, out)); });
      BOOST_TEST(nd::cuda::last_matmul() == "cublaslt");
      if (!names.empty())
        BOOST_TEST(names == std::vector<std::string>(2, "cublasLtMatmul"), boost::test_tools::per_element());
      CHECK_SAME(difference(on_cpu(out), product_on_cpu(a, b)), dtype << " " << a.shape() << " @ " << b.shape());
    };
    const nd::Array all = integers({2, 5, 3, 3, 4}, dtype, random);  // (sentences, words, q k v, heads, features)
    const auto part = [&](std::int64_t i) { return all(nd::Slice(), nd::Slice(), i).transpose({0, 2, 1, 3}); };
    same(part(0), swapped(part(1)), {2, 3, 5, 5});
    same(integers({2, 3, 5, 5}, dtype, random), part(2), {2, 3, 5, 4});
    same(part(0), nd::broadcast_to(integers({3, 4, 6}, dtype, random), {2, 3, 4, 6}), {2, 3, 5, 6});
  }
}

// Operands with steps in both directions, or with so many calls that a copy takes less time.
BOOST_AUTO_TEST_CASE(operands_that_are_copied_first) {
  if (!have_cublaslt()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(10);
  const auto same = [&](const nd::Array& a, const nd::Array& b, std::size_t launches) {
    nd::Array out;
    const auto names = launches_of([&] { out = nd::matmul(a, b); });
    BOOST_TEST(nd::cuda::last_matmul() == "cublaslt");
    if (!names.empty()) {
      BOOST_TEST(names.size() == launches);
      BOOST_TEST(names.back() == "cublasLtMatmul");
    }
    CHECK_SAME(difference(on_cpu(out), product_on_cpu(a, b)), a.shape() << a.strides() << " @ " << b.strides());
  };
  const auto every_second = [](const nd::Array& a) { return a(nd::ellipsis, nd::Slice({}, {}, 2)); };
  const nd::Array a = integers({512, 1024}, nd::float32, random), b = integers({512, 1024}, nd::float32, random);
  same(every_second(a), every_second(b), 3);
  same(every_second(a), integers({512, 512}, nd::float32, random), 2);
  same(integers({512, 512}, nd::float32, random), swapped(every_second(b)), 2);
  same(integers({512, 512}, nd::float32, random)(nd::Slice({}, {}, -1)), integers({512, 512}, nd::float32, random), 2);
  same(nd::broadcast_to(integers({600, 1}, nd::float32, random), {600, 512}), every_second(b), 3);
  // One b of steps in both directions for a stack.
  same(integers({3, 200, 512}, nd::float32, random), nd::broadcast_to(every_second(b), {3, 512, 512}), 2);
  const auto heads = [&](std::int64_t features) { return integers({64, 32, 65, features}, nd::float32, random); };
  same(heads(16).transpose({0, 2, 1, 3}), heads(16).transpose({0, 2, 3, 1}), 3);
}

// nd::matmul takes what is there, and the result does not depend on it.
BOOST_AUTO_TEST_CASE(matmul_chooses_by_itself) {
  if (!have_cublaslt()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(3);
  const nd::Array a = integers({9, 8}, nd::float32, random), b = integers({8, 7}, nd::float32, random);
  CHECK_SAME(difference(on_cpu(nd::matmul(a, b)), product_on_cpu(a, b)), "float32");
  BOOST_TEST(nd::cuda::last_matmul() == "cublaslt");
  const nd::Array every_second = integers({9, 16}, nd::float32, random)(nd::ellipsis, nd::Slice({}, {}, 2));
  CHECK_SAME(difference(on_cpu(nd::matmul(every_second, b)), product_on_cpu(every_second, b)), "strided");
  const nd::Array i = integers({9, 8}, nd::int32, random), j = integers({8, 7}, nd::int32, random);
  CHECK_SAME(difference(on_cpu(nd::matmul(i, j)), product_on_cpu(i, j)), "int32");
  BOOST_TEST(nd::cuda::last_matmul() == "portable");
}

BOOST_AUTO_TEST_CASE(what_it_cannot_express_is_refused_and_nothing_is_written) {
  if (!have_cublaslt()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(4);
  const nd::Array a = integers({4, 4}, nd::float32, random), out = nd::full({4, 4}, 9, {.dtype = nd::float32});
  BOOST_TEST(!multiply(a(nd::Slice({}, {}, -1)), a, out));
  BOOST_TEST(nd::cuda::last_matmul() == "portable");
  const nd::Array bias = nd::ones({4}, nd::float32);
  BOOST_TEST(
      !multiply(a, a, swapped(out), {.bias = bias->data}));  // the columns of out are the wrong ones for the library
  CHECK_SAME(difference(on_cpu(out), on_cpu(nd::full({4, 4}, 9, {.dtype = nd::float32}))), "out");
}

// Two-byte elements at an odd place: the algorithm must not rely on more than the address has.
BOOST_AUTO_TEST_CASE(operands_that_are_not_aligned) {
  if (!have_cublaslt()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(5);
  const auto shifted = [&](std::int64_t rows, std::int64_t columns) {
    return integers({rows * columns + 1}, nd::float16, random)(nd::Slice(1, {})).reshape({rows, columns});
  };
  const nd::Array a = shifted(6, 5), b = shifted(5, 3),
                  out = nd::zeros({19}, nd::float16)(nd::Slice(1, {})).reshape({6, 3});
  BOOST_TEST(multiply(a, b, out));
  CHECK_SAME(difference(on_cpu(out), product_on_cpu(a, b)), "shifted");
  const nd::Array aligned = a.copy();  // the same shapes with another alignment are another choice
  BOOST_TEST(multiply(aligned, b, out));
  CHECK_SAME(difference(on_cpu(out), product_on_cpu(a, b)), "aligned");
}

BOOST_AUTO_TEST_CASE(epilogues) {
  if (!have_cublaslt()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(6);
  for (const nd::Dtype dtype : {nd::float16, nd::float32}) {
    const nd::Array a = integers({5, 4}, dtype, random), b = integers({4, 3}, dtype, random),
                    bias = integers({3}, dtype, random);
    const auto products = product_on_cpu(a, b).to_vector<double>();
    const auto biases = on_cpu(bias).to_vector<double>();
    for (const bool with_bias : {false, true})
      for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu_tanh}) {
        const nd::Array out = nd::zeros({5, 3}, dtype);
        BOOST_REQUIRE(multiply(a, b, out, {.bias = with_bias ? bias->data : nullptr, .activation = activation}));
        const auto got = on_cpu(out).to_vector<double>();
        for (std::size_t i = 0; i < got.size(); ++i) {
          double x = products[i] + (with_bias ? biases[i % 3] : 0);
          if (activation == Activation::relu) x = std::max(x, 0.0);
          if (activation == Activation::gelu_tanh)
            x = 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
          BOOST_TEST(std::abs(got[i] - x) <= (dtype == nd::float16 ? 1e-2 : 1e-4) * (1 + std::abs(x)),
                     dtype << " bias " << with_bias << " activation " << int(activation) << " element " << i);
        }
      }
  }
}

// x w^T + b: one launch where the library adds the bias, otherwise nothing is done.
BOOST_AUTO_TEST_CASE(products_with_a_bias) {
  if (!have_cublaslt()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(12);
  const auto linear = [](const nd::Array& x, const nd::Array& w, const nd::Array& b) {
    const nd::Array out = nd::full({x.shape(0), w.shape(0)}, 9, {.dtype = x.dtype()});
    bool done = false;
    const auto names = launches_of([&] { done = nd::cuda::linear(*x.get(), *w.get(), *b.get(), *out.get()); });
    if (cuda_device::Control::available())
      BOOST_TEST(names == std::vector<std::string>(done, "cublasLtMatmul"), boost::test_tools::per_element());
    const nd::Array expected =
        done ? product_on_cpu(x, w.transpose()) + on_cpu(b) : on_cpu(nd::full(out.shape(), 9, {.dtype = x.dtype()}));
    CHECK_SAME(difference(on_cpu(out), expected.astype(x.dtype())), x.dtype() << " " << x.shape() << " " << w.shape());
    return done;
  };
  for (const nd::Dtype dtype : {nd::float16, nd::bfloat16, nd::float32}) {
    for (const std::int64_t rows : {1, 2, 33})
      for (const std::int64_t outputs : {1, 3, 40})
        BOOST_TEST(linear(integers({rows, 24}, dtype, random), integers({outputs, 24}, dtype, random),
                          integers({outputs}, dtype, random)));
    const nd::Array x = integers({6, 10}, dtype, random), w = integers({4, 10}, dtype, random),
                    b = integers({9}, dtype, random);
    BOOST_TEST(linear(swapped(integers({10, 6}, dtype, random)), swapped(integers({10, 4}, dtype, random)),
                      b(nd::Slice(0, 4))));
    BOOST_TEST(!linear(x, w, b(nd::Slice(1, 5))));     // not aligned
    BOOST_TEST(!linear(x, w, b(nd::Slice(0, 8, 2))));  // with gaps
    BOOST_TEST(!linear(x(nd::Slice({}, {}, -1)), w, b(nd::Slice(0, 4))));
    BOOST_TEST(!linear(integers({1, 9000}, dtype, random), integers({4, 9000}, dtype, random), b(nd::Slice(0, 4))));
  }
  BOOST_TEST(!linear(integers({6, 10}, nd::float64, random), integers({4, 10}, nd::float64, random),
                     integers({4}, nd::float64, random)));
  // Equal products with different biases.
  const nd::Array x = integers({2, 10}, nd::float32, random), w = integers({4, 10}, nd::float32, random);
  for (int i = 0; i < 3; ++i) BOOST_TEST(linear(x, w, integers({4}, nd::float32, random)));
}

// float64 has no epilogue in the library: it is refused, not forgotten.
BOOST_AUTO_TEST_CASE(an_epilogue_is_done_or_refused) {
  if (!have_cublaslt()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(7);
  const nd::Array a = integers({5, 5}, nd::float64, random), out = nd::zeros({5, 5}, nd::float64);
  const bool done = multiply(a, a, out, {.activation = Activation::relu});
  BOOST_TEST(nd::cuda::last_matmul() == (done ? "cublaslt" : "portable"));
  const nd::Array product = product_on_cpu(a, a);
  CHECK_SAME(difference(on_cpu(out), done ? nd::maximum(product, 0) : on_cpu(nd::zeros({5, 5}))),
             (done ? "done" : "refused"));
}

// A product that is timed runs all algorithms of the software device twice; its later equals run the fastest one.
BOOST_AUTO_TEST_CASE(large_products_are_timed_once) {
  if (!have_cublaslt() || !cuda_device::Control::available()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(11);
  const double before = nd::cuda::timed_operations();
  nd::cuda::set_timed_operations(2.0 * 13 * 14 * 15);
  const auto run = [&](const nd::Array& a, const nd::Array& b) {
    nd::Array out;
    const auto names = launches_of([&] { out = nd::matmul(a, b); });
    CHECK_SAME(difference(on_cpu(out), product_on_cpu(a, b)), a.shape() << " @ " << b.shape());
    return names;
  };
  const std::string first = "cublasLtMatmul", second = first + ", algorithm 1", third = first + ", algorithm 2";
  const nd::Array a = integers({13, 14}, nd::float32, random), b = integers({14, 15}, nd::float32, random);
  const std::vector<std::string> all = {first, first, second, second, third, third, second}, one = {second},
                                 not_timed = {first};
  BOOST_TEST(run(a, b) == all, boost::test_tools::per_element());
  BOOST_TEST(run(a, b) == one, boost::test_tools::per_element());
  BOOST_TEST(run(a.copy(), b.copy()) == one, boost::test_tools::per_element());
  BOOST_TEST(run(integers({12, 14}, nd::float32, random), b) == not_timed, boost::test_tools::per_element());
  // Recorded in a graph: the first one, whose choice is kept.
  const nd::Array c = integers({14, 16}, nd::float32, random);
  nd::Array out;
  nd::cuda::Graph graph([&] { out = nd::matmul(a, c); });
  graph.replay();
  CHECK_SAME(difference(on_cpu(out), product_on_cpu(a, c)), "recorded");
  BOOST_TEST(run(a, c) == not_timed, boost::test_tools::per_element());
  nd::cuda::set_timed_operations(before);
}

BOOST_AUTO_TEST_CASE(products_are_ordered_by_their_stream) {
  if (!have_cublaslt()) return;
  const nd::DeviceScope on(kCuda);
  std::mt19937 random(8);
  const nd::Array a = integers({6, 6}, nd::float32, random);
  const nd::Array one = product_on_cpu(a, a), expected = nd::matmul(one, on_cpu(a));
  nd::synchronize(kCuda);
  const nd::Stream stream({.non_blocking = true});
  const nd::StreamScope scope(stream);
  const nd::Array x = nd::matmul(nd::matmul(a, a), a);
  stream.synchronize();
  CHECK_SAME(difference(on_cpu(x), expected), "chain on a stream");
}

BOOST_AUTO_TEST_CASE(many_threads_at_once) {
  if (!have_cublaslt()) return;
  std::vector<std::thread> threads;
  std::vector<std::string> found(4);
  for (std::size_t t = 0; t < found.size(); ++t)
    threads.emplace_back([t, &found] {
      const nd::DeviceScope on(kCuda);
      std::mt19937 random(static_cast<unsigned>(t));
      for (std::int64_t n = 1; n < 12 && found[t].empty(); ++n) {
        const nd::Array a = integers({n, 5}, nd::float32, random), b = integers({5, n + 1}, nd::float32, random);
        found[t] = difference(on_cpu(nd::matmul(a, b)), product_on_cpu(a, b));
      }
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& text : found) BOOST_TEST(text.empty(), text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
