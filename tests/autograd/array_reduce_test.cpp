// Reductions and row-wise kernels through the value API.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/array.h>
#include <catena/kernels/registry/families.h>
#include <catena/tests/support/turns.h>

using namespace autograd;
using catena::TypeError;
using catena::ValueError;

namespace {

template <class T> void check_values(const Array& a, const std::vector<T>& expected) {
  const std::vector<T> got = to_vector<T>(a);
  BOOST_TEST(got == expected, boost::test_tools::per_element());
}
Array numbers(const Shape& shape) { return reshape(arrays::arange(catena::size_of(shape), Dtype::float32), shape); }

}  // namespace

BOOST_AUTO_TEST_SUITE(array_reduce)

BOOST_AUTO_TEST_CASE(axes) {
  const Array a = numbers({2, 3, 4});
  BOOST_TEST(item(sum(a)).to_double() == 276);
  check_values<float>(sum(a, 0), {12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34});
  check_values<float>(sum(a, {0, 2}), {60, 92, 124});
  check_values<float>(sum(a, {-1, 0}), {60, 92, 124});
  BOOST_TEST(sum(a, {0, 2}, true).shape() == Shape({1, 3, 1}));
  BOOST_TEST(sum(a, Axes(), true).shape() == Shape({1, 1, 1}));
  check_values<float>(sum(a, Dims{}), to_vector<float>(a));  // over no axis
  check_values<float>(mean(a, {1, 2}), {5.5, 17.5});
  check_values<float>(amax(a, 2), {3, 7, 11, 15, 19, 23});
  check_values<float>(amin(a, {0, 1}), {0, 1, 2, 3});
  check_values<float>(sum(transpose(a), 0), to_vector<float>(transpose(sum(a, 2))));
  check_values<float>(sum(slice(a, 2, 3, -5, -2), 2), {4, 12, 20, 28, 36, 44});
  check_values<std::int64_t>(reduce(catena::kernels::argmax, a, 1), {2, 2, 2, 2, 2, 2, 2, 2});
  BOOST_CHECK_THROW(sum(a, 3), ValueError);
  BOOST_CHECK_THROW(sum(a, {0, 0}), ValueError);
}

BOOST_AUTO_TEST_CASE(dtypes) {
  BOOST_TEST((sum(arrays::ones({3}, Dtype::int8)).dtype() == Dtype::int64));
  BOOST_TEST((sum(arrays::ones({3}, Dtype::uint16)).dtype() == Dtype::uint64));
  BOOST_TEST((sum(arrays::ones({3}, Dtype::float16)).dtype() == Dtype::float16));
  // dtype chooses the loop, and never one that would lose the input: "?->l" comes before "i->l"
  const Array counted = reduce(catena::kernels::sum, array<int>({5, 6}, {2}), {}, false, Dtype::int64);
  BOOST_TEST(item(counted).to<int>() == 11);
  BOOST_TEST(item(reduce(catena::kernels::sum, array<int>({5, 6}, {2}), {}, false, Dtype::float64)).to_double() == 11);
  BOOST_TEST((mean(array<int>({1, 2}, {2})).dtype() == Dtype::float64));
  // float16 sums accumulate in float32 and round once
  BOOST_TEST(item(sum(arrays::full({4096}, 1, Dtype::float16))).to_double() == 4096);
  BOOST_CHECK_THROW(reduce(catena::kernels::add, arrays::ones({2})), TypeError);
  BOOST_CHECK_THROW(reduce(catena::kernels::sum, Array()), ValueError);
}

BOOST_AUTO_TEST_CASE(empty_and_single) {
  BOOST_TEST(item(sum(arrays::empty({0}))).to_double() == 0);
  check_values<float>(sum(arrays::empty({0, 2}), 0), {0, 0});
  BOOST_TEST(sum(arrays::empty({0, 2}), 1).shape() == Shape({0}));
  BOOST_TEST(amax(arrays::empty({0, 2}), 1).shape() == Shape({0}));
  BOOST_CHECK_EXCEPTION(amax(arrays::empty({0, 2}), 0), ValueError, [](const ValueError& e) {
    return std::string(e.what()).find("amax: an array of shape (0, 2) has no elements along axis 0") == 0;
  });
  BOOST_TEST(item(sum(arrays::full({}, 3))).to_double() == 3);
  BOOST_TEST(item(amax(arrays::full({1, 1}, 3))).to_double() == 3);
}

BOOST_AUTO_TEST_CASE(reductions_of_what_an_elementwise_row_gives) {
  const Array a = numbers({3, 4}), b = array<float>({2, -1, 0, 3}, {4});
  check_values<float>(map_reduce(catena::kernels::sum, catena::kernels::multiply, {a, b}, 0), {24, -15, 0, 63});
  check_values<float>(map_reduce(catena::kernels::sum, catena::kernels::multiply, {transpose(a), 2}, 0, true),
                      {12, 44, 76});
  check_values<float>(map_reduce(catena::kernels::amax, catena::kernels::squared_difference, {a, b}), {100});
  BOOST_TEST(map_reduce(catena::kernels::sum, catena::kernels::multiply, {transpose(a), 2}, 0, true).shape() ==
             Shape({1, 3}));
  const Array half = map_reduce(catena::kernels::sum, catena::kernels::multiply, {astype(a, Dtype::float16), 2}, 1);
  BOOST_TEST((half.dtype() == Dtype::float16));
  check_values<float>(astype(half, Dtype::float32), {12, 44, 76});
  check_values<float>(map_reduce(catena::kernels::sum, catena::kernels::multiply, {arrays::empty({0, 2}), 2}, 0),
                      {0, 0});
  BOOST_CHECK_THROW(map_reduce(catena::kernels::amax, catena::kernels::multiply, {arrays::empty({0, 2}), 2}, 0),
                    ValueError);
  BOOST_CHECK_THROW(map_reduce(catena::kernels::sum, catena::kernels::multiply, {a, arrays::ones({5})}, 0), ValueError);
  BOOST_CHECK_THROW(map_reduce(catena::kernels::sum, catena::kernels::multiply, {a, b}, 2), ValueError);
  BOOST_CHECK_THROW(map_reduce(catena::kernels::multiply, catena::kernels::multiply, {a, b}, 0), TypeError);
  BOOST_CHECK_THROW(map_reduce(catena::kernels::sum, catena::kernels::sum, {a}, 0), TypeError);
}

BOOST_AUTO_TEST_CASE(rows_give_elements_and_statistics) {
  const Array x = reshape(array<float>({0, 1, 2, 3, 4, 1000}, {6}), {2, 3});
  const Operand in[] = {x};
  const Arrays y = row_wise(catena::kernels::softmax, in, 1);
  const std::vector<float> p = to_vector<float>(y[0]);
  for (int r = 0; r < 2; ++r)
    BOOST_TEST(p[std::size_t(3 * r)] + p[std::size_t(3 * r + 1)] + p[std::size_t(3 * r + 2)] == 1,
               boost::test_tools::tolerance(1e-6f));
  BOOST_TEST(p[1] == std::exp(-1.f) * p[2], boost::test_tools::tolerance(1e-6f));
  BOOST_TEST(p[5] == 1);
  const Array columns = row_wise(catena::kernels::softmax, {{transpose(x)}}, 0)[0];
  const std::vector<float> same = to_vector<float>(transpose(columns));
  for (std::size_t i = 0; i < 6; ++i) BOOST_TEST(std::abs(same[i] - p[i]) <= 1e-6f);
  const Operand bn[] = {x, arrays::full({1, 3}, 2), arrays::full({1, 3}, 1), 0.0};
  const Arrays s = row_wise(catena::kernels::batch_norm_fwd, bn, 0);
  BOOST_TEST(s.size() == 4u);
  BOOST_TEST(s[1].shape() == Shape({1, 3}));
  check_values<float>(s[1], {1.5, 2.5, 501});
  check_values<float>(slice(s[0], 1, 0, 2), {-1, -1, 3, 3});
  BOOST_TEST(row_wise(catena::kernels::softmax, {{arrays::empty({0, 3})}}, 1)[0].shape() == Shape({0, 3}));
  BOOST_TEST(row_wise(catena::kernels::softmax, {{arrays::empty({3, 0})}}, 1)[0].shape() == Shape({3, 0}));
  BOOST_CHECK_THROW(row_wise(catena::kernels::softmax, in, 2), ValueError);
}

// Small integers, so that every sum is exact in any order.
BOOST_AUTO_TEST_CASE(rows_with_sums_over_the_other_axes) {
  struct Case {
    Shape shape;
    Dims axes;
  };
  // In the first four several blocks of rows are computed apart.
  const Case cases[] = {{{1100, 600}, {1}}, {{3, 500, 400}, {2}}, {{300, 9, 250}, {0}}, {{40, 50, 16, 20}, {1, 3}},
                        {{4, 7}, {1}},      {{6, 5}, {0, 1}},     {{5, 1}, {1}},        {{0, 3}, {1}}};
  // The software device takes one dtype of each layout: the shape decides how rows are shared, the dtype only the loop.
  int turn = 0;
  for (const Case& c : cases) {
    ++turn;
    for (const Dtype t : {Dtype::float32, Dtype::float16, Dtype::float64}) {
      ++turn;
      for (const bool turned : {false, true}) BOOST_TEST_CONTEXT(c.shape << ' ' << t << ' ' << turned) {
          if (!test::in_turn(turn + int(turned), 3)) continue;
          const std::int64_t n = catena::size_of(c.shape);
          std::vector<double> values(static_cast<std::size_t>(n));
          for (std::int64_t i = 0; i < n; ++i) values[std::size_t(i)] = double((i * i / 7 + i) % 5 - 2);
          Array x = astype(array(values, c.shape), t);
          if (turned) x = transpose(copy(transpose(x)));
          const Shape kept = catena::reduced_shape(c.shape, c.axes, true);
          Dims others;
          for (int a = 0; a < c.shape.size(); ++a)
            if (std::find(c.axes.begin(), c.axes.end(), a) == c.axes.end()) others.push_back(a);
          std::vector<double> factors(static_cast<std::size_t>(catena::size_of(kept)));
          for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = double(i % 3) - 1;
          const Array factor = astype(array(factors, kept), t);

          const Operand in[] = {x}, product[] = {x, factor};
          const SumOverRows sums[] = {{&catena::kernels::multiply, product}, {nullptr, in}};
          const Arrays got = row_wise_and_sums(catena::kernels::softmax, in, c.axes, sums);
          BOOST_REQUIRE(got.size() == 3u);
          const Array expected = row_wise(catena::kernels::softmax, in, c.axes)[0];
          BOOST_TEST((to_vector<double>(got[0]) == to_vector<double>(expected)));

          const Shape left = catena::reduced_shape(c.shape, others, true);
          std::vector<double> plain(std::size_t(catena::size_of(left))), weighted(plain.size());
          for (std::int64_t i = 0; i < n; ++i) {
            std::int64_t rest = i, at = 0, row = 0, step = 1, row_step = 1;
            for (int a = c.shape.size() - 1; a >= 0; --a) {
              const std::int64_t index = rest % c.shape[a];
              rest /= c.shape[a];
              if (left[a] > 1) at += index * step;
              if (kept[a] > 1) row += index * row_step;
              step *= left[a];
              row_step *= kept[a];
            }
            plain[std::size_t(at)] += values[std::size_t(i)];
            weighted[std::size_t(at)] += values[std::size_t(i)] * factors[std::size_t(row)];
          }
          BOOST_TEST(got[1].shape() == left);
          BOOST_TEST((got[1].dtype() == t && got[2].dtype() == t));
          BOOST_TEST((to_vector<double>(got[1]) == weighted));
          BOOST_TEST((to_vector<double>(got[2]) == plain));
        }
    }
  }
  const Array x = numbers({2, 3});
  const Operand in[] = {x}, other[] = {arrays::ones({3, 3})};
  const SumOverRows wrong[] = {{nullptr, other}}, kind[] = {{&catena::kernels::sum, in}};
  BOOST_CHECK_THROW(row_wise_and_sums(catena::kernels::softmax, in, 1, wrong), ValueError);
  BOOST_CHECK_THROW(row_wise_and_sums(catena::kernels::softmax, in, 1, kind), TypeError);
  // Two outputs, two operands without a row, no array.
  const Operand pair[] = {x, x}, number[] = {1.0};
  for (const SumOverRows& s :
       {SumOverRows{&catena::kernels::divmod, pair}, SumOverRows{nullptr, pair}, SumOverRows{nullptr, number}})
    BOOST_CHECK_THROW(row_wise_and_sums(catena::kernels::softmax, in, 1, {&s, 1}), TypeError);
}

// The gradient of layer normalization by x, with the sums that are those by gamma and beta.
struct LayerNormGradient {
  LayerNormGradient(const Shape& shape, Dtype t, bool turned) {
    std::vector<double> a, b, c;
    for (std::int64_t i = 0; i < catena::size_of(shape); ++i) {
      a.push_back(double(i * 37 % 101) / 16 - 3);
      b.push_back(double(i * 53 % 97) / 32 - 1);
    }
    for (std::int64_t i = 0; i < shape[1]; ++i) c.push_back(double(i % 7) / 4 + 0.5);
    const auto placed = [&](const Array& values) {
      const Array v = astype(values, t);
      return turned ? transpose(copy(transpose(v))) : v;
    };
    x = placed(array(a, shape)), gy = placed(array(b, shape)), gamma = astype(array(c, {1, shape[1]}), t);
    origin = slice(x, 1, 0, 1);
    const Operand in[] = {x, origin, gamma, gamma, 0.0, 1e-3};
    const Arrays y = row_wise(catena::kernels::layer_norm_fwd, in, 1);
    center = y[1], scale = y[2];
  }
  std::vector<Operand> operands() const { return {x, gy, origin, gamma, center, scale, 1e-3}; }
  std::vector<Operand> of_gamma() const { return {x, gy, origin, center, scale}; }
  // The sums, added up in double from the operands as they are, and the sums of their absolute values.
  void expect(std::vector<double>& ggamma, std::vector<double>& gbeta, std::vector<double>& sizes) const {
    const std::int64_t columns = x.shape()[1];
    const auto vx = to_vector<double>(x), vg = to_vector<double>(gy), vo = to_vector<double>(origin),
               vc = to_vector<double>(center), vs = to_vector<double>(scale);
    ggamma.assign(std::size_t(columns), 0), gbeta = sizes = ggamma;
    for (std::size_t i = 0; i < vx.size(); ++i) {
      const std::size_t row = i / std::size_t(columns), column = i % std::size_t(columns);
      const double share = vg[i] * ((vx[i] - vo[row] - vc[row]) * vs[row]);
      ggamma[column] += share;
      gbeta[column] += vg[i];
      sizes[column] += std::abs(share) + std::abs(vg[i]);
    }
  }

  Array x, gy, gamma, origin, center, scale;
};

std::vector<double> column_sums(const Array& x, bool absolute) {
  const std::vector<double> values = to_vector<double>(x);
  std::vector<double> sums(std::size_t(x.shape()[1]));
  for (std::size_t i = 0; i < values.size(); ++i) sums[i % sums.size()] += absolute ? std::abs(values[i]) : values[i];
  return sums;
}

void check_sums(const Array& got, const std::vector<double>& expected, const std::vector<double>& sizes,
                double tolerance) {
  const std::vector<double> values = to_vector<double>(got);
  BOOST_REQUIRE(values.size() == expected.size());
  for (std::size_t j = 0; j < expected.size(); ++j)
    BOOST_REQUIRE_MESSAGE(std::abs(values[j] - expected[j]) <= tolerance * sizes[j],
                          "column " << j << ": " << values[j] << ", expected " << expected[j]);
}

// Rows on both sides of the length up to which they are computed side by side, whole and partial vectors of rows and of
// elements, one block of rows and several.
BOOST_AUTO_TEST_CASE(sums_that_a_row_kernel_adds_up_itself) {
  const Shape shapes[] = {{1, 1},    {1, 5},   {5, 1},     {3, 97},    {37, 16},
                          {300, 64}, {70, 96}, {10007, 3}, {700, 130}, {40, 5003}};
  int number = 0;  // the software device takes one dtype of each shape
  for (const Shape& shape : shapes) {
    ++number;
    for (const Dtype t : {Dtype::float32, Dtype::float64, Dtype::float16}) {
      if (!test::in_turn(++number, 3)) continue;
      std::vector<double> bits[2];
      for (const bool turned : {false, true}) BOOST_TEST_CONTEXT(shape << ' ' << t << ' ' << turned) {
          const LayerNormGradient g(shape, t, turned);
          std::vector<double> ggamma, gbeta, sizes;
          g.expect(ggamma, gbeta, sizes);
          const std::vector<Operand> operands = g.operands(), of_gamma = g.of_gamma(), gy{g.gy}, x{g.x};
          const SumOverRows gamma{&catena::kernels::layer_norm_ggamma, of_gamma}, beta{nullptr, gy}, other{nullptr, x};
          const SumOverRows known[] = {gamma, beta}, swapped[] = {beta, gamma}, unknown[] = {gamma, other};
          const Arrays got = row_wise_and_sums(catena::kernels::layer_norm_bwd, operands, 1, known);
          const std::vector<double> gx = to_vector<double>(row_wise(catena::kernels::layer_norm_bwd, operands, 1)[0]);
          BOOST_TEST((to_vector<double>(got[0]) == gx));
          const double tolerance = t == Dtype::float64 ? 1e-14 : 1e-6;
          check_sums(got[1], ggamma, sizes, tolerance);
          check_sums(got[2], gbeta, sizes, t == Dtype::float16 ? 1e-3 : tolerance);
          bits[turned] = to_vector<double>(got[1]);

          const Arrays second = row_wise_and_sums(catena::kernels::layer_norm_bwd, operands, 1, swapped);
          check_sums(second[1], gbeta, sizes, t == Dtype::float16 ? 1e-3 : tolerance);
          check_sums(second[2], ggamma, sizes, tolerance);
          const Arrays third = row_wise_and_sums(catena::kernels::layer_norm_bwd, operands, 1, unknown);
          check_sums(third[2], column_sums(g.x, false), column_sums(g.x, true), t == Dtype::float16 ? 1e-3 : 1e-6);
          check_sums(third[1], ggamma, sizes, tolerance);
        }
      // The CPU's order of addition depends on the shape alone; a GPU's, in the passes of their own, also on the
      // layout.
      if (arrays::empty({1}).device().kind == Device::Kind::cpu) BOOST_TEST((bits[0] == bits[1]));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
