// All row-wise kernels at drawn shapes, axes, dtypes and layouts: against formulas in long double, and bit for bit
// between one thread and two, between layouts, and between a row among others and the same row alone.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/device/executor.h>
#include <catena/tests/support/strided.h>

namespace {

using namespace catena;
using test::Layout;
using test::Strided;
using Wide = long double;
using Line = std::vector<Wide>;

// The unit for which an operand has an element.
enum class Along { all, rows, places, nothing };
// The formula reads the inputs of one row, an element per place, and appends a line for each output; lines of outputs
// with one element per row have one number.
struct Case {
  const char* name;
  std::vector<Along> operands;
  std::function<std::vector<Line>(const std::vector<Line>&)> formula;
  unsigned positive = 0;  // bit k: input k is a scale or is added to a variance
};

Wide sum(const Line& a, const std::function<Wide(std::size_t)>& f) {
  Wide s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) s += f(i);
  return s;
}
Line each(const Line& a, const std::function<Wide(std::size_t)>& f) {
  Line y;
  for (std::size_t i = 0; i < a.size(); ++i) y.push_back(f(i));
  return y;
}

std::vector<Case> cases() {
  constexpr Along all = Along::all, rows = Along::rows, places = Along::places, nothing = Along::nothing;
  const auto batch_norm = [](const std::vector<Line>& in) -> std::vector<Line> {
    const Line &x = in[0], &gamma = in[1], &beta = in[2];
    const Wide n = Wide(x.size()), mean = sum(x, [&](auto i) { return x[i]; }) / n;
    const Wide var = sum(x, [&](auto i) { return (x[i] - mean) * (x[i] - mean); }) / n;
    const Wide inv_std = 1 / std::sqrt(var + in[3][0]);
    return {each(x, [&](auto i) { return gamma[i] * (x[i] - mean) * inv_std + beta[i]; }), {mean}, {var}, {inv_std}};
  };
  const auto layer_norm = [](const std::vector<Line>& in) -> std::vector<Line> {
    const Line &x = in[0], &gamma = in[2], &beta = in[3];
    const Wide n = Wide(x.size()), mean = sum(x, [&](auto i) { return x[i]; }) / n;
    const Wide var = sum(x, [&](auto i) { return (x[i] - mean) * (x[i] - mean); }) / n;
    const Wide scale = 1 / (std::sqrt(var + in[4][0]) + in[5][0]);
    return {each(x, [&](auto i) { return gamma[i] * (x[i] - mean) * scale + beta[i]; }), {mean - in[1][0]}, {scale}};
  };
  const auto log_sum = [](const Line& x) { return std::log(sum(x, [&](auto i) { return std::exp(x[i]); })); };
  return {
      {"softmax",
       {all, all},
       [=](auto& in) -> std::vector<Line> {
         const Wide log_of_sum = log_sum(in[0]);
         return {each(in[0], [&](auto i) { return std::exp(in[0][i] - log_of_sum); })};
       }},
      {"log_softmax",
       {all, all},
       [=](auto& in) -> std::vector<Line> {
         const Wide log_of_sum = log_sum(in[0]);
         return {each(in[0], [&](auto i) { return in[0][i] - log_of_sum; })};
       }},
      {"log_softmax_statistics",
       {all, rows, rows},
       [=](auto& in) -> std::vector<Line> {
         const Wide max = *std::max_element(in[0].begin(), in[0].end());
         return {{max}, {log_sum(in[0]) - max}};
       }},
      {"cross_entropy_bwd",
       {all, rows, rows, rows, rows, all},
       [](auto& in) -> std::vector<Line> {
         const Wide max = in[1][0], of_sum = in[2][0], scale = in[3][0], off = in[4][0];
         return {each(in[0], [&](auto i) { return off < 0 ? 0 : scale * (std::exp(in[0][i] - max - of_sum) - off); })};
       }},
      {"softmax_bwd",
       {all, all, all},
       [](auto& in) -> std::vector<Line> {
         const Wide dot = sum(in[0], [&](auto i) { return in[0][i] * in[1][i]; });
         return {each(in[0], [&](auto i) { return in[0][i] * (in[1][i] - dot); })};
       }},
      {"log_softmax_bwd",
       {all, all, all},
       [](auto& in) -> std::vector<Line> {
         const Wide total = sum(in[0], [&](auto i) { return in[1][i]; });
         return {each(in[0], [&](auto i) { return in[1][i] - std::exp(in[0][i]) * total; })};
       }},
      {"batch_norm_fwd", {all, rows, rows, nothing, all, rows, rows, rows}, batch_norm, 1u << 3},
      {"batch_norm_bwd",
       {all, all, rows, rows, rows, all, rows, rows},
       [](auto& in) -> std::vector<Line> {
         const auto xhat = [&](auto i) { return (in[0][i] - in[3][i]) * in[4][i]; };
         const Wide n = Wide(in[0].size()), gbeta = sum(in[0], [&](auto i) { return in[1][i]; });
         const Wide ggamma = sum(in[0], [&](auto i) { return in[1][i] * xhat(i); });
         return {each(in[0], [&](auto i) { return in[2][i] * in[4][i] * (in[1][i] - (xhat(i) * ggamma + gbeta) / n); }),
                 {ggamma},
                 {gbeta}};
       },
       1u << 4},
      {"layer_norm_fwd", {all, rows, places, places, nothing, nothing, all, rows, rows}, layer_norm, 3u << 4},
      {"layer_norm_bwd",
       {all, all, rows, places, rows, rows, nothing, all},
       [](auto& in) -> std::vector<Line> {
         const auto h = [&](auto i) { return in[3][i] * in[1][i]; };
         const auto xhat = [&](auto i) { return (in[0][i] - in[2][i] - in[4][i]) * in[5][i]; };
         const Wide n = Wide(in[0].size()), sigma = 1 / in[5][0] - in[6][0];
         const Wide mean = sum(in[0], h) / n;
         const Wide slope = sum(in[0], [&](auto i) { return h(i) * xhat(i); }) / n * (1 + in[6][0] / sigma);
         return {each(in[0], [&](auto i) { return in[5][i] * (h(i) - mean - xhat(i) * slope); })};
       },
       3u << 5},
      {"rms_norm_fwd",
       {all, places, nothing, all, rows},
       [](auto& in) -> std::vector<Line> {
         const Wide n = Wide(in[0].size()), square = sum(in[0], [&](auto i) { return in[0][i] * in[0][i]; }) / n;
         const Wide scale = 1 / std::sqrt(square + in[2][0]);
         return {each(in[0], [&](auto i) { return in[1][i] * in[0][i] * scale; }), {scale}};
       },
       1u << 2},
      {"rms_norm_bwd",
       {all, all, places, rows, all},
       [](auto& in) -> std::vector<Line> {
         const auto h = [&](auto i) { return in[2][i] * in[1][i]; };
         const auto xhat = [&](auto i) { return in[0][i] * in[3][i]; };
         const Wide slope = sum(in[0], [&](auto i) { return h(i) * xhat(i); }) / Wide(in[0].size());
         return {each(in[0], [&](auto i) { return in[3][i] * (h(i) - xhat(i) * slope); })};
       },
       1u << 3},
  };
}

// An operand of a call with one element more in front, so that it does not begin where its memory does; its strides are
// 0 along the axes for which it has no element.
struct Operand {
  Operand(Dtype t, const Shape& shape, const Dims& axes, Along along, Layout layout)
      : memory(t, stored_shape(shape, axes, along), layout), strides(memory.strides) {
    for (int a = 0; a < shape.size(); ++a)
      if (!is_along(axes, along, a)) strides[a] = 0;
  }
  static bool is_along(const Dims& axes, Along along, int a) {
    const bool reduced = std::find(axes.begin(), axes.end(), a) != axes.end();
    return along == Along::all || (along == Along::rows && !reduced) || (along == Along::places && reduced);
  }
  static Shape stored_shape(Shape shape, const Dims& axes, Along along) {
    for (int a = 0; a < shape.size(); ++a)
      if (!is_along(axes, along, a)) shape[a] = 1;
    ++shape[shape.size() - 1];
    return shape;
  }
  std::byte* at(const Shape& index) {
    std::byte* p = memory.data() + memory.strides.back();
    for (int a = 0; a < index.size(); ++a) p += index[a] * strides[a];
    return p;
  }
  double get(const Shape& index) { return Strided::load(memory.dtype, at(index)); }

  Strided memory;
  Strides strides;
};

struct Call {
  const Case* of;
  const KernelDef* kernel;
  int loop;
  Shape shape;
  Dims axes;

  Dtype type(std::size_t k) const { return kernel->loop_table[loop].type[k]; }
  std::vector<Operand> operands(const std::function<Layout()>& layout) const {
    std::vector<Operand> o;
    for (std::size_t k = 0; k < of->operands.size(); ++k)
      o.emplace_back(type(k), shape, axes, of->operands[k], layout());
    return o;
  }
  // The rows of `part`, which begin at `first`.
  void run(std::vector<Operand>& o, const Shape& part, const Shape& first) const {
    std::vector<BoundOperand> bound;
    for (Operand& x : o) bound.push_back({x.at(first), x.memory.dtype, false, &part, &x.strides});
    nd::executor(Device::Kind::cpu).execute(catena::bound::RowWise{kernel, loop, part, axes, bound}, {});
  }
  void run(std::vector<Operand>& o) const { run(o, shape, Shape::filled(shape.size(), 0)); }
  bool is_reduced(int a) const { return std::find(axes.begin(), axes.end(), a) != axes.end(); }
  // f(first element of a row)
  template <class F> void for_each_row(F&& f) const {
    Shape kept = shape;
    for (std::int64_t a : axes) kept[int(a)] = 1;
    Strided::for_each(kept, f);
  }
  Shape one_row() const {
    Shape s = shape;
    for (int a = 0; a < s.size(); ++a) s[a] = is_reduced(a) ? s[a] : 1;
    return s;
  }
  bool same_outputs(std::vector<Operand>& a, std::vector<Operand>& b) const {
    bool same = true;
    for (std::size_t k = kernel->nin; k < a.size(); ++k)
      Strided::for_each(shape, [&](const Shape& i) {
        same = same && std::memcmp(a[k].at(i), b[k].at(i), itemsize(a[k].memory.dtype)) == 0;
      });
    return same;
  }
};

std::int64_t draw(std::mt19937& rng, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(rng);
}

Call draw_call(std::mt19937& rng, const Case& of) {
  Call c{&of, &find_kernel(of.name), 0, {}, {}};
  c.loop = int(draw(rng, 0, c.kernel->num_loops - 1));
  const int rank = int(draw(rng, 1, 4));
  std::int64_t left = 12000;
  for (int a = 0; a < rank; ++a) {
    const std::int64_t most = std::min<std::int64_t>(left, draw(rng, 0, 2) == 0 ? 700 : 24);
    c.shape.push_back(draw(rng, 1, most));
    left /= c.shape[a];
  }
  for (int a = 0; a < rank; ++a)
    if (draw(rng, 0, 1) == 1) c.axes.push_back(a);
  if (c.axes.empty()) c.axes.push_back(rank - 1);
  return c;
}

void fill(std::mt19937& rng, const Call& c, std::vector<Operand>& o) {
  for (std::size_t k = 0; k < c.kernel->nin; ++k) {
    const bool positive = (c.of->positive >> k & 1) != 0;
    std::uniform_real_distribution<double> d(positive ? 0.25 : -2, positive ? 0.5 : 2);
    Strided::for_each(o[k].memory.shape, [&](const Shape& i) { o[k].memory.set(i, d(rng)); });
  }
}

// The largest difference between outputs and formulas, in units of what rounding may have cost.
double worst_error(const Call& c, std::vector<Operand>& o) {
  Wide worst = 0;
  c.for_each_row([&](const Shape& first) {
    std::vector<Line> in(c.kernel->nin);
    const auto for_each_place = [&](auto&& f) {
      Strided::for_each(c.one_row(), [&](Shape i) {
        for (int a = 0; a < i.size(); ++a) i[a] += first[a];
        f(i);
      });
    };
    for (std::size_t k = 0; k < in.size(); ++k) for_each_place([&](const Shape& i) { in[k].push_back(o[k].get(i)); });
    const std::vector<Line> expected = c.of->formula(in);
    for (std::size_t k = in.size(); k < o.size(); ++k) {
      const Dtype t = o[k].memory.dtype;
      const Wide count = Wide(in[0].size()), narrow = t == Dtype::bfloat16  ? 0x1p-8L
                                                      : t == Dtype::float16 ? 0x1p-11L
                                                                            : 0;
      const Wide epsilon = c.type(0) == Dtype::float64 ? 0x1p-52L : 0x1p-23L;
      const Line& line = expected[k - in.size()];
      std::size_t place = 0;
      for_each_place([&](const Shape& i) {
        const Wide e = line.size() == 1 ? line[0] : line[place++];
        const Wide allowed =
            narrow * (std::fabs(e) + 0x1p-14L) + 40 * epsilon * (1 + std::fabs(e)) * (8 + std::sqrt(count));
        worst = std::max(worst, std::fabs(o[k].get(i) - e) / allowed);
      });
    }
  });
  return double(worst);
}

BOOST_AUTO_TEST_SUITE(cpu_row_shapes)

BOOST_AUTO_TEST_CASE(drawn_shapes) {
  const int before = max_threads();
  const std::vector<Case> all = cases();
  for (unsigned seed = 0; seed < 96; ++seed) {
    std::mt19937 rng(seed);
    const Call c = draw_call(rng, all[seed % all.size()]);
    BOOST_TEST_CONTEXT(seed << ' ' << c.of->name << ' ' << c.type(0) << ' ' << c.shape << " over " << c.axes) {
      const auto contiguous = [] { return Layout::c_order; };
      std::vector<Operand> one = c.operands(contiguous);
      fill(rng, c, one);
      std::vector<Operand> two = one, alone = one, strided = c.operands([&] {
        return test::kWritableLayouts[draw(rng, 0, std::ssize(test::kWritableLayouts) - 1)];
      });
      for (std::size_t k = 0; k < c.kernel->nin; ++k)
        Strided::for_each(c.shape, [&](const Shape& i) {
          std::memcpy(strided[k].at(i), one[k].at(i), itemsize(one[k].memory.dtype));
        });
      set_max_threads(1);
      c.run(one);
      c.for_each_row([&](const Shape& first) { c.run(alone, c.one_row(), first); });
      set_max_threads(2);
      c.run(two);
      c.run(strided);
      BOOST_TEST(c.same_outputs(one, two), "two threads");
      BOOST_TEST(c.same_outputs(one, alone), "each row alone");
      BOOST_TEST(c.same_outputs(one, strided), "other layouts");
      const double worst = worst_error(c, one);
      BOOST_TEST(worst <= 1, worst);
    }
  }
  set_max_threads(before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
