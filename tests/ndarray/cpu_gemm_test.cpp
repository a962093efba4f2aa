// Matrix products on the CPU backend: batches, transposed and strided operands, every dtype against three loops.
#include <catena/ndarray/cpu/gemm.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <thread>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/device/executor.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/tests/support/strided.h>

namespace {

using namespace catena;
using test::Layout;
using test::Strided;

Shape with_matrix(Shape batch, std::int64_t m, std::int64_t n) {
  batch.push_back(m);
  batch.push_back(n);
  return batch;
}

// Batch axes of length 1 are repeated.
Shape in_batch(Shape i, const Shape& shape, std::int64_t row, std::int64_t column) {
  for (int a = 0; a < shape.size() - 2; ++a)
    if (shape[a] == 1) i[a] = 0;
  i[shape.size() - 2] = row;
  i[shape.size() - 1] = column;
  return i;
}

BoundOperand broadcast(Strided& s, Strides& strides, const Shape& out, Shape& shape) {
  strides = s.strides;
  shape = s.shape;
  for (int a = 0; a < out.size() - 2; ++a) {
    if (s.shape[a] == 1) strides[a] = 0;
    shape[a] = out[a];
  }
  BoundOperand o = s.operand();
  o.strides = &strides;
  o.shape = &shape;
  return o;
}

void check(Dtype t, const Shape& batch_a, const Shape& batch_b, const Shape& batch, std::int64_t m, std::int64_t n,
           std::int64_t k, Layout la, Layout lb, Layout lc, std::mt19937& rng) {
  Strided a(t, with_matrix(batch_a, m, k), la), b(t, with_matrix(batch_b, k, n), lb),
      c(t, with_matrix(batch, m, n), lc);
  a.fill(rng, 1.0, 3);
  b.fill(rng, 1.0, 3);
  Strides sa, sb;
  Shape ha, hb;
  const BoundOperand oa = broadcast(a, sa, c.shape, ha), ob = broadcast(b, sb, c.shape, hb);
  nd::executor(Device::Kind::cpu).execute(catena::bound::Matmul{oa, ob, c.operand()}, {});
  bool good = true;
  Strided::for_each(c.shape, [&](const Shape& i) {
    double sum = 0;
    for (std::int64_t p = 0; p < k; ++p) {
      const double x =
          a.get(in_batch(i, a.shape, i[i.size() - 2], p)) * b.get(in_batch(i, b.shape, p, i[i.size() - 1]));
      sum = t == Dtype::bool_ ? (sum != 0 || x != 0) : sum + x;
    }
    double expected = test::rounded(t, sum);
    if (is_integer(t)) {
      std::byte cell[16];
      Scalar(std::int64_t(sum)).store(t, cell);
      expected = Strided::load(t, cell);
    }
    good = good && c.get(i) == expected;
  });
  BOOST_TEST(good,
             t << ' ' << a.shape << " @ " << b.shape << ' ' << name_of(la) << ' ' << name_of(lb) << ' ' << name_of(lc));
}

BOOST_AUTO_TEST_CASE(products_of_all_dtypes_and_layouts) {
  std::mt19937 rng(1);
  const std::int64_t sizes[][3] = {{1, 1, 1},  {2, 3, 4},  {5, 1, 7},  {1, 9, 8},    {17, 33, 9},
                                   {0, 3, 2},  {3, 0, 2},  {3, 2, 0},  {64, 64, 64}, {7, 130, 300},
                                   {1, 2, 53}, {2, 1, 53}, {4, 3, 19}, {3, 4, 40},   {190, 210, 1}};
  for (Dtype t : test::all_dtypes())
    for (const auto& s : sizes)
      for (Layout la : test::kLayouts)
        for (Layout lb : test::kLayouts)
          for (Layout lc : test::kWritableLayouts) {
            if (s[0] * s[1] * s[2] > 1000 && la != lb && lc != Layout::c_order) continue;
            if (s[0] * s[1] * s[2] > 100000 && la != Layout::c_order && lb != Layout::f_order) continue;
            check(t, {}, {}, {}, s[0], s[1], s[2], la, lb, lc, rng);
          }
}

BOOST_AUTO_TEST_CASE(batches) {
  std::mt19937 rng(2);
  for (Dtype t : {Dtype::float16, Dtype::float32, Dtype::float64, Dtype::int32})
    for (Layout l : test::kWritableLayouts) {
      check(t, {3}, {3}, {3}, 4, 5, 6, l, Layout::c_order, l, rng);
      check(t, {3}, {1}, {3}, 4, 5, 6, l, l, Layout::c_order, rng);  // stacked into one product
      check(t, {1}, {3}, {3}, 4, 5, 6, l, l, l, rng);
      check(t, {2, 3}, {1, 3}, {2, 3}, 4, 5, 6, l, l, l, rng);
      check(t, {2, 1}, {1, 3}, {2, 3}, 4, 5, 6, l, l, l, rng);
      check(t, {2, 3}, {1, 1}, {2, 3}, 4, 5, 6, Layout::c_order, l, Layout::c_order, rng);
      check(t, {0}, {0}, {0}, 4, 5, 6, l, l, l, rng);
      check(t, {40}, {40}, {40}, 8, 9, 10, l, l, l, rng);
    }
}

BOOST_AUTO_TEST_CASE(integers_are_exact) {
  for (Dtype t : {Dtype::int64, Dtype::uint64, Dtype::int32, Dtype::uint16, Dtype::int8}) {
    Strided a(t, {1, 3}), b(t, {3, 1}), c(t, {1, 1});
    const std::int64_t big = t == Dtype::int64 || t == Dtype::uint64 ? (std::int64_t(1) << 53) + 1 : 77;
    std::uint64_t expected = 0;
    for (int i = 0; i < 3; ++i) {
      Scalar(big + i).store(t, a.at({0, i}));
      Scalar(std::int64_t(3)).store(t, b.at({i, 0}));
      expected += 3 * std::uint64_t(big + i);
    }
    nd::executor(Device::Kind::cpu).execute(catena::bound::Matmul{a.operand(), b.operand(), c.operand()}, {});
    BOOST_TEST(std::memcmp(c.data(), &expected, itemsize(t)) == 0, t);
  }
}

BOOST_AUTO_TEST_CASE(half_precision_accumulates_in_single) {
  Strided a(Dtype::float16, {1, 4096}), b(Dtype::float16, {4096, 1}), c(Dtype::float16, {1, 1});
  for (int i = 0; i < 4096; ++i) {
    a.set({0, i}, 1);
    b.set({i, 0}, 1);
  }
  nd::executor(Device::Kind::cpu).execute(catena::bound::Matmul{a.operand(), b.operand(), c.operand()}, {});
  BOOST_TEST(c.get({0, 0}) == 4096);  // in float16 the sum would stay at 2048
}

// Small integers, so that every order of summation gives the same bits; rows of c that are longer than n keep what lies
// behind it.
template <class T>
bool portable_is_exact(Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k, bool ta, bool tb) {
  std::mt19937 rng(unsigned(m * 1000 + n * 10 + k));
  const auto small = [&] { return T(rng() % 3); };
  std::vector<T> a(std::size_t(m * k)), b(std::size_t(k * n)), c(std::size_t(m * (n + 2)), T(77));
  std::generate(a.begin(), a.end(), small);
  std::generate(b.begin(), b.end(), small);
  nd::cpu::Gemm g;
  g.transpose_a = ta;
  g.transpose_b = tb;
  g.m = m, g.n = n, g.k = k;
  g.a = reinterpret_cast<const std::byte*>(a.data());
  g.b = reinterpret_cast<const std::byte*>(b.data());
  g.c = reinterpret_cast<std::byte*>(c.data());
  g.lda = ta ? m : k;
  g.ldb = tb ? k : n;
  g.ldc = n + 2;
  nd::cpu::gemm_portable(dtype, g);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n + 2; ++j) {
      T sum = 0;
      for (std::int64_t p = 0; j < n && p < k; ++p)
        sum = T(sum + a[std::size_t(ta ? p * m + i : i * k + p)] * b[std::size_t(tb ? j * k + p : p * n + j)]);
      if (c[std::size_t(i * (n + 2) + j)] != (j < n ? sum : T(77))) return false;
    }
  return true;
}

BOOST_AUTO_TEST_CASE(portable_products_at_every_edge_of_tiles_and_blocks) {
  const auto all = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    for (bool ta : {false, true})
      for (bool tb : {false, true}) {
        const auto text = [&] {
          return "at " + std::to_string(m) + " x " + std::to_string(k) + " @ " + std::to_string(n) + (ta ? " T" : "") +
                 (tb ? " , T" : "");
        };
        BOOST_TEST(portable_is_exact<float>(Dtype::float32, m, n, k, ta, tb), "float32 " << text());
        BOOST_TEST(portable_is_exact<double>(Dtype::float64, m, n, k, ta, tb), "float64 " << text());
        BOOST_TEST(portable_is_exact<std::uint8_t>(Dtype::uint8, m, n, k, ta, tb), "uint8 " << text());
        BOOST_TEST(portable_is_exact<std::int64_t>(Dtype::int64, m, n, k, ta, tb), "int64 " << text());
      }
  };
  for (std::int64_t m : {1, 2, 4, 5, 6, 7, 13, 14, 15, 29})
    for (std::int64_t n : {1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65})
      for (std::int64_t k : {1, 2, 33, 70, 129}) all(m, n, k);
  all(170, 33, 40);
  all(200, 20, 257);
  all(345, 70, 600);
  all(3, 4100, 5);
  // Columns that are packed whole, for many rows; both operands of few lines.
  for (std::int64_t m : {169, 701})
    for (std::int64_t n : {5, 20, 33}) all(m, n, 3), all(m, n, 19);
  for (std::int64_t m : {1, 2, 3})
    for (std::int64_t n : {1, 2, 3})
      for (std::int64_t k : {5, 433}) all(m, n, k);
  // Few rows or columns: the edges of vectors and of the parts of a line of the result.
  for (std::int64_t few : {1, 2, 3, 4})
    for (std::int64_t k : {15, 17, 64, 67})
      for (std::int64_t lines : {64, 71, 513, 1030}) {
        all(few, lines, k);
        all(lines, few, k);
      }
}

// Elements that the last vector of a row has in common with the one before count once, also if they are infinite.
BOOST_AUTO_TEST_CASE(few_rows_with_infinities) {
  const double inf = std::numeric_limits<double>::infinity();
  for (bool tb : {false, true}) {
    const std::int64_t m = 2, n = 21, k = 21;
    std::vector<double> a(std::size_t(m * k), 1), b(std::size_t(k * n), 1), c(std::size_t(m * n));
    for (std::int64_t i = 0; i < k; ++i) b[std::size_t(i * n + i)] = inf;
    nd::cpu::gemm_portable(
        Dtype::float64, {false, tb, m, n, k, reinterpret_cast<const std::byte*>(a.data()), k,
                         reinterpret_cast<const std::byte*>(b.data()), n, reinterpret_cast<std::byte*>(c.data()), n});
    BOOST_TEST(std::count(c.begin(), c.end(), inf) == m * n, tb);
  }
}

void portable_product_on_one_thread_and_three(std::int64_t m, std::int64_t n, std::int64_t k, bool tb) {
  std::mt19937 rng(4);
  std::normal_distribution<float> normal;
  std::vector<float> a(std::size_t(m * k)), b(std::size_t(k * n)), c[2];
  for (float& x : a) x = normal(rng);
  for (float& x : b) x = normal(rng);
  const int threads = catena::max_threads();
  for (int t : {1, 3}) {
    std::vector<float>& to = c[t == 3];
    to.assign(std::size_t(m * n), 0);
    catena::set_max_threads(t);
    nd::cpu::gemm_portable(Dtype::float32, {false, tb, m, n, k, reinterpret_cast<const std::byte*>(a.data()), k,
                                            reinterpret_cast<const std::byte*>(b.data()), tb ? k : n,
                                            reinterpret_cast<std::byte*>(to.data()), n});
  }
  catena::set_max_threads(threads);
  BOOST_TEST(std::memcmp(c[0].data(), c[1].data(), c[0].size() * sizeof(float)) == 0);
}
BOOST_AUTO_TEST_CASE(portable_products_do_not_depend_on_the_number_of_threads) {
  portable_product_on_one_thread_and_three(500, 130, 300, false);
  for (bool tb : {false, true}) {
    portable_product_on_one_thread_and_three(2, 4003, 301, tb);
    portable_product_on_one_thread_and_three(4003, 3, 301, tb);
    portable_product_on_one_thread_and_three(4003, 9, 17, tb);
    portable_product_on_one_thread_and_three(10, 4003, 70, tb);
  }
}

// Integers: every order of summation gives the same. Parts have a million multiplications at least.
BOOST_AUTO_TEST_CASE(large_products_in_parts) {
  std::mt19937 rng(6);
  const int before = catena::max_threads();
  const auto run = [&](Dtype t, std::int64_t m, std::int64_t n, std::int64_t k, Layout la, Layout lb) {
    check(t, {}, {}, {}, m, n, k, la, lb, Layout::c_order, rng);
  };
  for (const int threads : {2, 3, 8}) {
    catena::set_max_threads(threads);
    for (Layout la : {Layout::c_order, Layout::f_order})
      for (Layout lb : {Layout::c_order, Layout::f_order}) run(Dtype::float32, 130, 100, 240, la, lb);
    run(Dtype::float64, 65, 130, 370, Layout::c_order, Layout::c_order);
    run(Dtype::float32, 3, 2000, 510, Layout::c_order, Layout::c_order);
    run(Dtype::float32, 1500, 7, 300, Layout::c_order, Layout::c_order);
  }
  run(Dtype::float32, 257, 65, 601, Layout::c_order, Layout::f_order);  // with eight threads
  catena::set_max_threads(before);
}

// The libraries are loaded by the first product and then run on the calling thread. A team of OpenMP belongs to the
// thread that starts it, so a new thread shows whether there is one.
BOOST_AUTO_TEST_CASE(libraries_start_no_threads) {
  const int before = catena::max_threads();
  catena::set_max_threads(1);
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    std::thread([&] {
      const nd::Array a = nd::ones({300, 300}, dtype);
      const auto at_first = threads();
      BOOST_TEST(nd::matmul(a, a)(7, 7).item<double>() == 300);
      BOOST_TEST(threads() == at_first, nd::cpu::last_gemm());
    }).join();
  }
  catena::set_max_threads(before);
}

BOOST_AUTO_TEST_CASE(which_library_runs) {
  std::mt19937 rng(3);
  check(Dtype::int32, {}, {}, {}, 4, 4, 4, Layout::c_order, Layout::c_order, Layout::c_order, rng);
  BOOST_TEST(nd::cpu::last_gemm() == "portable");
  check(Dtype::float32, {}, {}, {}, 4, 4, 4, Layout::c_order, Layout::c_order, Layout::c_order, rng);
  BOOST_TEST_MESSAGE("float32: " << nd::cpu::last_gemm());
  check(Dtype::float64, {}, {}, {}, 4, 4, 4, Layout::c_order, Layout::c_order, Layout::c_order, rng);
  BOOST_TEST_MESSAGE("float64: " << nd::cpu::last_gemm());
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {  // a column times a row
    check(dtype, {}, {}, {}, 400, 300, 1, Layout::c_order, Layout::c_order, Layout::c_order, rng);
    BOOST_TEST(nd::cpu::last_gemm() == "portable");
  }
}

}  // namespace
