// Kernels that are no registered loops (gathers and scatters, sorts, scans, products, joins, positions of nonzero
// elements) on the PTX that NVRTC makes, bit by bit against the CPU.
#include <catena/tests/cuda/ptx_loops.h>

#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/scan.h>
#include <catena/ndarray/routines/sorting.h>

namespace {

using namespace ptx_loops;

constexpr Dtype kReal[] = {Dtype::bool_, Dtype::int8,    Dtype::uint8,    Dtype::int16,   Dtype::uint32,
                           Dtype::int64, Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64};
constexpr Dtype kWidths[] = {Dtype::int8, Dtype::float16, Dtype::float32, Dtype::float64, Dtype::complex128};

// The operation on both devices, from arrays that differ in nothing else.
template <class F> void compare(const std::string& what, F operation) {
  std::vector<std::byte> bytes[2];
  for (int d = 0; d < 2; ++d) {
    const nd::DeviceScope scope(kDevices[d]);
    bytes[d] = content(operation(d));
  }
  BOOST_TEST(bytes[0].size() == bytes[1].size(), what << ": " << bytes[0].size() << " and " << bytes[1].size());
  const auto [cpu, ptx] = std::mismatch(bytes[0].begin(), bytes[0].end(), bytes[1].begin(), bytes[1].end());
  if (cpu == bytes[0].end() || ptx == bytes[1].end()) return;
  // The words of 8 bytes in which the difference is.
  const auto at = std::size_t(cpu - bytes[0].begin()) / 8 * 8, n = std::min<std::size_t>(8, bytes[0].size() - at);
  BOOST_ERROR(what << " differs at byte " << at << ": PTX " << bits(bytes[1].data() + at, n) << ", CPU "
                   << bits(bytes[0].data() + at, n));
}

// Numbers of a few bits, so that sums and products of some hundred are exact in every order.
Operand small(Dtype dtype, const Shape& shape, std::mt19937_64& random, int least = 0, int most = 3) {
  std::vector<std::byte> values(std::size_t(catena::size_of(shape)) * catena::itemsize(dtype));
  for (std::size_t k = 0; k < values.size(); k += catena::itemsize(dtype))
    catena::Scalar(std::int64_t(random() % std::uint64_t(most - least + 1)) + least).store(dtype, values.data() + k);
  return make(dtype, shape, Layout::contiguous, random, &values);
}

std::string named(const char* what, Dtype dtype, const Shape& shape, Layout layout) {
  return catena::concat(what, " of ", dtype, " ", shape, " ", name_of(layout));
}

}  // namespace

BOOST_AUTO_TEST_CASE(gathers_and_scatters) {
  std::mt19937_64 random(11);
  for (const Dtype dtype : kWidths)
    for (const Layout layout : {Layout::contiguous, Layout::strided, Layout::reversed, Layout::misaligned}) {
      const Shape shape{9, 13, 5};
      const Operand a = make(dtype, shape, layout, random), values = make(dtype, {6, 5}, layout, random);
      const Operand i = small(Dtype::int64, {6}, random, -9, 8), j = small(Dtype::int32, {6}, random, 0, 12);
      const Operand mask = small(Dtype::bool_, {9, 13}, random, 0, 1);
      compare(named("pairs of indices", dtype, shape, layout), [&](int d) {
        return nd::getitem(a.on[d], {i.on[d], j.on[d]}).copy();
      });
      compare(named("indices along an axis", dtype, shape, layout),
              [&](int d) { return nd::take(a.on[d], j.on[d], {.axis = 1}); });
      compare(named("a mask", dtype, shape, layout), [&](int d) { return nd::getitem(a.on[d], {mask.on[d]}).copy(); });
      compare(named("a write through a mask", dtype, shape, layout), [&](int d) {
        const Array y = a.on[d].copy();
        nd::setitem(y, {mask.on[d]}, 1);
        return y;
      });
      // No element twice, of which one would win: rows 0 to 5 and any columns.
      compare(named("a write through indices", dtype, shape, layout), [&](int d) {
        const Array y = a.on[d].copy();
        nd::setitem(y, {nd::arange(6), j.on[d]}, values.on[d]);
        return y;
      });
    }
}

BOOST_AUTO_TEST_CASE(additions_at_repeated_places) {
  std::mt19937_64 random(12);
  for (const Dtype dtype : {Dtype::bool_, Dtype::int8, Dtype::uint16, Dtype::int32, Dtype::int64, Dtype::float16,
                            Dtype::bfloat16, Dtype::float32, Dtype::float64, Dtype::complex64}) {
    const Operand a = small(dtype, {7, 4}, random), values = small(dtype, {300, 4}, random, 0, 1);
    const Operand i = small(Dtype::int64, {300}, random, -7, 6);
    compare(catena::concat("scatter_add of ", dtype), [&](int d) {
      const Array y = a.on[d].copy();
      nd::scatter_add(y, i.on[d], values.on[d]);
      return y;
    });
  }
  // The contract's exceptions: a GPU adds float32 atomically, which takes subnormal numbers for 0. float64 keeps them.
  for (const auto& [dtype, number, expected] : {std::tuple{nd::float32, 1e-40, 0.0}, {nd::float64, 1e-310, 3e-310}}) {
    const nd::DeviceScope scope(kDevices[1]);
    const Array y = nd::zeros({2}, dtype);
    nd::scatter_add(y, nd::array({1, 1, 1}), nd::full({3}, number, {.dtype = dtype}));
    BOOST_TEST(y(1).item<double>() == expected, dtype << " gives " << y(1).item<double>());
  }
}

BOOST_AUTO_TEST_CASE(sorts) {
  std::mt19937_64 random(13);
  for (const Dtype dtype : kReal)
    for (const auto& [shape, axis] :
         {std::pair{Shape{40, 7}, 1}, {Shape{33, 5}, 0}, {Shape{2, 900}, 1}, {Shape{6000}, 0}})
      for (const Layout layout : {Layout::contiguous, Layout::reversed}) {
        if (layout == Layout::reversed && shape[0] == 6000) continue;
        const Operand a = make(dtype, shape, layout, random);
        const int at = axis;
        compare(named("sort", dtype, shape, layout), [&](int d) { return nd::sort(a.on[d], {.axis = at}); });
        compare(named("argsort", dtype, shape, layout), [&](int d) { return nd::argsort(a.on[d], {.axis = at}); });
      }
}

// The elements at the pivots, and those before and behind them, which may be in any order.
BOOST_AUTO_TEST_CASE(partitions) {
  std::mt19937_64 random(19);
  for (const Dtype dtype : {Dtype::int8, Dtype::float16, Dtype::float32, Dtype::int64}) {
    const Operand a = make(dtype, {9000}, Layout::contiguous, random);
    const auto parts = [&](int d, bool positions) {
      const std::vector<std::int64_t> kth{100, 5000};
      const nd::Array p = positions ? nd::take(a.on[d], nd::argpartition(a.on[d], kth)) : nd::partition(a.on[d], kth);
      return nd::concatenate({nd::sort(p(nd::Slice(0, 100))), p(nd::Slice(100, 101)), nd::sort(p(nd::Slice(101, 5000))),
                              p(nd::Slice(5000, 5001)), nd::sort(p(nd::Slice(5001, {})))});
    };
    // Equal keys (zeros, NaN) of different bits may be exchanged: they are compared by their order.
    const auto numbers = [&](int d, bool positions) {
      const nd::Array p = parts(d, positions);
      return nd::where(p == p, p + nd::zeros(1, dtype), nd::zeros(1, dtype));
    };
    compare(named("partition", dtype, {9000}, Layout::contiguous), [&](int d) { return numbers(d, false); });
    compare(named("argpartition", dtype, {9000}, Layout::contiguous), [&](int d) { return numbers(d, true); });
  }
}

// Chains of pieces: sums of small integers, which are exact.
BOOST_AUTO_TEST_CASE(long_scans) {
  std::mt19937_64 random(20);
  for (const Dtype dtype : {Dtype::bool_, Dtype::float16, Dtype::float32, Dtype::int64}) {
    const Operand a = small(dtype, {2, 9000}, random, 0, dtype == Dtype::float16 ? 0 : 1);
    compare(named("cumsum", dtype, {2, 9000}, Layout::contiguous),
            [&](int d) { return nd::cumsum(a.on[d], {.axis = 1}); });
  }
  const Operand a = small(Dtype::int64, {34 * 4096 + 5}, random, 0, 1);
  compare("cumsum of two groups of pieces", [&](int d) { return nd::cumsum(a.on[d], {.axis = 0}); });
}

BOOST_AUTO_TEST_CASE(scans) {
  std::mt19937_64 random(14);
  for (const Dtype dtype : kReal)
    for (const auto& [shape, axis] : {std::pair{Shape{3, 200}, 1}, {Shape{150, 6}, 0}, {Shape{1200}, 0}}) {
      const Operand a = small(dtype, shape, random, 0, 1), signs = small(dtype, shape, random, 1, 1);
      const int at = axis;
      compare(named("cumsum", dtype, shape, Layout::contiguous),
              [&](int d) { return nd::cumsum(a.on[d], {.axis = at}); });
      compare(named("cumprod", dtype, shape, Layout::contiguous),
              [&](int d) { return nd::cumprod(signs.on[d], {.axis = at}); });
    }
}

BOOST_AUTO_TEST_CASE(products_of_matrices) {
  std::mt19937_64 random(15);
  for (const Dtype dtype : {Dtype::bool_, Dtype::int8, Dtype::uint16, Dtype::int32, Dtype::int64, Dtype::float16,
                            Dtype::float32, Dtype::complex64})
    for (const auto& [m, k, n] : {std::tuple{1, 1, 1}, {33, 70, 17}, {64, 64, 64}, {5, 130, 1}}) {
      const Operand a = small(dtype, {2, m, k}, random), b = small(dtype, {k, n}, random);
      compare(catena::concat("product of ", dtype, " ", m, " x ", k, " x ", n),
              [&](int d) { return nd::matmul(a.on[d], b.on[d]); });
    }
}

BOOST_AUTO_TEST_CASE(joins_and_positions) {
  std::mt19937_64 random(16);
  for (const Dtype dtype : kWidths)
    for (const Layout layout : {Layout::contiguous, Layout::strided, Layout::reversed, Layout::misaligned}) {
      const Operand a = make(dtype, {4, 3, 5}, layout, random), b = make(dtype, {4, 1, 5}, layout, random);
      compare(named("concatenate", dtype, {4, 4, 5}, layout), [&](int d) {
        return nd::concatenate({a.on[d], b.on[d], a.on[d]}, 1);
      });
      compare(named("stack", dtype, {4, 3, 5}, layout), [&](int d) { return nd::stack({a.on[d], a.on[d]}, -1); });
    }
  for (const Dtype dtype : {Dtype::bool_, Dtype::float16, Dtype::int64})
    for (const std::int64_t n : {1, 700, 5000}) {
      const Operand a = small(dtype, {n}, random, 0, 1);
      compare(catena::concat("flatnonzero of ", dtype, " ", n), [&](int d) { return nd::flatnonzero(a.on[d]); });
    }
}
