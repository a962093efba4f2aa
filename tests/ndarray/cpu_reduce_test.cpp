// Reductions on the CPU backend: any axes, any strides, every dtype against nested loops; the same bits for a view and
// its copy and for any number of threads.
#include <algorithm>
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
  nd::executor(Device::Kind::cpu).execute(call, {});
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

// ---- drawn shapes --------------------------------------------------------------------------------
// The definition of a reduction: the elements of every output as doubles, in C order of the reduced axes.
std::vector<std::vector<double>> elements_of_outputs(Strided& a, const Shape& kept) {
  const Strides place = c_strides(kept, 1);
  std::vector<std::vector<double>> all(std::size_t(size_of(kept)));
  Strided::for_each(a.shape, [&](const Shape& i) {
    std::int64_t at = 0;
    for (int k = 0; k < i.size(); ++k) at += (kept[k] == 1 ? 0 : i[k]) * place[k];
    all[std::size_t(at)].push_back(a.get(i));
  });
  return all;
}

// The order of combination by definition: chunks of 4096 elements are joined as a binary tree; in a chunk element i
// goes to lane i % 32, a lane adds up groups of 16 elements, and the lanes are combined as a binary tree.
template <class T> T sum_in_order(const std::vector<double>& x) {
  std::vector<T> chunks;
  for (std::size_t begin = 0; begin == 0 || begin < x.size(); begin += 4096) {
    const std::size_t end = std::min(begin + 4096, x.size());
    T lane[32] = {};
    for (std::size_t l = 0; l < 32; ++l)
      for (std::size_t first = begin + l; first < end; first += 16 * 32) {
        T group = 0;
        for (std::size_t i = first; i < std::min(first + 16 * 32, end); i += 32) group += T(x[i]);
        lane[l] += group;
      }
    for (std::size_t width = 16; width > 0; width /= 2)
      for (std::size_t l = 0; l < width; ++l) lane[l] += lane[l + width];
    chunks.push_back(lane[0]);
  }
  for (; chunks.size() > 1; chunks.resize((chunks.size() + 1) / 2))
    for (std::size_t c = 0; c < chunks.size(); c += 2)
      chunks[c / 2] = c + 1 < chunks.size() ? chunks[c] + chunks[c + 1] : chunks[c];
  return chunks[0];
}

double expected_of(const std::string& name, const std::vector<double>& x) {
  const auto better = [&](double a, double b) { return name.ends_with("max") ? a > b : a < b; };
  double sum = 0, m2 = 0;
  std::size_t best = 0, nonzero = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += x[i];
    nonzero += x[i] != 0;
    if (better(x[i], x[best])) best = i;
  }
  for (double v : x) m2 += (v - sum / double(x.size())) * (v - sum / double(x.size()));
  if (name == "sum") return sum;
  if (name == "mean") return sum / double(x.size());
  if (name == "var") return m2 / double(x.size());
  if (name == "any") return nonzero > 0;
  if (name == "all") return nonzero == x.size();
  if (name == "count_nonzero") return double(nonzero);
  return name.starts_with("arg") ? double(best) : x[best];
}

// Many outputs of few elements, few outputs of many, and lengths on both sides of vectors, lanes and chunks.
Shape drawn_shape(std::mt19937& rng, int rank) {
  const std::int64_t lengths[] = {1, 2, 3, 5, 8, 15, 17, 31, 32, 33, 63, 65, 130, 257, 700, 4095, 4097, 9001};
  Shape shape;
  std::int64_t room = 60000;
  for (int a = 0; a < rank; ++a) {
    std::int64_t n = lengths[rng() % std::size(lengths)];
    while (n > room) n = n / 3 + 1;
    shape.push_back(n);
    room = std::max<std::int64_t>(1, room / n);
  }
  for (int a = rank - 1; a > 0; --a) std::swap(shape[a], shape[int(rng() % unsigned(a + 1))]);
  return shape;
}

BOOST_AUTO_TEST_CASE(drawn_reductions_are_those_of_nested_loops) {
  std::mt19937 rng(20);
  const int before = max_threads();
  for (const std::string name :
       {"sum", "mean", "var", "amax", "amin", "argmax", "argmin", "any", "all", "count_nonzero"}) {
    const KernelDef& def = find_kernel(name);
    for (int number = 0; number < 36; ++number) {
      const Shape shape = drawn_shape(rng, 1 + number % 3);
      const std::vector<Dims> choices = subsets(shape.size());
      const Dims axes = choices[1 + rng() % (choices.size() - 1)];
      const Dtype t = def.loop_table[int(rng() % def.num_loops)].type[0];
      if (kind_of(t) == DtypeKind::complex) continue;
      const Dtype r = def.loop_table[loop_of(def, t)].type[1];
      const Layout layout = test::kWritableLayouts[rng() % 4], out_layout = test::kWritableLayouts[rng() % 4];
      // Extrema are met often or once; any() and all() end early, late or never.
      const bool sparse = rng() % 2 == 0;
      Strided a(t, shape), c(r, kept_shape(shape, axes));
      a.fill(rng, 0.25, sparse ? 2 : 80);
      if (sparse && def.id != kernel_id("var"))
        Strided::for_each(shape, [&](const Shape& i) { a.set(i, name == "all" || rng() % 997 == 0 ? 1 : 0); });
      set_max_threads(1);
      reduce(def, a, axes, c);
      const auto elements = elements_of_outputs(a, c.shape);
      bool good = true;
      std::size_t k = 0;
      Strided::for_each(c.shape, [&](const Shape& i) {
        const double value = expected_of(name, elements[k++]), got = c.get(i);
        const bool rounds = name == "mean" || name == "var";
        const double eps = itemsize(r) == 2 ? 0.01 : itemsize(r) == 4 ? 1e-5 : 1e-12;
        good = good && (rounds ? std::fabs(got - value) <= eps * (std::fabs(value) + 1) : got == rounded(r, value));
      });
      BOOST_TEST(good, name << ' ' << t << ' ' << shape << " over " << axes);
      Strided view(t, shape, layout), d(r, c.shape, out_layout);
      Strided::for_each(shape, [&](const Shape& i) { std::memcpy(view.at(i), a.at(i), itemsize(t)); });
      for (int threads : {1, 2, 5}) {
        set_max_threads(threads);
        reduce(def, view, axes, d);
        BOOST_TEST(c.same_bits(d), name << ' ' << t << ' ' << shape << " over " << axes << ' ' << name_of(layout)
                                        << " to " << name_of(out_layout) << ' ' << threads << " threads");
      }
    }
  }
  set_max_threads(before);
}

// Of free order: the rows are shared by threads.
BOOST_AUTO_TEST_CASE(columns_of_large_matrices_of_integers) {
  std::mt19937 rng(21);
  const int before = max_threads();
  const Shape shape{4001, 301};
  Strided a(Dtype::int32, shape);
  a.fill(rng, 1, 100000);
  const auto columns = static_cast<std::size_t>(shape[1]);
  std::vector<double> total(columns), largest(columns, -1e9), place(columns);
  for (std::int64_t i = 0; i < shape[0]; ++i)
    for (std::int64_t j = 0; j < shape[1]; ++j) {
      const double x = a.get({i, j});
      total[std::size_t(j)] += x;
      if (x > largest[std::size_t(j)]) largest[std::size_t(j)] = x, place[std::size_t(j)] = double(i);
    }
  const std::pair<const char*, const std::vector<double>*> rows[] = {
      {"sum", &total}, {"amax", &largest}, {"argmax", &place}};
  for (const auto& [name, expected] : rows)
    for (int threads : {1, 2, 3, 5}) {
      set_max_threads(threads);
      const KernelDef& def = find_kernel(name);
      Strided c(def.loop_table[loop_of(def, Dtype::int32)].type[1], {1, shape[1]});
      reduce(def, a, {0}, c);
      bool good = true;
      for (std::int64_t j = 0; j < shape[1]; ++j) good = good && c.get({0, j}) == (*expected)[std::size_t(j)];
      BOOST_TEST(good, name << ' ' << threads << " threads");
    }
  set_max_threads(before);
}

template <class T> void check_order_of_sums(std::mt19937& rng) {
  const KernelDef& sum = find_kernel("sum");
  const Dtype t = dtype_of<T>;
  for (int number = 0; number < 64; ++number) {
    // Many chunks, too, as rows and as columns.
    const Shape shape = number >= 60 ? Shape{number % 2 ? 3 : 90001, number % 2     ? 90001
                                                                     : number == 60 ? 3
                                                                                    : 70}
                                     : drawn_shape(rng, 1 + number % 3);
    const std::vector<Dims> choices = subsets(shape.size());
    const Dims axes = choices[1 + rng() % (choices.size() - 1)];
    Strided a(t, shape, test::kWritableLayouts[rng() % 4]), c(t, kept_shape(shape, axes));
    a.fill(rng, 0.0137, 90);
    reduce(sum, a, axes, c);
    const auto elements = elements_of_outputs(a, c.shape);
    bool good = true;
    std::size_t k = 0;
    Strided::for_each(c.shape, [&](const Shape& i) { good = good && c.get(i) == sum_in_order<T>(elements[k++]); });
    BOOST_TEST(good, t << ' ' << shape << " over " << axes);
  }
}

BOOST_AUTO_TEST_CASE(sums_of_drawn_shapes_have_the_order_by_definition) {
  std::mt19937 rng(21);
  check_order_of_sums<float>(rng);
  check_order_of_sums<double>(rng);
}

// Rows of every length up to some lanes, which lie along memory and are folded by masked vectors.
template <class T> void check_short_rows(std::mt19937& rng, Layout layout) {
  const Dtype t = dtype_of<T>;
  for (std::int64_t n = 1; n <= 100; ++n)
    for (const std::string name : {"sum", "amax", "amin", "argmax", "argmin"}) {
      const KernelDef& def = find_kernel(name);
      const Dtype r = def.loop_table[loop_of(def, t)].type[1];
      Strided a(t, {37, n}, layout), c(r, {37, 1});
      a.fill(rng, is_floating(t) ? 0.0137 : 1.0, 90);
      reduce(def, a, {1}, c);
      const auto elements = elements_of_outputs(a, c.shape);
      bool good = true;
      std::size_t k = 0;
      Strided::for_each(c.shape, [&](const Shape& i) {
        const auto& x = elements[k++];
        const bool ordered = name == "sum" && is_floating(t);
        good = good && c.get(i) == (ordered ? double(sum_in_order<T>(x)) : expected_of(name, x));
      });
      BOOST_TEST(good, name << ' ' << t << ' ' << n << ' ' << name_of(layout));
    }
}

BOOST_AUTO_TEST_CASE(short_rows_have_the_order_by_definition) {
  std::mt19937 rng(23);
  for (Layout layout : {Layout::c_order, Layout::f_order, Layout::gaps, Layout::negative}) {
    check_short_rows<float>(rng, layout);
    check_short_rows<double>(rng, layout);
    check_short_rows<std::int64_t>(rng, layout);
    check_short_rows<std::int16_t>(rng, layout);
    check_short_rows<std::uint8_t>(rng, layout);
  }
}

BOOST_AUTO_TEST_CASE(places_of_nans_and_equal_values_of_drawn_shapes) {
  std::mt19937 rng(22);
  const KernelDef& argmax = find_kernel("argmax");
  for (int number = 0; number < 60; ++number) {
    const Shape shape = drawn_shape(rng, 2);
    const Dtype t = number % 3 == 0 ? Dtype::float64 : number % 3 == 1 ? Dtype::float32 : Dtype::float16;
    const Dims axes{number % 2};
    Strided a(t, shape, test::kWritableLayouts[rng() % 4]), c(Dtype::int64, kept_shape(shape, axes));
    a.fill(rng, 1, 2);
    Strided::for_each(shape, [&](const Shape& i) {
      if (rng() % 64 == 0) a.set(i, NAN);
    });
    reduce(argmax, a, axes, c);
    const auto elements = elements_of_outputs(a, c.shape);
    bool good = true;
    std::size_t k = 0;
    Strided::for_each(c.shape, [&](const Shape& i) {
      const std::vector<double>& x = elements[k++];
      const auto nan = std::find_if(x.begin(), x.end(), [](double v) { return std::isnan(v); });
      const auto place = nan != x.end() ? nan : std::max_element(x.begin(), x.end());
      good = good && c.get(i) == double(place - x.begin());
    });
    BOOST_TEST(good, t << ' ' << shape << " over " << axes);
  }
}

BOOST_AUTO_TEST_CASE(the_extremum_of_one_element_is_that_element) {
  std::mt19937 rng(24);
  for (const std::string name : {"amax", "amin"}) {
    const KernelDef& def = find_kernel(name);
    for (int l = 0; l < def.num_loops; ++l)
      for (const Layout layout : test::kWritableLayouts) {
        const Dtype t = def.loop_table[l].type[0];
        if (kind_of(t) == DtypeKind::complex) continue;
        for (const Dtype out : {t, Dtype::float64}) {
          Strided a(t, {40, 1, 7}, layout), c(out, {40, 1, 7}, test::kWritableLayouts[rng() % 4]);
          a.fill(rng, 1, 90);
          if (is_floating(t)) a.set({3, 0, 2}, NAN), a.set({5, 0, 6}, -0.0);
          reduce(def, a, {1}, c);
          bool good = true;
          Strided::for_each(a.shape, [&](const Shape& i) {
            const double x = a.get(i), y = c.get(i);
            good = good && (std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y));
          });
          BOOST_TEST(good, name << ' ' << t << " to " << out << ' ' << name_of(layout));
        }
      }
  }
}

// Rows that end within a vector, a window of several, or a block of windows; zeros of both signs are equal, and the
// first NaN is before all numbers.
BOOST_AUTO_TEST_CASE(places_in_rows_of_all_lengths) {
  std::mt19937 rng(23);
  std::vector<std::int64_t> lengths = {263, 511, 513, 1025, 2049, 4095, 4096, 4097, 4453, 8191, 8193, 9001};
  for (std::int64_t n = 1; n <= 260; n += n < 140 ? 1 : 7) lengths.push_back(n);
  for (const std::string name : {"argmax", "argmin"}) {
    const KernelDef& def = find_kernel(name);
    for (int l = 0; l < def.num_loops; ++l)
      for (const std::int64_t n : lengths) {
        const Dtype t = def.loop_table[l].type[0];
        Strided a(t, {3, n}), c(Dtype::int64, {3, 1});
        a.fill(rng, 1, rng() % 2 == 0 ? 2 : 100);
        const bool has_nan = rng() % 2 == 0;
        if (is_floating(t) && rng() % 2 == 0)
          Strided::for_each(a.shape, [&](const Shape& i) {
            const double zero_or_less = name == "argmax" ? -1 : 1;
            a.set(i, rng() % 4 == 0               ? (rng() % 2 == 0 ? 0.0 : -0.0)
                     : rng() % 4 == 0             ? zero_or_less * INFINITY
                     : has_nan && rng() % 40 == 0 ? NAN
                                                  : zero_or_less);
          });
        reduce(def, a, {1}, c);
        const auto rows = elements_of_outputs(a, c.shape);
        for (std::int64_t r = 0; r < 3; ++r) {
          const std::vector<double>& x = rows[std::size_t(r)];
          auto place = std::find_if(x.begin(), x.end(), [](double v) { return std::isnan(v); });
          if (place == x.end())
            place = name == "argmax" ? std::max_element(x.begin(), x.end()) : std::min_element(x.begin(), x.end());
          BOOST_TEST(c.get({r, 0}) == double(place - x.begin()), name << ' ' << t << " row " << r << " of " << n);
        }
      }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
