// Reductions on the CPU backend: any axes, any strides, every dtype against nested loops; the same bits for a view and
// its copy and for any number of threads.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/device/executor.h>
#include <catena/tests/support/strided.h>

namespace {

using namespace catena;
using test::Layout;
using test::rounded;
using test::Strided;

int loop_of(const KernelDef& def, Dtype in) {
  for (int i = 0; i < def.num_loops; ++i)
    if (def.loop_table[i].type[0] == in) return i;
  return -1;
}

// `out` has the rank of `in`, with length 1 along the reduced axes.
void reduce(const KernelDef& def, Dtype computed, Strided& in, const Dims& axes, Strided& out) {
  Strides strides = out.strides;
  for (std::int64_t a : axes) strides[int(a)] = 0;
  catena::bound::Reduce call;
  call.kernel = &def;
  call.loop = loop_of(def, computed);
  call.in = in.operand();
  call.out = out.operand();
  call.out.strides = &strides;
  call.axes = axes;
  nd::executor(Device::Kind::cpu).reduce(call, {});
}
void reduce(const KernelDef& def, Strided& in, const Dims& axes, Strided& out) { reduce(def, in.dtype, in, axes, out); }

Shape kept_shape(Shape shape, const Dims& axes) {
  for (std::int64_t a : axes) shape[int(a)] = 1;
  return shape;
}

std::vector<Dims> subsets(int rank) {
  std::vector<Dims> all;
  for (int mask = 0; mask < (1 << rank); ++mask) {
    Dims d;
    for (int a = 0; a < rank; ++a)
      if (mask >> a & 1) d.push_back(a);
    all.push_back(d);
  }
  return all;
}

const std::vector<Shape> kShapes = {{},         {1},          {5},    {0},       {3, 0, 2}, {7, 9},   {40, 33},
                                    {3, 20, 4}, {2, 3, 4, 5}, {6000}, {130, 50}, {4200, 3}, {3, 4200}};

BOOST_AUTO_TEST_SUITE(cpu_reduce)

BOOST_AUTO_TEST_CASE(sums_of_all_layouts_and_dtypes) {
  std::mt19937 rng(1);
  const KernelDef& sum = find_kernel("sum");
  for (Dtype t : test::all_dtypes())
    for (const Shape& shape : kShapes)
      for (const Dims& axes : subsets(shape.size()))
        for (Layout l : test::kLayouts) {
          const Dtype r = sum.loop_table[loop_of(sum, t)].type[1];
          Strided a(t, shape, l), out(r, kept_shape(shape, axes), l == Layout::zero ? Layout::c_order : l);
          a.fill(rng, is_floating(t) ? 0.25 : 1.0, 12);
          std::vector<double> expected(std::size_t(std::max<std::int64_t>(1, out.size())), 0.0);
          const Strides place = c_strides(out.shape, 1);
          const auto number = [&](const Shape& i) {
            std::int64_t at = 0;
            for (int k = 0; k < i.size(); ++k) at += (out.shape[k] == 1 ? 0 : i[k]) * place[k];
            return std::size_t(at);
          };
          Strided::for_each(shape, [&](const Shape& i) { expected[number(i)] += a.get(i); });
          reduce(sum, a, axes, out);
          bool good = true;
          Strided::for_each(out.shape,
                            [&](const Shape& i) { good = good && out.get(i) == rounded(r, expected[number(i)]); });
          BOOST_TEST(good, t << ' ' << shape << " over " << axes << ' ' << name_of(l));
        }
}

// Values whose sums round: the order matters, and must not depend on the layout.
BOOST_AUTO_TEST_CASE(a_view_gives_what_its_copy_gives) {
  std::mt19937 rng(2);
  for (const char* name : {"sum", "prod", "amax", "argmax"}) {
    const KernelDef& def = find_kernel(name);
    for (Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64})
      for (const Shape& shape : {Shape{100, 45}, Shape{5000, 9}, Shape{9, 5000}, Shape{12, 30, 25}, Shape{2, 70, 70},
                                 Shape{3, 7}, Shape{20, 3, 20}})
        for (const Dims& axes : subsets(shape.size())) {
          if (axes.empty()) continue;
          const Dtype r = def.loop_table[loop_of(def, t)].type[1];
          Strided a(t, shape), c(r, kept_shape(shape, axes));
          a.fill(rng, 0.0137, 90);
          reduce(def, a, axes, c);
          for (Layout l : {Layout::f_order, Layout::negative, Layout::gaps}) {
            Strided view(t, shape, l), d(r, c.shape, l);
            Strided::for_each(shape, [&](const Shape& i) { std::memcpy(view.at(i), a.at(i), itemsize(t)); });
            reduce(def, view, axes, d);
            BOOST_TEST(c.same_bits(d), name << ' ' << t << ' ' << shape << " over " << axes << ' ' << name_of(l));
          }
        }
  }
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_changes_nothing) {
  std::mt19937 rng(3);
  const KernelDef& sum = find_kernel("sum");
  const int before = max_threads();
  for (Dtype t : {Dtype::float16, Dtype::float32})
    for (const Shape& shape : {Shape{700, 300}, Shape{100000, 4}, Shape{4, 100000}, Shape{300000}, Shape{20, 100, 100},
                               Shape{60, 5003}, Shape{4200, 2100}, Shape{3, 90, 1500}})
      for (const Dims& axes : subsets(shape.size())) {
        if (axes.empty()) continue;
        Strided a(t, shape), one(t, kept_shape(shape, axes)), two = one, five = one;
        a.fill(rng, 0.0137, 90);
        set_max_threads(1);
        reduce(sum, a, axes, one);
        set_max_threads(2);
        reduce(sum, a, axes, two);
        set_max_threads(5);
        reduce(sum, a, axes, five);
        BOOST_TEST(one.same_bits(two), t << ' ' << shape << " over " << axes);
        BOOST_TEST(one.same_bits(five), t << ' ' << shape << " over " << axes);
      }
  set_max_threads(before);
}

BOOST_AUTO_TEST_CASE(converted_inputs_and_outputs) {
  std::mt19937 rng(4);
  const KernelDef& sum = find_kernel("sum");
  for (Dtype in : test::all_dtypes())
    for (Dtype out : test::all_dtypes())
      for (const Dims& axes : {Dims{0}, Dims{1}, Dims{0, 1}}) {
        Strided a(in, {40, 30}, Layout::f_order), c(out, kept_shape({40, 30}, axes));
        a.fill(rng, 1.0, 2);
        reduce(sum, Dtype::float64, a, axes, c);
        bool good = true;
        Strided::for_each(c.shape, [&](const Shape& i) {
          double s = 0;
          Strided::for_each({40, 30}, [&](const Shape& j) {
            if ((c.shape[0] == 1 || j[0] == i[0]) && (c.shape[1] == 1 || j[1] == i[1])) s += a.get(j);
          });
          good = good && c.get(i) == rounded(out, s);
        });
        BOOST_TEST(good, in << ' ' << out << ' ' << axes);
      }
}

BOOST_AUTO_TEST_CASE(argmax_numbers_elements_in_logical_order) {
  std::mt19937 rng(5);
  const KernelDef& argmax = find_kernel("argmax");
  for (Layout l : test::kWritableLayouts)
    for (const Shape& shape : {Shape{9, 5000}, Shape{5000, 9}, Shape{70, 80}, Shape{5, 6, 7}})
      for (const Dims& axes : subsets(shape.size())) {
        if (axes.empty()) continue;
        Strided a(Dtype::float32, shape, l), c(Dtype::int64, kept_shape(shape, axes));
        a.fill(rng, 1.0, 1000);
        reduce(argmax, a, axes, c);
        std::vector<double> best(std::size_t(c.size()), -1e9), where(std::size_t(c.size()), -1),
            count(std::size_t(c.size()), 0);
        const Strides place = c_strides(c.shape, 1);
        Strided::for_each(shape, [&](const Shape& i) {
          std::size_t at = 0;
          for (int k = 0; k < i.size(); ++k) at += std::size_t((c.shape[k] == 1 ? 0 : i[k]) * place[k]);
          if (a.get(i) > best[at]) {
            best[at] = a.get(i);
            where[at] = count[at];
          }
          ++count[at];
        });
        bool good = true;
        std::size_t k = 0;
        Strided::for_each(c.shape, [&](const Shape& i) { good = good && c.get(i) == where[k++]; });
        BOOST_TEST(good, shape << " over " << axes << ' ' << name_of(l));
      }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
