// Copies on the CPU backend against loops: transposed ones of every item size at every edge of blocks, and those of
// outputs so large that they are written past the caches, from and to addresses that are no multiple of a line.
#include <catena/ndarray/cpu/copy.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cpu/stream_store.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>
#include <catena/tests/support/streamed_from.h>

namespace {

using nd::cpu::kLine;
using nd::cpu::kNeverStreamed;
using test::StreamedFrom;

template <class T> std::vector<T> numbered(std::int64_t n) {
  std::vector<T> v(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) v[std::size_t(i)] = T(i * 7 + i / 251);
  return v;
}

// to[i, j] = from[j, i] with rows of `to` and `from` that are longer than needed by a bit.
template <class T> bool transposes(std::int64_t rows, std::int64_t columns, std::int64_t gap) {
  const std::int64_t to_row = columns + gap, from_row = rows + gap;
  const std::vector<T> from = numbered<T>(columns * from_row);
  std::vector<T> to(std::size_t(rows * to_row), T(99));
  const catena::Strides to_strides{to_row * std::int64_t(sizeof(T)), sizeof(T)},
      from_strides{sizeof(T), from_row * std::int64_t(sizeof(T))};
  nd::cpu::copy_elements(reinterpret_cast<std::byte*>(to.data()), to_strides,
                         reinterpret_cast<const std::byte*>(from.data()), from_strides, {rows, columns}, sizeof(T));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < to_row; ++j)
      if (to[std::size_t(i * to_row + j)] != (j < columns ? from[std::size_t(j * from_row + i)] : T(99))) return false;
  return true;
}

template <class T> void all_transposes() {
  for (std::int64_t rows : {4, 5, 15, 16, 17, 31, 63, 64, 65, 130})
    for (std::int64_t columns : {4, 7, 16, 33, 64, 65, 129})
      for (std::int64_t gap : {0, 3})
        BOOST_TEST(transposes<T>(rows, columns, gap), sizeof(T)
                                                          << " bytes: " << rows << " x " << columns << ", gap " << gap);
}

BOOST_AUTO_TEST_CASE(transposed_at_every_edge) {
  all_transposes<std::uint8_t>();
  all_transposes<std::uint16_t>();
  all_transposes<std::uint32_t>();
  all_transposes<std::uint64_t>();
}

// Narrow, long and odd ones, with one thread and with two; `gap` makes rows begin anywhere.
BOOST_AUTO_TEST_CASE(transposed_drawn_shapes) {
  std::mt19937 rng(12);
  const int before = catena::max_threads();
  for (int n = 0; n < 40; ++n) {
    std::int64_t rows = 1 + std::int64_t(rng() % 700), columns = 1 + std::int64_t(rng() % 900);
    if (n % 4 == 0) rows = 4 + std::int64_t(rng() % 14), columns = 1 + std::int64_t(rng() % 40000);
    if (n % 4 == 1) columns = 4 + std::int64_t(rng() % 14), rows = 1 + std::int64_t(rng() % 40000);
    const std::int64_t gap = std::int64_t(rng() % 4);
    catena::set_max_threads(1 + n / 4 % 2);
    BOOST_TEST(transposes<std::uint8_t>(rows, columns, gap), "1 byte: " << rows << " x " << columns << ", " << gap);
    BOOST_TEST(transposes<std::uint16_t>(rows, columns, gap), "2 bytes: " << rows << " x " << columns << ", " << gap);
    BOOST_TEST(transposes<std::uint32_t>(rows, columns, gap), "4 bytes: " << rows << " x " << columns << ", " << gap);
    BOOST_TEST(transposes<std::uint64_t>(rows, columns, gap), "8 bytes: " << rows << " x " << columns << ", " << gap);
  }
  catena::set_max_threads(before);
}

template <class T> void large_transposes() {
  const std::int64_t columns = 1024 / std::int64_t(sizeof(T)), rows = kNeverStreamed / 1024 + 37;
  BOOST_TEST(transposes<T>(rows, columns, 0), sizeof(T) << " bytes");
  BOOST_TEST(transposes<T>(rows, columns + kLine / std::int64_t(sizeof(T)) / 2, kLine / std::int64_t(sizeof(T)) / 2),
             sizeof(T) << " bytes, part of a line");
  BOOST_TEST(
      transposes<T>(rows, columns + kLine / std::int64_t(sizeof(T)) * 3 / 2, kLine / std::int64_t(sizeof(T)) / 2),
      sizeof(T) << " bytes, a line and part of one");
  BOOST_TEST(transposes<T>(rows, columns, 1), sizeof(T) << " bytes, rows that begin anywhere");
}

BOOST_AUTO_TEST_CASE(what_is_worth_streaming) {
  using nd::cpu::is_worth_streaming;
  BOOST_TEST(!is_worth_streaming(kNeverStreamed - 1));
  BOOST_TEST(is_worth_streaming(std::int64_t(1) << 40));
  for (std::int64_t bytes = kNeverStreamed; bytes < std::int64_t(1) << 40; bytes *= 2)
    BOOST_TEST((!is_worth_streaming(bytes) || is_worth_streaming(2 * bytes)), bytes);
  const StreamedFrom all(kNeverStreamed);
  BOOST_TEST(!is_worth_streaming(kNeverStreamed - 1));
  BOOST_TEST(is_worth_streaming(kNeverStreamed));
}

BOOST_AUTO_TEST_CASE(transposed_past_the_caches) {
  const StreamedFrom all(kNeverStreamed);
  large_transposes<std::uint8_t>();
  large_transposes<std::uint16_t>();
  large_transposes<std::uint32_t>();
  large_transposes<std::uint64_t>();
}

// Values of equal bytes and others, in whole vectors and less.
BOOST_AUTO_TEST_CASE(fills_of_any_value) {
  for (const std::int64_t n : {1, 7, 8, 67, 20001})
    for (const std::int64_t value : {std::int64_t(0), std::int64_t(-1), std::int64_t(0x0101010101010101),
                                     std::int64_t(0x0101010101010102), std::int64_t(1)}) {
      const auto filled = nd::full({n}, value, nd::int64).to_vector<std::int64_t>();
      BOOST_TEST(filled == std::vector<std::int64_t>(std::size_t(n), value));
      const auto narrow = nd::full({n}, std::int16_t(value), nd::int16).to_vector<std::int16_t>();
      BOOST_TEST(narrow == std::vector<std::int16_t>(std::size_t(n), std::int16_t(value)));
    }
}

BOOST_AUTO_TEST_CASE(axes_around_a_transposition) {
  const StreamedFrom all(kNeverStreamed);
  const std::int64_t a = 3, b = 520, c = 5,
                     d = 1100;  // (a, b, c, d) from (a, d, c, b), large enough to go past the caches
  const nd::Array from = nd::arange(a * d * c * b, {.dtype = nd::float32}).reshape({a, d, c, b});
  const nd::Array to = from.transpose({0, 3, 2, 1}).copy();
  BOOST_REQUIRE(to.is_c_contiguous());
  const float* f = from.data<float>();
  const float* t = to.data<float>();
  bool good = true;
  for (std::int64_t i = 0; i < a; ++i)
    for (std::int64_t j = 0; j < b; ++j)
      for (std::int64_t k = 0; k < c; ++k)
        for (std::int64_t l = 0; l < d; ++l)
          good &= t[((i * b + j) * c + k) * d + l] == f[((i * d + l) * c + k) * b + j];
  BOOST_TEST(good);
}

// Lengths around blocks and around those that are left to memcpy().
BOOST_AUTO_TEST_CASE(copies_of_any_bytes) {
  constexpr std::int64_t kMost = 1024 * 1024 + 1, kGuard = 200;
  const std::vector<std::uint8_t> from = numbered<std::uint8_t>(kMost + 64);
  std::vector<std::uint8_t> to(std::size_t(kMost + 2 * kGuard));
  for (const std::int64_t n :
       {0, 1, 255, 1023, 1024, 1025, 1151, 1152, 1153, 2000, 4096, 30001, int(kMost) - 1, int(kMost)})
    for (const std::int64_t shift : {0, 1, 8, 31, 64}) {
      std::fill(to.begin(), to.end(), std::uint8_t(99));
      const auto begin = to.begin() + kGuard, end = begin + n;
      nd::cpu::copy_bytes(reinterpret_cast<std::byte*>(&*begin),
                          reinterpret_cast<const std::byte*>(from.data() + shift), n);
      BOOST_TEST(std::equal(begin, end, from.begin() + shift), n << " bytes from " << shift);
      const auto untouched = [](std::uint8_t x) { return x == 99; };
      BOOST_TEST((std::all_of(to.begin(), begin, untouched) && std::all_of(end, to.end(), untouched)), n << " bytes");
    }
}

BOOST_AUTO_TEST_CASE(any_bytes_to_any_address) {
  const std::vector<std::uint8_t> from = numbered<std::uint8_t>(1000);
  for (std::int64_t at : {0, 1, 17, 63, 64})
    for (std::int64_t n : {0, 1, 46, 47, 48, 63, 64, 65, 127, 128, 200, 700}) {
      std::vector<std::uint8_t> to(1000, 99);
      nd::cpu::stream_copy(reinterpret_cast<std::byte*>(to.data() + at),
                           reinterpret_cast<const std::byte*>(from.data() + 3), n);
      nd::cpu::stream_fence();
      bool good = true;
      for (std::int64_t i = 0; i < 1000; ++i)
        good &= to[std::size_t(i)] == (i >= at && i < at + n ? from[std::size_t(3 + i - at)] : 99);
      BOOST_TEST(good, n << " bytes to " << at);
    }
}

// Elementwise outputs past the caches have the bits of the same work in small pieces.
template <class F> void same_in_pieces(const char* what, const nd::Array& x, F f) {
  const StreamedFrom all(kNeverStreamed);
  const nd::Array whole = f(x);
  const std::int64_t n = x.size(), piece = 10007;
  bool good = true;
  for (std::int64_t i = 0; i < n; i += 40 * piece) {
    const nd::Slice s(i, std::min(n, i + piece));
    const nd::Array part = f(nd::Array(x(s)));
    const std::vector<double> expected = part.to_vector<double>(), values = nd::Array(whole(s)).to_vector<double>();
    good &= values.size() == expected.size() &&
            std::memcmp(values.data(), expected.data(), expected.size() * sizeof(double)) == 0;
  }
  BOOST_TEST(good, what);
  const StreamedFrom none(std::int64_t(1) << 60);
  BOOST_TEST(test::same_bits(f(x), whole), what);
}

BOOST_AUTO_TEST_CASE(elementwise_past_the_caches) {
  const std::int64_t n = kNeverStreamed / 4 + 12345;
  const nd::Array memory = nd::random::uniform(-3, 3, {n + 1}, {.dtype = nd::float32});
  const nd::Array x(memory(nd::Slice(1, n + 1)));  // no multiple of a line
  same_in_pieces("add", x, [](const nd::Array& v) { return v + v; });
  same_in_pieces("exp", x, [](const nd::Array& v) { return nd::exp(v); });
  const nd::Array half = nd::concatenate({x, x}).astype(nd::float16);
  same_in_pieces("add of float16", nd::Array(half(nd::Slice(3, 2 * n))), [](const nd::Array& v) { return v + v; });
  same_in_pieces("compare", nd::concatenate({x, x, x, x}), [](const nd::Array& v) { return v > 0; });
  same_in_pieces("cast", x, [](const nd::Array& v) { return v.astype(nd::float64); });
  const auto fused = nd::fuse([](auto v) { return nd::tanh(v) * 2 + v; });
  same_in_pieces("fused", x, [&](const nd::Array& v) { return fused(v); });
  same_in_pieces("in place", x, [](const nd::Array& v) {
    nd::Array y = v.copy();
    y *= 3;
    return y;
  });
  const StreamedFrom all(kNeverStreamed);
  // A row and a column broadcast to a large matrix, into a view with gaps and into its transpose.
  const nd::Array row = nd::arange(4096, {.dtype = nd::float32}),
                  column = nd::arange(2200, {.dtype = nd::float32}).reshape({2200, 1});
  nd::Array big = nd::zeros({2200, 4100}, {.dtype = nd::float32}),
            tall = nd::zeros({4096, 2200}, {.dtype = nd::float32});
  nd::Array gaps(big(nd::ellipsis, nd::Slice(2, 4098))), turned = tall.T();
  nd::add(row, column, {.out = gaps});
  nd::add(row, column, {.out = turned});
  const nd::Array sum = row + column;
  bool good = true;
  for (std::int64_t i = 0; i < 2200; i += 7)
    for (std::int64_t j = 0; j < 4096; j += 3) {
      const auto expected = float(i + j);
      good &= sum.data<float>()[i * 4096 + j] == expected && big.data<float>()[i * 4100 + 2 + j] == expected &&
              tall.data<float>()[j * 2200 + i] == expected;
    }
  BOOST_TEST(good);
  for (std::int64_t j : {0, 1, 4098, 4099})
    BOOST_TEST(!nd::any(nd::Array(big(nd::ellipsis, j))).item<bool>(), "column " << j << " is not written");
}

}  // namespace
