// Row-wise kernels on the CPU backend: softmax over any axes in any layout against a double-precision formula, the same
// bits for a view and its copy, for one thread and two.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/device/executor.h>
#include <catena/tests/support/strided.h>

namespace {

using namespace catena;
using test::Layout;
using test::Strided;

int loop_of(const KernelDef& def, Dtype t) {
  for (int i = 0; i < def.num_loops; ++i)
    if (def.loop_table[i].type[0] == t) return i;
  return -1;
}

void softmax(Dtype t, Strided& x, Strided& y, const Dims& axes) {
  const KernelDef& def = find_kernel("softmax");
  const BoundOperand o[] = {x.operand(), y.operand()};
  nd::executor(Device::Kind::cpu).execute(catena::bound::RowWise{&def, loop_of(def, t), x.shape, axes, o}, {});
}

std::vector<Dims> subsets(int rank) {
  std::vector<Dims> all;
  for (int mask = 1; mask < (1 << rank); ++mask) {
    Dims d;
    for (int a = 0; a < rank; ++a)
      if (mask >> a & 1) d.push_back(a);
    all.push_back(d);
  }
  return all;
}

// Which row an element belongs to.
std::int64_t row_of(Shape i, const Shape& shape, const Dims& axes) {
  for (std::int64_t a : axes) i[int(a)] = 0;
  std::int64_t at = 0;
  for (int k = 0; k < i.size(); ++k) at = at * shape[k] + i[k];
  return at;
}

const std::vector<Shape> kShapes = {{1},       {9},       {0, 3},    {5, 7},       {3, 20, 19}, {2, 10, 3, 5},
                                    {40, 100}, {3, 5000}, {5000, 3}, {2, 17, 400}, {6, 4097}};

BOOST_AUTO_TEST_SUITE(cpu_rows)

BOOST_AUTO_TEST_CASE(softmax_over_any_axes) {
  std::mt19937 rng(1);
  for (Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64})
    for (const Shape& shape : kShapes)
      for (const Dims& axes : subsets(shape.size())) {
        Strided x(t, shape), y(t, shape);
        x.fill(rng, 0.0231, 90);
        softmax(t, x, y, axes);
        std::map<std::int64_t, double> max, sum;
        Strided::for_each(shape, [&](const Shape& i) {
          auto [at, fresh] = max.emplace(row_of(i, shape, axes), x.get(i));
          if (!fresh) at->second = std::max(at->second, x.get(i));
        });
        Strided::for_each(shape, [&](const Shape& i) {
          sum[row_of(i, shape, axes)] += std::exp(x.get(i) - max[row_of(i, shape, axes)]);
        });
        double worst = 0;
        const double tolerance = t == Dtype::float64   ? 1e-13
                                 : t == Dtype::float32 ? 2e-6
                                 : t == Dtype::float16 ? 1e-3
                                                       : 8e-3;
        Strided::for_each(shape, [&](const Shape& i) {
          const std::int64_t row = row_of(i, shape, axes);
          const double expected = std::exp(x.get(i) - max[row]) / sum[row];
          worst = std::max(worst, std::fabs(y.get(i) - expected) / std::max(expected, 1e-4));
        });
        BOOST_TEST(worst <= tolerance, t << ' ' << shape << " over " << axes << ": " << worst);
        for (Layout l : {Layout::f_order, Layout::negative, Layout::gaps}) {
          Strided view(t, shape, l), z(t, shape, l);
          Strided::for_each(shape, [&](const Shape& i) { std::memcpy(view.at(i), x.at(i), itemsize(t)); });
          softmax(t, view, z, axes);
          BOOST_TEST(y.same_bits(z), t << ' ' << shape << " over " << axes << ' ' << name_of(l));
          softmax(t, view, view, axes);
          BOOST_TEST(y.same_bits(view), "in place: " << t << ' ' << shape << " over " << axes << ' ' << name_of(l));
        }
        softmax(t, x, x, axes);
        BOOST_TEST(y.same_bits(x), "in place: " << t << ' ' << shape << " over " << axes);
      }
}

BOOST_AUTO_TEST_CASE(memory_of_other_dtypes) {
  std::mt19937 rng(2);
  for (Dtype from : test::all_dtypes())
    for (Dtype to : {Dtype::float16, Dtype::float32, Dtype::float64, Dtype::bfloat16})
      for (const Dims& axes : {Dims{1}, Dims{0}, Dims{0, 1}}) {
        const Shape shape{30, 50};
        Strided x(from, shape, Layout::f_order), y(to, shape, Layout::gaps), converted(Dtype::float32, shape),
            expected(Dtype::float32, shape);
        x.fill(rng, 1.0, 6);
        Strided::for_each(shape, [&](const Shape& i) { converted.set(i, x.get(i)); });
        softmax(Dtype::float32, x, y, axes);
        softmax(Dtype::float32, converted, expected, axes);
        bool good = true;
        Strided::for_each(shape,
                          [&](const Shape& i) { good = good && y.get(i) == test::rounded(to, expected.get(i)); });
        BOOST_TEST(good, from << ' ' << to << ' ' << axes);
      }
}

// Inputs that are one per row, and outputs of one element per row, whatever their dtype.
BOOST_AUTO_TEST_CASE(batch_normalization_statistics) {
  std::mt19937 rng(3);
  const KernelDef& def = find_kernel("batch_norm_fwd");
  for (Dtype t : {Dtype::float16, Dtype::float32, Dtype::float64})
    for (const Shape& shape : {Shape{4, 6, 5, 3}, Shape{50, 6, 10, 10}, Shape{300, 6, 1, 1}})
      for (Layout l : {Layout::c_order, Layout::f_order}) {
        const Dims axes{0, 2, 3};
        Strided x(t, shape, l), gamma(t, {1, 6, 1, 1}), beta(t, {1, 6, 1, 1}), y(t, shape, l);
        const Loop& loop = def.loop_table[loop_of(def, t)];
        x.fill(rng, 0.0371, 90);
        gamma.fill(rng);
        beta.fill(rng);
        ScalarCell eps(Scalar(1e-5), loop.type[3]);
        const Strides zero = Strides::filled(4, 0);
        std::vector<Strided> rows;
        for (int k = 0; k < 3; ++k) rows.emplace_back(loop.type[std::size_t(5 + k)], Shape{6});
        std::vector<Strides> per_row;
        for (int k = 0; k < 3; ++k) per_row.push_back({0, std::int64_t(itemsize(rows[std::size_t(k)].dtype)), 0, 0});
        const Strides of_gamma{0, std::int64_t(itemsize(t)), 0, 0};
        std::vector<BoundOperand> o = {
            x.operand(), gamma.operand(), beta.operand(), {eps.bytes, loop.type[3], true, &shape, &zero}, y.operand()};
        o[1].strides = o[2].strides = &of_gamma;
        for (int k = 0; k < 3; ++k) {
          o.push_back(rows[std::size_t(k)].operand());
          o.back().strides = &per_row[std::size_t(k)];
        }
        nd::executor(Device::Kind::cpu).execute(catena::bound::RowWise{&def, loop_of(def, t), shape, axes, o}, {});
        const double count = double(size_of(shape)) / 6;
        for (std::int64_t c = 0; c < 6; ++c) {
          double sum = 0, squares = 0, worst = 0;
          Strided::for_each(shape, [&](const Shape& i) { sum += i[1] == c ? x.get(i) : 0; });
          const double mean = sum / count;
          Strided::for_each(shape,
                            [&](const Shape& i) { squares += i[1] == c ? (x.get(i) - mean) * (x.get(i) - mean) : 0; });
          const double scale = 1 / std::sqrt(squares / count + 1e-5);
          Strided::for_each(shape, [&](const Shape& i) {
            if (i[1] == c)
              worst = std::max(worst, std::fabs(y.get(i) - ((x.get(i) - mean) * scale * gamma.get({0, c, 0, 0}) +
                                                            beta.get({0, c, 0, 0}))));
          });
          BOOST_TEST(worst <= (t == Dtype::float64   ? 1e-11
                               : t == Dtype::float32 ? 2e-4
                                                     : 0.1),
                     t << ' ' << shape << ' ' << worst);
          BOOST_TEST(std::fabs(rows[0].get({c}) - mean) <= 1e-3);
        }
      }
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_changes_nothing) {
  std::mt19937 rng(4);
  const int before = max_threads();
  for (Dtype t : {Dtype::float16, Dtype::float32})
    for (const Dims& axes : subsets(3)) {
      Strided x(t, {30, 70, 90}), one(t, x.shape), two(t, x.shape);
      x.fill(rng, 0.0231, 90);
      set_max_threads(1);
      softmax(t, x, one, axes);
      set_max_threads(2);
      softmax(t, x, two, axes);
      BOOST_TEST(one.same_bits(two), t << ' ' << axes);
    }
  set_max_threads(before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
