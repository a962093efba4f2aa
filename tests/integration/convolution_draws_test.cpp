// Convolutions that are drawn: forward, the gradient of x and the gradient of w, and transposed convolutions, of the
// device's library (cuDNN, oneDNN) against the portable kernels on the same device and, where that is quick, against
// plain loops in float64. Every geometry that the functions accept may come: 1 to 3 axes, strides, paddings, dilations,
// cover_all, groups, dtypes and memory layouts.
//
// On the software CUDA device the cuDNN of fake_cudnn.h stands in, which refuses what the library has been seen to
// compute wrongly; there a part of the problems has to do, if time is short.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iostream>
#include <random>
#include <vector>

#include <catena/catena.h>
#include <catena/tests/integration/fake_cudnn.h>

namespace {

using namespace autograd;

constexpr int kProblems = 300, kLeastProblems = 60;
constexpr std::chrono::seconds kEnoughOnTheSoftwareDevice(90);
constexpr std::uint32_t kSeed = 38001;

enum class Layout { contiguous, channels_last, every_other, reversed };

struct Problem {
  Shape x, w, y;
  ConvolutionSpec spec;
  Dtype dtype;
  Layout layout;
  bool bias;
};
std::ostream& operator<<(std::ostream& out, const Problem& p) {
  return out << "x " << p.x << " w " << p.w << " y " << p.y << " stride " << p.spec.stride << " pad " << p.spec.pad
             << " dilate " << p.spec.dilate << " groups " << p.spec.groups << " cover_all " << p.spec.cover_all << " "
             << p.dtype << " layout " << int(p.layout) << " bias " << p.bias;
}

class Draws {
 public:
  explicit Draws(std::uint32_t seed) : engine_(seed) {}

  Problem next() {
    Problem p;
    const int axes = int(one_of(1, 3));
    p.spec.groups = one_of(0, 2) == 0 ? one_of(2, 3) : 1;
    p.spec.cover_all = one_of(0, 1) == 1;
    p.spec.deterministic = one_of(0, 3) == 0;
    p.x = {one_of(1, 3), one_of(1, 4) * p.spec.groups};
    p.w = {one_of(1, 4) * p.spec.groups, p.x[1] / p.spec.groups};
    p.y = {p.x[0], p.w[0]};
    for (int i = 0; i < axes; ++i) add_axis(p, axes == 3 ? 5 : 9);
    constexpr std::array kDtypes{Dtype::float32, Dtype::float32, Dtype::float16, Dtype::float64, Dtype::bfloat16};
    p.dtype = kDtypes[std::size_t(one_of(0, 4))];
    p.layout = Layout(one_of(0, 3));
    p.bias = one_of(0, 1) == 1;
    return p;
  }

  // Eighths from -5/8 to 5/8, which all dtypes have.
  Array numbers(const Shape& shape, const Problem& p) {
    std::vector<double> values(std::size_t(catena::size_of(shape)));
    for (double& v : values) v = double(one_of(-5, 5)) / 8;
    return to_device(astype(from_host(values.data(), shape, Dtype::float64, nd::cpu_device), p.dtype),
                     nd::current_device());
  }

 private:
  std::int64_t one_of(std::int64_t least, std::int64_t most) {
    return least + std::int64_t(engine_() % std::uint32_t(most - least + 1));
  }

  void add_axis(Problem& p, std::int64_t spread) {
    const std::int64_t k = one_of(1, 4), stride = one_of(1, 4), dilate = k == 1 ? 1 : one_of(1, 3);
    const std::int64_t reach = (k - 1) * dilate + 1, pad = one_of(0, std::min<std::int64_t>(reach, 4));
    const std::int64_t size = std::max<std::int64_t>(1, reach - 2 * pad) + one_of(0, spread);
    p.x.push_back(size);
    p.w.push_back(k);
    p.y.push_back(get_conv_outsize(size, k, stride, pad, p.spec.cover_all, dilate));
    p.spec.stride.push_back(stride);
    p.spec.pad.push_back(pad);
    p.spec.dilate.push_back(dilate);
  }

  std::mt19937 engine_;
};

Dims spatial(const Shape& s) { return Dims(std::span<const std::int64_t>(s.data() + 2, std::size_t(s.size() - 2))); }

// The same elements in another arrangement.
Array arranged(const Array& a, Layout layout) {
  switch (layout) {
    case Layout::channels_last: {
      Dims to{0}, back{0, a.ndim() - 1};
      for (int i = 2; i < a.ndim(); ++i) to.push_back(i);
      to.push_back(1);
      for (int i = 1; i < a.ndim() - 1; ++i) back.push_back(i);
      return transpose(copy(transpose(a, to)), back);
    }
    case Layout::every_other: {
      Shape twice = a.shape();
      twice.back() = 2 * twice.back() + 1;
      const Array all = to_device(arrays::full(twice, 77, a.dtype(), nd::cpu_device), a.device());
      const Array part = slice(all, a.ndim() - 1, 1, twice.back(), 2);
      assign(part, a);
      return part;
    }
    case Layout::reversed: return transpose(copy(transpose(a)));
    default: return a;
  }
}

// ---- plain loops in float64 -----------------------------------------------------------------------
struct Results {
  std::vector<double> y, gx, gw;
};

// One spatial axis; missing ones come first and have one position.
struct Axis {
  std::int64_t x = 1, w = 1, y = 1, stride = 1, pad = 0, dilate = 1;
  std::int64_t at(std::int64_t position, std::int64_t tap) const { return position * stride - pad + tap * dilate; }
};
std::array<Axis, 3> axes_of(const Problem& p) {
  std::array<Axis, 3> axes;
  const int n = p.x.size() - 2;
  for (int i = 0; i < n; ++i)
    axes[std::size_t(3 - n + i)] = {p.x[i + 2],       p.w[i + 2],    p.y[i + 2],
                                    p.spec.stride[i], p.spec.pad[i], p.spec.dilate[i]};
  return axes;
}

// f(image, output channel, input channel of the group, positions in x, w and y) for every product that is not zero by
// the padding; the positions are numbers of elements in C order.
template <class F> void each_product(const Problem& p, F f) {
  const auto [a, b, c] = axes_of(p);
  const std::int64_t outputs = p.w[0] / p.spec.groups;
  for (std::int64_t n = 0; n < p.x[0]; ++n)
    for (std::int64_t o = 0; o < p.w[0]; ++o)
      for (std::int64_t i = 0; i < p.w[1]; ++i)
        for (std::int64_t ya = 0; ya < a.y; ++ya)
          for (std::int64_t yb = 0; yb < b.y; ++yb)
            for (std::int64_t yc = 0; yc < c.y; ++yc)
              for (std::int64_t wa = 0; wa < a.w; ++wa)
                for (std::int64_t wb = 0; wb < b.w; ++wb)
                  for (std::int64_t wc = 0; wc < c.w; ++wc) {
                    const std::int64_t xa = a.at(ya, wa), xb = b.at(yb, wb), xc = c.at(yc, wc);
                    if (xa < 0 || xa >= a.x || xb < 0 || xb >= b.x || xc < 0 || xc >= c.x) continue;
                    const std::int64_t channel = o / outputs * p.w[1] + i;
                    f(std::size_t((((n * p.x[1] + channel) * a.x + xa) * b.x + xb) * c.x + xc),
                      std::size_t((((o * p.w[1] + i) * a.w + wa) * b.w + wb) * c.w + wc),
                      std::size_t((((n * p.w[0] + o) * a.y + ya) * b.y + yb) * c.y + yc));
                  }
}

std::int64_t products_of(const Problem& p) { return catena::size_of(p.y) * catena::size_of(p.w) / p.w[0]; }

Results by_loops(const Problem& p, const std::vector<double>& x, const std::vector<double>& w,
                 const std::vector<double>& bias, const std::vector<double>& gy) {
  Results r{std::vector<double>(gy.size()), std::vector<double>(x.size()), std::vector<double>(w.size())};
  const std::size_t positions = gy.size() / std::size_t(p.y[0] * p.y[1]);
  for (std::size_t k = 0; k < r.y.size() && !bias.empty(); ++k) r.y[k] = bias[k / positions % std::size_t(p.y[1])];
  each_product(p, [&](std::size_t at_x, std::size_t at_w, std::size_t at_y) {
    r.y[at_y] += x[at_x] * w[at_w];
    r.gx[at_x] += gy[at_y] * w[at_w];
    r.gw[at_w] += gy[at_y] * x[at_x];
  });
  return r;
}

// ---- comparisons ----------------------------------------------------------------------------------
double tolerance_of(Dtype t) {
  return t == Dtype::float64 ? 1e-12 : t == Dtype::float32 ? 1e-5 : t == Dtype::float16 ? 2e-3 : 1.6e-2;
}

void check_close(const Array& got, const std::vector<double>& expected, double tolerance, const char* what) {
  const std::vector<double> values = to_vector<double>(got);
  BOOST_REQUIRE_EQUAL(values.size(), expected.size());
  double scale = 1, worst = 0;
  for (const double v : expected) scale = std::max(scale, std::abs(v));
  for (std::size_t i = 0; i < values.size(); ++i)
    worst = std::max(worst, std::isnan(values[i]) ? 1e300 : std::abs(values[i] - expected[i]));
  BOOST_TEST(worst <= tolerance * scale, what << " is off by " << worst << ", the largest value is " << scale);
}

struct Seen {
  int problems = 0, by_library = 0, by_loops = 0, transposed = 0, extended = 0;
};

// Whether the last window reaches beyond the padding along some axis.
bool reaches_further(const Problem& p) {
  bool further = false;
  for (const Axis& a : axes_of(p)) further |= a.at(a.y - 1, a.w - 1) >= a.x + a.pad;
  return further;
}

void check_problem(const Problem& p, Draws& draws, Seen& seen) {
  const Array x = draws.numbers(p.x, p), w = draws.numbers(p.w, p), gy = draws.numbers(p.y, p);
  const Array b = p.bias ? draws.numbers({p.w[0]}, p) : Array();
  const Array x_there = arranged(x, p.layout), gy_there = arranged(gy, p.layout), w_there = arranged(w, p.layout);
  const double tolerance = tolerance_of(p.dtype);
  NnExtension &library = nn_extension(x), &portable = portable_nn_extension();
  const Array y = library.convolution(x_there, w_there, b, p.spec);
  seen.by_library += last_implementation() != "portable";
  const Array gx = library.convolution_backward_data(w_there, gy_there, spatial(p.x), p.spec);
  const Array gw = library.convolution_backward_filter(x_there, gy_there, spatial(p.w), p.dtype, p.spec);
  BOOST_TEST(y.shape() == p.y);
  BOOST_TEST(gx.shape() == p.x);
  BOOST_TEST(gw.shape() == p.w);
  check_close(y, to_vector<double>(portable.convolution(x, w, b, p.spec)), tolerance, "y beside the portable one");
  check_close(gx, to_vector<double>(portable.convolution_backward_data(w, gy, spatial(p.x), p.spec)), tolerance,
              "gx beside the portable one");
  check_close(gw, to_vector<double>(portable.convolution_backward_filter(x, gy, spatial(p.w), p.dtype, p.spec)),
              4 * tolerance, "gw beside the portable one");
  ++seen.problems;
  seen.extended += reaches_further(p);
  if (products_of(p) > 200'000) return;
  ++seen.by_loops;
  const Results expected = by_loops(p, to_vector<double>(x), to_vector<double>(w),
                                    b ? to_vector<double>(b) : std::vector<double>(), to_vector<double>(gy));
  check_close(y, expected.y, tolerance, "y");
  check_close(gx, expected.gx, tolerance, "gx");
  check_close(gw, expected.gw, 4 * tolerance, "gw");
  if (p.spec.cover_all) return;
  // A transposed convolution gives gx; its gradients are the convolution and gw with x and gy exchanged.
  ++seen.transposed;
  const Variable given(gy_there), filter(w_there);
  Variable made = nn::deconvolution_nd(given, filter, {},
                                       {.stride = p.spec.stride,
                                        .pad = p.spec.pad,
                                        .outsize = nn::Lengths(spatial(p.x)),
                                        .dilate = p.spec.dilate,
                                        .groups = int(p.spec.groups)});
  made.set_grad(x_there);
  made.backward();
  const Results transposed = by_loops(p, to_vector<double>(x), to_vector<double>(w), {}, to_vector<double>(gy));
  check_close(made.data(), transposed.gx, tolerance, "the transposed y");
  check_close(given.grad(), transposed.y, tolerance, "the transposed gx");
  check_close(filter.grad(), transposed.gw, 4 * tolerance, "the transposed gw");
}

BOOST_AUTO_TEST_SUITE(convolution_draws)

BOOST_AUTO_TEST_CASE(every_direction_of_drawn_problems) {
  const bool on_cuda = nd::current_device().kind == Device::Kind::cuda;
  const bool stands_in = on_cuda && fake_cudnn::stands_in();
  Draws draws(kSeed);
  Seen seen;
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < kProblems; ++k) {
    const bool enough = stands_in && std::chrono::steady_clock::now() - begin > kEnoughOnTheSoftwareDevice;
    if (enough && k >= kLeastProblems) break;
    const Problem p = draws.next();
    BOOST_TEST_CONTEXT("problem " << k << ": " << p) { check_problem(p, draws, seen); }
  }
  std::cout << seen.problems << " problems, of which a library computed " << seen.by_library << "; " << seen.by_loops
            << " compared with loops, " << seen.transposed << " transposed, " << seen.extended
            << " with windows beyond the padding\n";
  BOOST_TEST(seen.by_loops >= seen.problems / 2);
  BOOST_TEST(seen.transposed >= seen.problems / 8);
  BOOST_TEST(seen.extended >= seen.problems / 8);
  if (stands_in) BOOST_TEST(seen.by_library == seen.problems);
}

// A fault of an engine on an H200: the filter's gradient takes the padding of the beginning
// for that of the end.
BOOST_AUTO_TEST_CASE(paddings_of_a_descriptor_are_the_same_at_both_ends) {
  if (nd::current_device().kind == Device::Kind::cuda) fake_cudnn::stands_in();
  Problem p{{1, 2, 9, 10},  {3, 2, 2, 3},
            {1, 3},         {.stride = {3, 2}, .pad = {1, 0}, .dilate = {2, 1}, .cover_all = true},
            Dtype::float32, Layout::contiguous,
            false};
  for (int i = 0; i < 2; ++i)
    p.y.push_back(get_conv_outsize(p.x[i + 2], p.w[i + 2], p.spec.stride[i], p.spec.pad[i], true, p.spec.dilate[i]));
  BOOST_REQUIRE(reaches_further(p));
  Draws draws(kSeed + 1);
  Seen seen;
  for (const Dtype t : {Dtype::float32, Dtype::float64, Dtype::float16})
    for (const Layout layout : {Layout::contiguous, Layout::channels_last, Layout::every_other})
      for (const bool bias : {false, true}) {
        p.dtype = t;
        p.layout = layout;
        p.bias = bias;
        BOOST_TEST_CONTEXT(p) { check_problem(p, draws, seen); }
      }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
