// Gather and scatter on the CPU backend against loops: any axes, all integer dtypes, wrapping, broadcast indices,
// duplicates.
#include <boost/test/unit_test.hpp>
#include <tuple>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/device/executor.h>
#include <catena/tests/support/strided.h>

namespace {

using namespace catena;
using test::Layout;
using test::Strided;

std::int64_t wrap(std::int64_t i, std::int64_t n) { return ((i % n) + n) % n; }

const std::vector<Dtype> kIndexDtypes = {Dtype::int8,  Dtype::uint8,  Dtype::int16, Dtype::uint16,
                                         Dtype::int32, Dtype::uint32, Dtype::int64, Dtype::uint64};

// base[:, index, :] of a 3-d base: loop (p, n, q).
struct Take {
  Take(Dtype t, Dtype it, std::int64_t p, std::int64_t length, std::int64_t n, std::int64_t q, Layout l,
       std::mt19937& rng)
      : base(t, {p, length, q}, l), index(it, {n}), other(t, {p, n, q}, l) {
    base.fill(rng);
    other.fill(rng);
    std::uniform_int_distribution<int> d(is_integer(it) && kind_of(it) == DtypeKind::signed_ ? -2 * int(length) : 0,
                                         2 * int(length));
    Strided::for_each(index.shape, [&](const Shape& i) { index.set(i, d(rng)); });
    loop = {p, n, q};
    base_strides = {base.strides[0], 0, base.strides[2]};
    index_strides = {0, index.strides[0], 0};
  }
  catena::bound::Gather call() {
    axis = {index.operand(), base.shape[1], base.strides[1]};
    axis.index.shape = &loop;
    axis.index.strides = &index_strides;
    BoundOperand b = base.operand();
    b.strides = &base_strides;
    b.shape = &loop;
    return {loop, b, {&axis, 1}, other.operand()};
  }
  std::int64_t at(const Shape& i) const { return wrap(std::int64_t(index.get({i[1]})), base.shape[1]); }

  Strided base, index, other;
  Shape loop;
  Strides base_strides, index_strides;
  catena::bound::Index axis;
};

BOOST_AUTO_TEST_CASE(gathering) {
  std::mt19937 rng(1);
  for (Dtype t : test::all_dtypes())
    for (Dtype it : kIndexDtypes)
      for (Layout l : test::kWritableLayouts)
        for (auto [p, q] : {std::pair{1, 1}, {3, 1}, {1, 40}, {2, 5}, {40, 70}, {1, 2}, {1, 3}, {1, 16}}) {
          Take take(t, it, p, 11, 30, q, l, rng);
          nd::executor(Device::Kind::cpu).execute(take.call(), {});
          bool good = true;
          Strided::for_each(take.loop, [&](const Shape& i) {
            good = good && take.other.get(i) == take.base.get({i[0], take.at(i), i[2]});
          });
          BOOST_TEST(good, t << ' ' << it << ' ' << name_of(l) << ' ' << p << ' ' << q);
        }
}

// Rows are moved in words of several lengths.
BOOST_AUTO_TEST_CASE(gathering_rows_of_every_length) {
  std::mt19937 rng(6);
  for (std::int64_t q = 1; q < 600; ++q) {
    Take take(Dtype::uint8, Dtype::int64, 1, 11, 30, q, Layout::c_order, rng);
    nd::executor(Device::Kind::cpu).execute(take.call(), {});
    bool good = true;
    Strided::for_each(take.loop, [&](const Shape& i) {
      good = good && take.other.get(i) == take.base.get({i[0], take.at(i), i[2]});
    });
    BOOST_TEST(good, q);
  }
}

// Lines and short rows that several threads share, from an axis that the cache of a core holds and from a longer one.
BOOST_AUTO_TEST_CASE(gathering_long_lines) {
  std::mt19937 rng(5);
  const int before = max_threads();
  set_max_threads(3);
  for (Dtype t : {Dtype::uint8, Dtype::float64})
    for (Dtype it : {Dtype::int32, Dtype::int64})
      for (std::int64_t length : {50, 200000})
        for (std::int64_t q : {1, 2, 3}) {
          Take take(t, it, 1, length, 40003, q, Layout::c_order, rng);
          nd::executor(Device::Kind::cpu).execute(take.call(), {});
          bool good = true;
          Strided::for_each(take.loop, [&](const Shape& i) {
            good = good && take.other.get(i) == take.base.get({i[0], take.at(i), i[2]});
          });
          BOOST_TEST(good, t << ' ' << it << ' ' << length << ' ' << q);
        }
  set_max_threads(before);
}

BOOST_AUTO_TEST_CASE(scattering) {
  std::mt19937 rng(2);
  const int before = max_threads();
  for (Dtype t : test::all_dtypes())
    for (ScatterMode mode : {ScatterMode::set, ScatterMode::add})
      for (Layout l : test::kWritableLayouts)
        // Among them many rows, each of which belongs to one of two threads.
        for (auto [p, n, q] :
             {std::tuple{1, 30, 1}, {3, 30, 1}, {1, 30, 40}, {2, 30, 5}, {3, 30, 3000}, {1, 600, 91}}) {
          set_max_threads(1 + q % 2);
          Take take(t, Dtype::int32, p, 11, n, q, l, rng);
          Strided expected = take.base.copy();
          Strided::for_each(take.loop, [&](const Shape& i) {
            const Shape to{i[0], take.at(i), i[2]};
            const double v = take.other.get(i);
            if (mode == ScatterMode::set) expected.set(to, v);
            else if (t == Dtype::bool_) expected.set(to, expected.get(to) != 0 || v != 0);
            else if (is_floating(t)) expected.set(to, expected.get(to) + v);
            else Scalar(std::int64_t(expected.get(to)) + std::int64_t(v)).store(t, expected.at(to));
          });
          nd::executor(Device::Kind::cpu).execute(catena::bound::Scatter{take.call(), mode}, {});
          BOOST_TEST(expected.same_bits(take.base.copy()),
                     t << ' ' << int(mode) << ' ' << name_of(l) << ' ' << p << ' ' << n << ' ' << q);
        }
  set_max_threads(before);
}

BOOST_AUTO_TEST_CASE(two_index_arrays_that_broadcast) {
  std::mt19937 rng(3);
  Strided base(Dtype::float32, {6, 7}), rows(Dtype::int64, {4}), columns(Dtype::int16, {5}),
      out(Dtype::float32, {4, 5});
  base.fill(rng);
  for (int i = 0; i < 4; ++i) rows.set({i}, 3 * i - 5);
  for (int i = 0; i < 5; ++i) columns.set({i}, 2 * i - 4);
  const Shape loop{4, 5};
  const Strides none{0, 0}, of_rows{8, 0}, of_columns{0, 2};
  catena::bound::Index axes[2] = {{rows.operand(), 6, base.strides[0]}, {columns.operand(), 7, base.strides[1]}};
  axes[0].index.strides = &of_rows;
  axes[1].index.strides = &of_columns;
  BoundOperand b = base.operand();
  b.strides = &none;
  nd::executor(Device::Kind::cpu).execute(catena::bound::Gather{loop, b, axes, out.operand()}, {});
  Strided::for_each(loop, [&](const Shape& i) {
    BOOST_TEST(out.get(i) == base.get({wrap(3 * i[0] - 5, 6), wrap(2 * i[1] - 4, 7)}));
  });
}

// One integer for a long list of positions, which threads count: sums wrap as those of one addition after another.
BOOST_AUTO_TEST_CASE(one_integer_at_many_positions) {
  constexpr std::int64_t n = 50021;
  std::mt19937 rng(11);
  const int before = max_threads();
  for (int threads : {1, 3})
    for (Dtype t : {Dtype::int8, Dtype::uint16, Dtype::int32, Dtype::uint64})
      for (Dtype it : kIndexDtypes)
        for (std::int64_t length : it == Dtype::int32 ? Shape{1, 100, 4100, 30000, 60000} : Shape{100})
          for (std::int64_t step = 1; step <= (t == Dtype::int32 ? 2 : 1); ++step) {
            set_max_threads(threads);
            Strided base(t, {length}), index(it, {n * step});
            base.fill(rng);
            const bool is_signed = kind_of(it) == DtypeKind::signed_;
            const std::int64_t most = std::min<std::int64_t>(2 * length, itemsize(it) == 1 ? 100 : 30000);
            std::uniform_int_distribution<std::int64_t> d(is_signed ? -most : 0, most);
            std::vector<std::uint64_t> times(std::size_t(length), 0);
            for (std::int64_t i = 0; i < n * step; ++i) {
              const std::int64_t v = d(rng);
              index.set({i}, double(v));
              if (i % step == 0) ++times[std::size_t(wrap(v, length))];
            }
            const Strided old = base.copy();
            const Shape loop{n};
            const Strides zero{0}, along{step * std::int64_t(itemsize(it))};
            ScalarCell value(Scalar(is_signed ? 7 : 100), t);
            catena::bound::Index axis{index.operand(), length, base.strides[0]};
            axis.index.strides = &along;
            BoundOperand b = base.operand();
            b.strides = &zero;
            nd::executor(Device::Kind::cpu)
                .execute(catena::bound::Scatter{{loop, b, {&axis, 1}, {value.bytes, t, true, &loop, &zero}},
                                                ScatterMode::add},
                         {});
            Strided expected = old.copy();
            for (std::int64_t k = 0; k < length; ++k)
              Scalar(std::int64_t(old.get({k})) + std::int64_t(times[std::size_t(k)]) * (is_signed ? 7 : 100))
                  .store(t, expected.at({k}));
            BOOST_TEST(expected.same_bits(base), t << ' ' << it << ' ' << length << ' ' << step << ' ' << threads);
          }
  set_max_threads(before);
}

BOOST_AUTO_TEST_CASE(repeated_values_and_empty_loops) {
  Strided base(Dtype::int32, {4}), index(Dtype::int64, {6});
  for (int i = 0; i < 4; ++i) base.set({i}, 0);
  for (int i = 0; i < 6; ++i) index.set({i}, i % 3);
  Shape loop{6};
  const Strides zero{0}, step{8};
  ScalarCell one(Scalar(1), Dtype::int32);
  catena::bound::Index axis{index.operand(), 4, 4};
  axis.index.strides = &step;
  BoundOperand b = base.operand();
  b.strides = &zero;
  const BoundOperand value{one.bytes, Dtype::int32, true, &loop, &zero};
  nd::executor(Device::Kind::cpu).execute(catena::bound::Scatter{{loop, b, {&axis, 1}, value}, ScatterMode::add}, {});
  for (int i = 0; i < 4; ++i) BOOST_TEST(base.get({i}) == (i < 3 ? 2 : 0));
  axis.length = 0;
  BOOST_CHECK_THROW(nd::executor(Device::Kind::cpu).execute(catena::bound::Gather{loop, b, {&axis, 1}, value}, {}),
                    IndexError);
  loop = {0};
  nd::executor(Device::Kind::cpu).execute(catena::bound::Gather{loop, b, {&axis, 1}, value}, {});
}

}  // namespace
