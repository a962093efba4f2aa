// Arrays as a new user would type them, who knows NumPy or CuPy. Every line is one spelling and what it must give.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <iostream>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <expect.h>

#include <catena/ndarray/ndarray.h>

namespace {

bool has_values(const nd::Array& a, const std::vector<double>& values) { return a.to_vector<double>() == values; }
template <class T> std::string text(const T& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

using nd::_;
using nd::Array;
using nd::Slice;

void creation() {
  EXPECT(has_values(nd::array({1, 2, 3}), {1, 2, 3}));
  EXPECT(has_values(nd::array({{1, 2}, {3, 4}}), {1, 2, 3, 4}));
  EXPECT(nd::array({1.5, 2}).dtype() == nd::float64);
  EXPECT(nd::array({1, 2}, nd::float32).dtype() == nd::float32);
  EXPECT(nd::array(5).ndim() == 0);
  EXPECT(has_values(nd::zeros({2, 2}), {0, 0, 0, 0}));
  EXPECT(nd::zeros(3).shape() == nd::Shape{3});
  EXPECT(nd::ones({2, 3}, nd::int32).dtype() == nd::int32);
  EXPECT(has_values(nd::full({2}, 7), {7, 7}));
  EXPECT(has_values(nd::full(2, 0.5, nd::float32), {0.5, 0.5}));
  EXPECT(nd::empty({4, 4}).size() == 16);
  EXPECT(has_values(nd::arange(3), {0, 1, 2}));
  EXPECT(has_values(nd::arange(2, 8, 3), {2, 5}));
  EXPECT(has_values(nd::arange(0, 1, 0.5), {0, 0.5}));
  EXPECT(nd::arange(3, nd::float32).dtype() == nd::float32);
  EXPECT(has_values(nd::linspace(0, 1, 3), {0, 0.5, 1}));
  EXPECT(has_values(nd::eye(2), {1, 0, 0, 1}));
  EXPECT(has_values(nd::identity(2), {1, 0, 0, 1}));
  EXPECT(has_values(nd::zeros_like(nd::ones(2)), {0, 0}));
  EXPECT(nd::diag(nd::array({1, 2})).shape() == nd::Shape{2, 2});
  const std::vector<float> values{1, 2, 3, 4};
  const std::array<int, 2> pair{1, 2};
  const std::vector<std::vector<int>> rows{{1, 2}, {3, 4}};
  EXPECT(nd::array(values).dtype() == nd::float32);
  EXPECT(nd::array(pair).size() == 2);
  EXPECT(nd::array(rows).shape() == nd::Shape{2, 2});
  EXPECT(nd::array(std::span<const float>(values)).size() == 4);
  EXPECT(nd::array(values).reshape(2, 2)(1, 0).item<float>() == 3);
  EXPECT(nd::zeros({values.size(), 3}).shape(0) == 4);
  EXPECT(nd::array({std::complex<double>(1, 2)}).dtype() == nd::complex128);
  std::vector<double> memory(6, 1.0);
  nd::wrap(memory.data(), {2, 3})(0) = 5;
  EXPECT(memory[2] == 5 && memory[3] == 1);
}

void numbers_out() {
  const Array a = nd::arange(6).reshape(2, 3);
  EXPECT(a.shape() == nd::Shape{2, 3});
  EXPECT(a.ndim() == 2 && a.size() == 6 && a.len() == 2);
  const auto [rows, columns] = a.shape<2>();
  EXPECT(rows == 2 && columns == 3);
  EXPECT(a(1, 2).item<int>() == 5);
  EXPECT(double(a.sum()) == 15);
  EXPECT(int(a[1][0]) == 3);
  EXPECT(a.max().item<double>() / 2 == 2.5);
  EXPECT(a.sum().item() + 1 == 16);
  EXPECT(a.to_vector<float>().size() == 6);
  EXPECT(bool(nd::array(1)));
  EXPECT(a.T().shape() == nd::Shape{3, 2});
  int sum = 0;
  for (const Array row : a) sum += int(row(0));
  EXPECT(sum == 3);
  auto v = a.accessor<const std::int64_t, 2>();
  EXPECT(v(1, 1) == 4);
  EXPECT(a.data<const std::int64_t>()[4] == 4);
  EXPECT(text(a) == "[[0 1 2]\n [3 4 5]]");
  EXPECT(text(nd::array({0.5f})) == "[0.5]");
  EXPECT(text(a.dtype()) == "int64");
  EXPECT(text(a.device()) == "cpu:0");
}

void keys() {
  Array a = nd::arange(6).reshape(2, 3);
  EXPECT(has_values(a(0), {0, 1, 2}));
  EXPECT(has_values(a[-1], {3, 4, 5}));
  EXPECT(has_values(a(_, 1), {1, 4}));
  EXPECT(has_values(a(Slice(0, 1), Slice({}, {}, -1)), {2, 1, 0}));
  EXPECT(has_values(a(nd::ellipsis, 0), {0, 3}));
  EXPECT(a(nd::newaxis).shape() == nd::Shape{1, 2, 3});
  EXPECT(has_values(a({1, 0}), {3, 4, 5, 0, 1, 2}));
  EXPECT(has_values(a(_, {0, 2}), {0, 2, 3, 5}));
  EXPECT(has_values(a({0, 1}, {2, 0}), {2, 3}));
  EXPECT(has_values(a(nd::array({1, 1})), {3, 4, 5, 3, 4, 5}));
  EXPECT(has_values(a(a > 3), {4, 5}));
  EXPECT(has_values(a(a % 2 == 0), {0, 2, 4}));
  EXPECT(double(a(a > 3).sum()) == 9);
  EXPECT(has_values(-a(a > 3), {-4, -5}));
  const std::vector<int> some{1};
  EXPECT(has_values(a(some), {3, 4, 5}));
  a(0) = 7;
  EXPECT(has_values(a, {7, 7, 7, 3, 4, 5}));
  a(_, 0) = nd::array({1, 2});
  a(1, 1) += 10;
  EXPECT(has_values(a, {1, 7, 7, 2, 14, 5}));
  a(a > 6) = 0;
  EXPECT(has_values(a, {1, 0, 0, 2, 0, 5}));
  a(a == 0) += 3;
  EXPECT(has_values(a, {1, 3, 3, 2, 3, 5}));
  a[0] *= 2;
  EXPECT(has_values(a[0], {2, 6, 6}));
  auto picked = a({0});
  picked(0, 0) = -1;
  EXPECT(a(0, 0).item<int>() == 2);
  EXPECT(has_values(nd::take(a, {2, 0}, 1), {6, 2, 5, 2}));
  EXPECT(nd::nonzero(a > 4)[0].size() == 3);
  RAISES("out of range", a(5));
  RAISES("", a(0, 0, 0));
}

void calculation() {
  const Array a = nd::array({1., 2., 3.}), b = nd::array({4., 5., 6.});
  EXPECT(has_values(a + b * 2 - 1, {8, 11, 14}));
  EXPECT(has_values(1 / a, {1, 0.5, 1. / 3}));
  EXPECT((nd::array({1, 2}) / 2).dtype() == nd::float64);
  EXPECT(has_values(nd::array({7, 8}) % 3, {1, 2}));
  EXPECT(has_values(a < nd::array({2, 2, 2}), {1, 0, 0}));
  EXPECT(has_values((a > 1) & (b < 6), {0, 1, 0}));
  EXPECT(has_values(~(a > 1), {1, 0, 0}));
  EXPECT(has_values(nd::sqrt(a * a), {1, 2, 3}));
  EXPECT(has_values(nd::exp(nd::zeros(2)), {1, 1}));
  EXPECT(has_values(nd::maximum(a, 2), {2, 2, 3}));
  EXPECT(has_values(nd::where(a > 1, a, 0), {0, 2, 3}));
  EXPECT(has_values(nd::clip(a, 1.5, 2.5), {1.5, 2, 2.5}));
  EXPECT(has_values(nd::power(a, 2), {1, 4, 9}));
  EXPECT(has_values(nd::absolute(-a), {1, 2, 3}));
  EXPECT(double(nd::dot(a, b)) == 32);
  EXPECT(nd::matmul(nd::ones({2, 3}), nd::ones({3, 4})).shape() == nd::Shape{2, 4});
  EXPECT(nd::outer(a, b).shape() == nd::Shape{3, 3});
  EXPECT(nd::tensordot(nd::ones({2, 3}), nd::ones({3, 4}), 1).shape() == nd::Shape{2, 4});
  Array c = a.copy();
  c += b;
  c *= 2;
  EXPECT(has_values(c, {10, 14, 18}));
  c.fill(1);
  EXPECT(double(c.sum()) == 3);
  EXPECT((a.astype(nd::float32) * 2.5).dtype() == nd::float32);
  EXPECT((nd::array({1}, nd::int8) + 1).dtype() == nd::int8);
  EXPECT(has_values(nd::round(nd::array({1.234, 5.678}), 1), {1.2, 5.7}));
}

void reductions() {
  const Array a = nd::arange(6).reshape(2, 3);
  EXPECT(has_values(a.sum(0), {3, 5, 7}));
  EXPECT(has_values(nd::sum(a, 1), {3, 12}));
  EXPECT(double(nd::mean(a)) == 2.5);
  EXPECT(has_values(a.mean(1, {.keepdims = true}), {1, 4}));
  EXPECT(double(a.sum({0, 1})) == 15);
  EXPECT(has_values(a.max(0), {3, 4, 5}));
  EXPECT(has_values(nd::argmax(a, 1), {2, 2}));
  EXPECT(double(nd::std(nd::array({1, 3}))) == 1);
  EXPECT(has_values(nd::cumsum(a, 1), {0, 1, 3, 3, 7, 12}));
  EXPECT(bool(nd::all(a >= 0)) && bool((a > 4).any()));
  EXPECT(has_values(nd::sort(nd::array({3, 1, 2})), {1, 2, 3}));
  EXPECT(has_values(nd::argsort(nd::array({3, 1, 2})), {1, 2, 0}));
  EXPECT(nd::count_nonzero(a) == 5);
  EXPECT(double(a.astype(nd::float32).var()) > 2.9);
}

void shapes() {
  const Array a = nd::arange(6);
  EXPECT(a.reshape({2, 3}).shape() == nd::Shape{2, 3});
  EXPECT(a.reshape(2, -1).shape(1) == 3);
  EXPECT(a.reshape(2, 3).transpose(1, 0).shape() == nd::Shape{3, 2});
  EXPECT(nd::transpose(a.reshape(1, 2, 3), {2, 0, 1}).shape() == nd::Shape{3, 1, 2});
  EXPECT(nd::concatenate({a, a}).size() == 12);
  EXPECT(nd::stack({a, a}).shape() == nd::Shape{2, 6});
  EXPECT(nd::vstack({a, a}).shape() == nd::Shape{2, 6});
  EXPECT(nd::hstack({a, a}).size() == 12);
  EXPECT(nd::split(a, 3).size() == 3u);
  EXPECT(nd::expand_dims(a, 0).shape() == nd::Shape{1, 6});
  EXPECT(nd::squeeze(nd::ones({1, 2})).ndim() == 1);
  EXPECT(nd::broadcast_to(a, {2, 6}).shape(0) == 2);
  EXPECT(has_values(nd::tile(nd::array({1, 2}), 2), {1, 2, 1, 2}));
  EXPECT(has_values(nd::repeat(nd::array({1, 2}), 2), {1, 1, 2, 2}));
  EXPECT(has_values(nd::flip(nd::array({1, 2}), 0), {2, 1}));
  EXPECT(has_values(nd::roll(nd::array({1, 2, 3}), 1), {3, 1, 2}));
  EXPECT(a.ravel().ndim() == 1 && a.reshape(2, 3).flatten().size() == 6);
}

void random_numbers() {
  nd::random::seed(3);
  EXPECT(nd::random::uniform({3}).size() == 3);
  EXPECT(nd::random::uniform(-1, 1, {2, 2}).shape() == nd::Shape{2, 2});
  EXPECT(nd::random::normal(0, 1, {5, 6}).size() == 30);
  EXPECT(nd::random::rand(2, 3).shape() == nd::Shape{2, 3});
  EXPECT(nd::random::randn(2).size() == 2);
  EXPECT(double(nd::random::randint(0, 10, {100}).max()) < 10);
  EXPECT(nd::random::permutation(5).size() == 5);
}

void user_kernels() {
  nd::ElementwiseKernel squared_difference("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference");
  EXPECT(has_values(squared_difference(nd::array({3., 5.}), 1.), {4, 16}));
  nd::ElementwiseKernel divide("T x, T y", "T q, T r", "q = x / y; r = x % y", "divide");
  auto [q, r] = divide(nd::array({7, 9}), nd::array({2, 4}));
  EXPECT(has_values(q, {3, 2}) && has_values(r, {1, 1}));
  nd::ReductionKernel l2("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2");
  EXPECT(double(l2(nd::array({3., 4.}))) == 5);
  const auto relu_sum = nd::fuse([](auto x) { return nd::maximum(x, 0) + 1; });
  EXPECT(has_values(relu_sum(nd::array({-1., 2.})), {1, 3}));
}

void mistakes() {
  RAISES("shapes", nd::ones({2}) + nd::ones({3}));
  RAISES("(2,)", nd::ones({2}) + nd::ones({3}));
  RAISES("reshape", nd::ones({2}).reshape({3}));
  RAISES("null", Array().sum());
  RAISES("axis", nd::ones({2}).sum(4));
}

}  // namespace

int main() {
  creation();
  numbers_out();
  keys();
  calculation();
  reductions();
  shapes();
  random_numbers();
  user_kernels();
  mistakes();
  return failures;
}
