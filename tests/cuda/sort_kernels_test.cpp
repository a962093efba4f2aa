// Sorting and division by pivots: executed on the CPU from their generated text in three thread orders, against brute
// force.
#include <catena/tests/cuda/structural_kernels.h>

#include <cmath>

using namespace cuda_device;
using nd::cuda::Form;

namespace {

// Both outputs, against std::stable_sort with NaN behind everything.
void check_sort(HostArray in, int axis, std::size_t launches, HostArray* view = nullptr,
                std::span<const Order> orders = kOrders, std::int64_t longest = std::int64_t(1) << 30) {
  Shape kept = in.shape;
  const std::int64_t count = kept[axis], item = std::int64_t(catena::itemsize(in.dtype));
  kept[axis] = 1;
  for (bool positions : {false, true}) {
    HostArray out = view != nullptr && !positions ? *view : make_array(positions ? Dtype::int64 : in.dtype, in.shape);
    HostArray expected = out;
    for (std::int64_t r = 0; r < catena::size_of(kept); ++r) {
      std::vector<std::pair<double, std::int64_t>> row;
      for (std::int64_t i = 0; i < count; ++i)
        row.push_back({number(in.dtype, element(in, kept, r) + i * in.strides[axis]), i});
      std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) {
        return std::isnan(a.first) || std::isnan(b.first) ? !std::isnan(a.first) : a.first < b.first;
      });
      for (std::int64_t i = 0; i < count; ++i) {
        std::byte* to = element(expected, kept, r) + i * out.strides[axis];
        const std::int64_t from = row[std::size_t(i)].second;
        if (positions) std::memcpy(to, &from, 8);
        else std::memcpy(to, element(in, kept, r) + from * in.strides[axis], std::size_t(item));
      }
    }
    for (Order order : orders) {
      HostArray actual = out;
      const nd::cuda::Sequence plan =
          nd::cuda::plan_sort({in.operand(), axis, positions, actual.operand()}, kProcessors, longest);
      BOOST_CHECK_EQUAL(plan.launches.size(), launches);
      run_sequence(plan, order);
      BOOST_CHECK_MESSAGE(actual.content() == expected.content(), (positions ? "argsort" : "sort")
                                                                      << " of " << catena::name_of(in.dtype) << " "
                                                                      << in.shape << " along axis " << axis
                                                                      << " differs in order " << int(order));
    }
  }
}

// Both signs, many equal values, both zeros, infinities and NaN of several payloads.
HostArray mixed(Dtype t, const Shape& shape, unsigned seed) {
  HostArray a = small_integers(t, shape, seed, 50);
  std::mt19937 random(seed);
  const auto item = std::int64_t(catena::itemsize(t));
  for (std::int64_t i = 0; i < catena::size_of(shape); ++i) {
    std::byte* at = a.data() + i * item;
    if (catena::is_integer(t)) {
      if (i % 2 == 0)
        for (std::int64_t b = 0; b < item; ++b) at[b] = std::byte(random());
    } else if (catena::is_floating(t)) {
      constexpr double inf = std::numeric_limits<double>::infinity();
      const double special[] = {-0.0, 0.0, inf, -inf, std::numeric_limits<double>::quiet_NaN(), 0.37};
      if (i % 3 == 0) catena::Scalar(special[random() % 6]).store(t, at);
      if (std::isnan(number(t, at)) && i % 2 == 0) at[0] = std::byte(i % 5 + 1);
      if (std::isnan(number(t, at)) && i % 4 == 0) at[item - 1] |= std::byte(0x80);
    }
  }
  return a;
}

}  // namespace

BOOST_AUTO_TEST_CASE(sorting) {
  constexpr Dtype f = Dtype::float32;
  for (Dtype t : kAll) {
    check_sort(mixed(t, {3, 300}, 1), 1, 1);
    check_sort(mixed(t, {2100}, 2), 0, 2 + catena::itemsize(t), nullptr, std::span(kOrders).last(1));
  }
  for (std::int64_t n : {1, 2, 3, 31, 1024, 1025, 2047, 2048}) check_sort(mixed(f, {n}, 1), 0, 1);
  check_sort(mixed(f, {0}, 1), 0, 0);
  check_sort(mixed(f, {0, 3}, 1), 1, 0);
  check_sort(mixed(f, {700, 5}, 1), 1, 1);  // many short rows per block
  check_sort(mixed(f, {90, 33}, 1), 0, 1);
  check_sort(mixed(f, {4, 3, 5, 2, 3, 2}, 1), 2, 1);
  HostArray view = transposed(make_array(f, {40, 3}), {1, 0});
  check_sort(mixed(f, {3, 40}, 1), 1, 1, &view);
}

BOOST_AUTO_TEST_CASE(sorting_in_place) {
  const Shape shape{3, 700};
  HostArray x = mixed(Dtype::float32, shape, 1);
  for (Order order : kOrders) {
    HostArray same = x, out = make_array(Dtype::float32, shape);
    run_sequence(nd::cuda::plan_sort({same.operand(), 1, false, same.operand()}, kProcessors), order);
    run_sequence(nd::cuda::plan_sort({x.operand(), 1, false, out.operand()}, kProcessors), order);
    BOOST_CHECK(std::memcmp(same.data(), out.data(), std::size_t(catena::size_of(shape)) * 4) == 0);
  }
}

BOOST_AUTO_TEST_CASE(sorting_of_long_rows) {
  constexpr Dtype f = Dtype::float32, i = Dtype::int32, l = Dtype::int64;
  constexpr std::int64_t piece = catena::device::kSortPiece;
  const std::span<const Order> shuffled = std::span(kOrders).last(1);
  for (std::int64_t n : {std::int64_t(2049), piece - 1, piece, piece + 1, 2 * piece, 11 * piece + 5})
    check_sort(mixed(f, {n}, unsigned(n)), 0, 6);
  check_sort(mixed(l, {3 * piece + 7}, 3), 0, 10, nullptr, shuffled);
  check_sort(mixed(Dtype::uint8, {20000}, 1), 0, 3);
  check_sort(mixed(Dtype::bool_, {20000}, 1), 0, 3);
  // Several rows, along an inner and along an outer axis, backwards, and into a view.
  check_sort(mixed(f, {3, 2 * piece + 100}, 1), 1, 6, nullptr, shuffled);
  check_sort(mixed(Dtype::int16, {2, 3000, 2}, 1), 1, 4);
  check_sort(mixed(Dtype::float16, {4500, 3}, 1), 0, 4, nullptr, shuffled);
  HostArray backwards = mixed(f, {5000}, 4);
  backwards.offset += 4999 * 4;
  backwards.strides[0] = -4;
  check_sort(backwards, 0, 6, nullptr, shuffled);
  HostArray view = transposed(make_array(f, {5000, 2}), {1, 0});
  check_sort(mixed(f, {2, 5000}, 1), 1, 6, &view, shuffled);
  // Wide states, as rows of 2^30 elements have.
  check_sort(mixed(f, {5 * piece + 5}, 6), 0, 6, nullptr, kOrders, 1);

  // Rows that differ in some digits only, each row in others; the digits in between are not moved.
  for (Dtype t : {i, l}) {
    HostArray a = make_array(t, {9, 5000});
    const int digits = int(catena::itemsize(t));
    std::mt19937 random(7);
    for (int row = 0; row < 9; ++row)
      for (int k = 0; k < 5000; ++k) {
        std::uint64_t v = 0x0102030405060708u;
        // Multiples of 32, because the expected order is that of float64.
        if (row < digits) v ^= std::uint64_t(random() % 8 * 32) << 8 * row;  // one digit
        if (row == 8)
          v ^= random() % 8 * 32 | std::uint64_t(random() % 3) << 8 * (digits - 1);  // the first and the last
        std::memcpy(a.data() + (row * 5000 + k) * digits, &v, std::size_t(digits));
      }
    check_sort(a, 1, 2 + std::size_t(digits), nullptr, shuffled);
  }
  HostArray equal = make_array(f, {6000});  // every byte is 0xcd
  check_sort(equal, 0, 6);
}

// ---- division by pivots -------------------------------------------------------------------------
namespace {

// Values and positions in each order of threads, against the sorted row: every element stands once, those at kth are
// the ones of the sorted row, and no element stands on the wrong side of them. NaN stands last.
void check_partition(HostArray in, int axis, std::vector<std::int64_t> kth, std::size_t launches,
                     std::span<const Order> orders = std::span(kOrders).last(1)) {
  Shape kept = in.shape;
  const std::int64_t count = kept[axis];
  kept[axis] = 1;
  const auto less = [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? !std::isnan(a) && std::isnan(b) : a < b;
  };
  std::string first[2];
  for (Order order : orders)
    for (bool positions : {false, true}) {
      HostArray out = make_array(positions ? Dtype::int64 : in.dtype, in.shape);
      const nd::cuda::Sequence plan =
          nd::cuda::plan_sort({in.operand(), axis, positions, out.operand(), kth}, kProcessors);
      BOOST_CHECK_EQUAL(plan.launches.size(), launches);
      run_sequence(plan, order);
      std::string& content = first[positions];
      if (content.empty()) content = out.content();
      BOOST_CHECK_MESSAGE(content == out.content(), "the result depends on the order of threads");
      for (std::int64_t r = 0; r < catena::size_of(kept); ++r) {
        std::vector<double> row, result;
        std::vector<bool> seen(std::size_t(count), false);
        for (std::int64_t i = 0; i < count; ++i) {
          row.push_back(number(in.dtype, element(in, kept, r) + i * in.strides[axis]));
          const std::byte* at = element(out, kept, r) + i * out.strides[axis];
          std::int64_t from = 0;
          if (positions) std::memcpy(&from, at, 8);
          BOOST_REQUIRE(from >= 0 && from < count && !seen[std::size_t(from)]);
          seen[std::size_t(from)] = positions;
          result.push_back(positions ? number(in.dtype, element(in, kept, r) + from * in.strides[axis])
                                     : number(in.dtype, at));
        }
        std::vector<double> sorted = row, again = result;
        std::sort(sorted.begin(), sorted.end(), less);
        std::sort(again.begin(), again.end(), less);
        const auto same = [&](double a, double b) { return !less(a, b) && !less(b, a); };
        BOOST_REQUIRE(std::equal(sorted.begin(), sorted.end(), again.begin(), same));
        for (const std::int64_t k : kth) {
          BOOST_REQUIRE(same(result[std::size_t(k)], sorted[std::size_t(k)]));
          for (std::int64_t i = 0; i < count; ++i)
            BOOST_REQUIRE(i < k ? !less(result[std::size_t(k)], result[std::size_t(i)])
                                : !less(result[std::size_t(i)], result[std::size_t(k)]));
        }
        const auto nan = std::find_if(result.begin(), result.end(), [](double v) { return std::isnan(v); });
        BOOST_REQUIRE(std::all_of(nan, result.end(), [](double v) { return std::isnan(v); }));
      }
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(division_by_pivots) {
  constexpr Dtype f = Dtype::float32, l = Dtype::int64;
  constexpr std::int64_t piece = catena::device::kSortPiece;
  for (Dtype t : {Dtype::bool_, Dtype::int8, Dtype::uint16, Dtype::float16, f, l})
    for (std::int64_t k : {0, 1000, 2599}) check_partition(mixed(t, {2600}, 3), 0, {k}, 2 + catena::itemsize(t));
  check_partition(mixed(f, {2048}, 1), 0, {7}, 1);  // rows that fit a block are sorted
  for (std::int64_t n : {std::int64_t(2049), piece, piece + 1, 5 * piece + 3})
    check_partition(mixed(f, {n}, unsigned(n)), 0, {n / 2}, 6, kOrders);
  check_partition(mixed(f, {3, 2 * piece + 9}, 1), 1, {0, 1, 4000, 2 * piece + 8}, 6, kOrders);
  check_partition(mixed(Dtype::uint16, {2, 3000, 2}, 1), 1, {1499, 1500}, 4);
  check_partition(random_array(l, {9000}, 2), 0, {50}, 10);
  // As many pivots as a launch takes, and one more, after which the rows are sorted.
  std::vector<std::int64_t> many{1, 2, 3, 700, 701, 4000, 4500, 4999};
  check_partition(mixed(l, {5000}, 5), 0, many, 10);
  many.insert(many.begin(), 0);
  check_partition(mixed(l, {5000}, 5), 0, many, 10);
  // Few values: pivots are equal to each other, and to most elements.
  check_partition(small_integers(f, {9000}, 1), 0, {100, 3000, 3001, 8000}, 6);
  HostArray equal = make_array(f, {6000});
  check_partition(equal, 0, {0, 17}, 6);
  // Only NaN, and NaN in one of two rows.
  HostArray nan = make_array(f, {2, 3000});
  for (int k = 0; k < 6000; ++k) nan.as<float>()[k] = std::numeric_limits<float>::quiet_NaN();
  check_partition(nan, 1, {5}, 6);
  for (int k = 0; k < 3000; ++k) nan.as<float>()[k] = float((k * 37) % 3000);
  nan.as<float>()[5] = nan.as<float>()[1700] = std::numeric_limits<float>::quiet_NaN();
  check_partition(nan, 1, {1499, 1500}, 6);
}
