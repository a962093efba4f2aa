// PyTorch's copies of parts, reductions of segments, norms and truncated decompositions.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/torch_copies.h>
#include <catena/autograd/operators.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using Doubles = std::vector<double>;

namespace {

Doubles of(const Variable& v) { return to_vector<double>(astype(v.data(), Dtype::float64)); }
void check(const Variable& v, const Shape& shape, const Doubles& expected) {
  BOOST_TEST(v.shape() == shape);
  const Doubles values = of(v);
  BOOST_REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isinf(expected[i])) BOOST_TEST(values[i] == expected[i]);
    else BOOST_TEST(values[i] == expected[i], boost::test_tools::tolerance(1e-12));
  }
}
// 0, 1, .. in the shape
Variable counted(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t length : shape) n *= length;
  return Variable(reshape(astype(arrays::arange(n), Dtype::float64), shape));
}
Variable integers(const std::vector<std::int64_t>& v) {
  return Variable(array(v, {std::int64_t(v.size())}), {.requires_grad = false});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_copies)

BOOST_AUTO_TEST_CASE(copies) {
  const Variable x = counted({2, 3});
  check(alias_copy(x), {2, 3}, {0, 1, 2, 3, 4, 5});
  BOOST_TEST(!detach_copy(x).requires_grad());
  check(view_copy(x, {3, 2}), {3, 2}, {0, 1, 2, 3, 4, 5});
  check(expand_copy(counted({1, 2}), {2, 2}), {2, 2}, {0, 1, 0, 1});
  check(permute_copy(x, {1, 0}), {3, 2}, {0, 3, 1, 4, 2, 5});
  check(transpose_copy(x, 0, 1), {3, 2}, {0, 3, 1, 4, 2, 5});
  check(t_copy(x), {3, 2}, {0, 3, 1, 4, 2, 5});
  check(squeeze_copy(counted({1, 2})), {2}, {0, 1});
  check(unsqueeze_copy(counted({2}), 0), {1, 2}, {0, 1});
  check(select_copy(x, 1, 2), {2}, {2, 5});
  check(slice_copy(x, 1, 0, 3, 2), {2, 2}, {0, 2, 3, 5});
  check(diagonal_copy(x), {2}, {0, 4});
  check(unfold_copy(counted({4}), 0, 2, 2), {2, 2}, {0, 1, 2, 3});
  check(as_strided_copy(x, {2, 2}, {1, 2}, 1), {2, 2}, {1, 3, 2, 4});
  check(unbind_copy(x)[1], {3}, {3, 4, 5});
  check(split_copy(x, 2, 1)[1], {2, 1}, {2, 5});
  check(split_with_sizes(x, {1, 2}, 1)[1], {2, 2}, {1, 2, 4, 5});
  check(split_with_sizes_copy(x, {1, 2}, 1)[0], {2, 1}, {0, 3});
  test::check_derivatives("copies",
                          [](const Variables& v) {
                            return Variables{permute_copy(v[0], {1, 0}), select_copy(v[0], 1, 2)};
                          },
                          {test::spread({2, 3})});
}

// The values are those of PyTorch.
BOOST_AUTO_TEST_CASE(segments) {
  const double inf = std::numeric_limits<double>::infinity();
  const Variable x = counted({4}) + 1, lengths = integers({2, 0, 2});
  check(segment_reduce(x, "sum", {.lengths = lengths}), {3}, {3, 0, 7});
  check(segment_reduce(x, "max", {.lengths = lengths}), {3}, {2, -inf, 4});
  check(segment_reduce(x, "min", {.lengths = lengths}), {3}, {1, inf, 3});
  check(segment_reduce(x, "prod", {.lengths = lengths}), {3}, {2, 1, 12});
  check(segment_reduce(x, "sum", {.offsets = integers({0, 2, 2, 4})}), {3}, {3, 0, 7});
  const Doubles means = of(segment_reduce(x, "mean", {.lengths = lengths}));
  BOOST_TEST(means[0] == 1.5);
  BOOST_TEST(std::isnan(means[1]));
  check(segment_reduce(x, "sum", {.lengths = lengths, .initial = 10}), {3}, {13, 10, 17});
  check(segment_reduce(x, "mean", {.lengths = lengths, .initial = 10}), {3}, {6.5, 10, 8.5});
  check(segment_reduce(x, "max", {.lengths = lengths, .initial = 10}), {3}, {10, 10, 10});
  check(segment_reduce(counted({2, 3}), "sum", {.lengths = integers({1, 2}), .axis = 1}), {2, 2}, {0, 3, 3, 9});
  test::check_derivatives("segment_reduce",
                          [&](const Variables& v) {
                            return Variables{segment_reduce(v[0], "sum", {.lengths = lengths}),
                                             segment_reduce(v[0], "mean", {.lengths = integers({1, 3})})};
                          },
                          {test::spread({4, 2})});
  BOOST_CHECK_THROW(segment_reduce(x, "median", {.lengths = lengths}), catena::ValueError);
  BOOST_CHECK_THROW(segment_reduce(x, "sum", {}), catena::ValueError);
  BOOST_CHECK_THROW(segment_reduce(integers({1, 2, 3, 4}), "mean", {.lengths = lengths}), catena::TypeError);
  BOOST_CHECK_THROW(segment_reduce(x, "sum", {.lengths = integers({1, 2})}), catena::ValueError);
  BOOST_CHECK_THROW(segment_reduce(x, "sum", {.lengths = integers({5, -1})}), catena::ValueError);
  BOOST_CHECK_THROW(segment_reduce(x, "sum", {.offsets = integers({1, 4})}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(scattered_integers) {
  const Variable x = integers({5, -7, 2}), at = integers({0, 1, 1, 0});
  const Variable means = scatter_reduce(x, 0, at, integers({4, 2, 3, 1}), "mean");
  BOOST_TEST((means.dtype() == Dtype::int64));
  check(means, {3}, {3, -1, 2});
  check(scatter_reduce(x, 0, at, integers({4, 2, 3, 2}), "mean", {.include_self = false}), {3}, {3, 2, 2});
  check(index_reduce(x, 0, integers({0, 1, 1}), integers({4, 2, 4}), "mean"), {3}, {4, -1, 2});
  check(scatter_reduce(x, 0, at, integers({4, 2, 3, 1}), "sum"), {3}, {10, -2, 2});
  check(scatter_reduce(x, 0, at, integers({4, 2, 3, 1}), "sum", {.include_self = false}), {3}, {5, 5, 2});
  check(scatter_reduce(x, 0, at, integers({4, 2, 3, 1}), "prod"), {3}, {20, -42, 2});
  check(scatter_reduce(x, 0, at, integers({4, 2, 3, 1}), "prod", {.include_self = false}), {3}, {4, 6, 2});
}

BOOST_AUTO_TEST_CASE(norms) {
  const Variable x = counted({2, 3});
  check(norm_except_dim(x, 2, 1), {1, 3}, {3, std::sqrt(17.0), std::sqrt(29.0)});
  check(norm_except_dim(x), {2, 1}, {std::sqrt(5.0), std::sqrt(50.0)});
  check(norm_except_dim(x, 1, -1), {}, {15});
  test::check_derivatives("norm_except_dim", [](const Variables& v) { return Variables{norm_except_dim(v[0], 2, 0)}; },
                          {test::spread({2, 3}, 1, 2)});
}

BOOST_AUTO_TEST_CASE(properties) {
  BOOST_TEST(is_same_size(counted({2, 3}), counted({2, 3})));
  BOOST_TEST(!is_same_size(counted({6}), counted({2, 3})));
  BOOST_TEST(is_signed(integers({1})));
  BOOST_TEST(is_signed(counted({1})));
  BOOST_TEST(!is_signed(cast(integers({1}), Dtype::bool_)));
  BOOST_TEST(!is_signed(cast(integers({1}), Dtype::uint8)));
  BOOST_TEST(!is_distributed(counted({1})));
}

BOOST_AUTO_TEST_SUITE_END()
