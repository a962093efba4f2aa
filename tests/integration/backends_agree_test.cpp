// The same calls on the reference backend and on ndarray: equal elements, equal dtypes, equal shapes. Operands move
// between them.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>

#include <catena/autograd/backend/backend.h>
#include <catena/catena.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/tests/support/backend_calls.h>
#include <catena/tests/support/ndarray_values.h>
#include <catena/tests/support/reference_backend.h>

using namespace autograd;
using catena::KernelDef;
using catena::KernelKind;

namespace {

Array to_reference(const Array& a) {
  std::vector<std::byte> bytes(std::size_t(a.size()) * catena::itemsize(a.dtype()));
  to_host(a, bytes.data());
  return test::reference_backend().from_host(bytes.data(), a.shape(), a.dtype(), {});
}

void check_same(const Array& a, const Array& b, double tolerance) {
  BOOST_TEST(a.shape() == b.shape());
  BOOST_TEST((a.dtype() == b.dtype()));
  if (!(a.shape() == b.shape())) return;
  const std::vector<double> x = to_vector<double>(a), y = to_vector<double>(b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool same = x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])) ||
                      std::abs(x[i] - y[i]) <= tolerance * (1 + std::abs(y[i]));
    BOOST_TEST(same, "element " << i << ": " << x[i] << " and " << y[i]);
    if (!same) return;
  }
}

Generator generator{3, 0};
Array random(const Shape& shape, Dtype t) {
  // Values that every dtype holds, 0 among them.
  return astype(astype(random_uniform(shape, 0, 7, Dtype::float64, generator), Dtype::int64), t);
}

// The layouts in which an operand of a shape may come: packed, transposed, reversed, every second, broadcast.
std::vector<std::function<Array(Dtype)>> layouts() {
  return {
      [](Dtype t) {
        return random({3, 40, 5}, t);
      },
      [](Dtype t) {
        return transpose(random({5, 40, 3}, t));
      },
      [](Dtype t) {
        return slice(random({3, 40, 5}, t), 1, 39, -41, -1);
      },
      [](Dtype t) {
        return slice(slice(random({6, 40, 9}, t), 0, 0, 6, 2), 2, 0, 9, 2);
      },
      [](Dtype t) {
        return transpose(random({3, 5, 40}, t), Dims{0, 2, 1});
      },
      [](Dtype t) {
        return broadcast_to(random({40, 1}, t), {3, 40, 5});
      },
      [](Dtype t) { return random({5}, t); },
      [](Dtype t) { return random({}, t); },
  };
}
// The same view of a copy on the reference backend.
Array same_view(const Array& a) {
  if (a.size() == 0) return to_reference(a);
  const catena::ByteRange range = catena::byte_range(a.shape(), a.strides(), catena::itemsize(a.dtype()));
  const std::int64_t item = std::int64_t(catena::itemsize(a.dtype()));
  const Array whole(catena::make_header(a->storage, a->data + range.begin, a.dtype(),
                                        {(range.end - range.begin) / item}, {item}, a.device(), a->owner));
  return test::reference_backend().view(to_reference(whole), a.shape(), a.strides(), -range.begin);
}

constexpr Dtype kDtypes[] = {Dtype::bool_,   Dtype::int8,     Dtype::uint16,  Dtype::int64,
                             Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64};

}  // namespace

BOOST_AUTO_TEST_SUITE(backends_agree)

BOOST_AUTO_TEST_CASE(binding_of_two_operands) {
  const KernelDef* kernels[] = {&catena::kernels::add, &catena::kernels::multiply, &catena::kernels::maximum,
                                &catena::kernels::less, &catena::kernels::true_divide};
  const auto all = layouts();
  std::size_t number = 0;
  test::Turns turns("pairs of layouts and a dtype");
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < all.size(); ++j)
      for (Dtype ta : kDtypes) {
        const std::size_t n = number++;
        if (!turns.count((i + j + n) % 4 == 0)) continue;        // two dtypes of each pair of layouts
        const Dtype tb = kDtypes[(n + j) % std::size(kDtypes)];  // all pairs of dtypes
        const KernelDef& k = *kernels[n % std::size(kernels)];
        const Array a = all[i](ta), b = all[j](tb);
        BOOST_TEST_CONTEXT(k.name << " layouts " << i << ", " << j << " of " << ta << ", " << tb) {
          check_same(apply(k, {a, b}), apply(k, {same_view(a), same_view(b)}), 0);
        }
      }
}

BOOST_AUTO_TEST_CASE(assignments_between_layouts_and_dtypes) {
  const auto all = layouts();
  test::Turns turns("pairs of layouts and a dtype");
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < all.size(); ++j)
      for (Dtype to : kDtypes) {
        if (!turns.count((j + std::size_t(to)) % 4 == 0)) continue;  // still all pairs of dtypes
        const Array a = all[i](to), b = all[j](kDtypes[(i + j) % std::size(kDtypes)]);
        const Array ra = same_view(a);
        BOOST_TEST_CONTEXT("layouts " << i << ", " << j << " to " << to) {
          assign(a, b);
          assign(ra, same_view(b));
          check_same(a, ra, 0);
        }
      }
}

BOOST_AUTO_TEST_CASE(transcendental_rows_do_not_depend_on_layout) {
  for (Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64})
    for (const auto& make : layouts()) {
      const Array a = make(t);
      // The two backends share their loops on the CPU only.
      const double ulps = a.device().kind == autograd::Device::Kind::cpu ? 0
                          : t == Dtype::float64                          ? 4e-16
                          : t == Dtype::float32                          ? 4e-7
                          : t == Dtype::float16                          ? 1e-3
                                                                         : 8e-3;
      check_same(apply(catena::kernels::exp, {a}), apply(catena::kernels::exp, {same_view(a)}), ulps);
      check_same(apply(catena::kernels::tanh, {a}), apply(catena::kernels::tanh, {copy(a)}), 0);
    }
}

BOOST_AUTO_TEST_CASE(reductions) {
  const Axes axes[] = {Axes(), 0, 1, 2, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}, Dims{}};
  const KernelDef* kernels[] = {&catena::kernels::sum,    &catena::kernels::mean, &catena::kernels::amax,
                                &catena::kernels::argmin, &catena::kernels::any,  &catena::kernels::prod};
  const auto all = layouts();
  test::Turns turns("dtypes of a layout, axes and a kernel");
  std::size_t number = 0;
  for (std::size_t i = 0; i < 6; ++i)
    for (const Axes& axis : axes)
      for (const KernelDef* k : kernels)
        for (Dtype t : {Dtype::uint16, Dtype::float16, Dtype::float32, Dtype::float64}) {
          const std::size_t at = number++;
          if (!turns.count((at + at / 4 + at / 24) % 4 == 0)) continue;  // one dtype, another one for the next kernel
          Array a = all[i](t);
          if (k == &catena::kernels::prod) a = a * 0.001;
          // The order of summation may differ.
          const double tolerance = t == Dtype::float16 ? 2e-3 : t == Dtype::float32 ? 1e-5 : 1e-12;
          BOOST_TEST_CONTEXT(k->name << " layout " << i << " of " << t << " over " << axis.values()) {
            check_same(reduce(*k, a, axis, i % 2 == 1), reduce(*k, same_view(a), axis, i % 2 == 1), tolerance);
          }
        }
}

BOOST_AUTO_TEST_CASE(scans_and_sorts) {
  const KernelDef* kernels[] = {&catena::kernels::sum, &catena::kernels::prod, &catena::kernels::amax,
                                &catena::kernels::argmin};
  const auto all = layouts();
  Backend& reference = test::reference_backend();
  test::Turns turns("dtypes of a layout and an axis");
  std::size_t number = 0;
  for (std::size_t i = 0; i < 6; ++i)
    for (Dtype t : {Dtype::bool_, Dtype::int8, Dtype::uint16, Dtype::float16, Dtype::float64})
      for (int axis : {0, 1, 2}) BOOST_TEST_CONTEXT("layout " << i << " of " << t << " along " << axis) {
          if (const std::size_t at = number++; !turns.count((at + at / 3) % 3 == 0)) continue;
          const Array a = all[i](t), same = same_view(a);
          for (const KernelDef* k : kernels) {
            const Input input(*a.get());
            const int loop = catena::choose_loop(*k, {&input, 1});
            const Dtype result = k->loop_table[loop].type[1];
            const Array x = arrays::empty(a.shape(), result), y = reference.empty(a.shape(), result, {});
            test::calls::scan(*k, loop, a, axis, x);
            test::calls::scan(*k, loop, same, axis, y);
            check_same(x, y, t == Dtype::float16 ? 2e-3 : 1e-12);
          }
          for (const bool positions : {true, false}) {
            const Dtype result = positions ? Dtype::int64 : t;
            const Array x = arrays::empty(a.shape(), result), y = reference.empty(a.shape(), result, {});
            test::calls::sort(a, axis, positions, x);
            test::calls::sort(same, axis, positions, y);
            check_same(x, y, 0);
            if (positions || i == 5) continue;
            test::calls::sort(a, axis, false, a);  // in place
            check_same(a, y, 0);
          }
        }
}

BOOST_AUTO_TEST_CASE(positions_of_nonzero_elements) {
  const auto all = layouts();
  Backend& reference = test::reference_backend();
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    for (Dtype t : kDtypes) {
      const Array a = all[i](t), same = same_view(a);
      const std::int64_t count = to_vector<std::int64_t>(reduce(catena::kernels::count_nonzero, a, Axes(), false))[0];
      const Shape shape{a.ndim(), count};
      const Array x = arrays::empty(shape, Dtype::int64), y = reference.empty(shape, Dtype::int64, {});
      test::calls::nonzero(a, x);
      test::calls::nonzero(same, y);
      BOOST_TEST_CONTEXT("layout " << i << " of " << t) { check_same(x, y, 0); }
    }
}

BOOST_AUTO_TEST_CASE(row_kernels) {
  const auto all = layouts();
  test::Turns turns("dtypes of a layout and axes");
  std::size_t number = 0;
  for (std::size_t i = 0; i < 6; ++i)
    for (const Dims& axes : {Dims{0}, Dims{1}, Dims{2}, Dims{0, 2}, Dims{0, 1, 2}})
      for (Dtype t : {Dtype::float16, Dtype::float32, Dtype::float64}) {
        if (const std::size_t at = number++; !turns.count((at + at / 3) % 3 == 0)) continue;
        const Array a = all[i](t);
        const double tolerance = t == Dtype::float16 ? 2e-3 : t == Dtype::float32 ? 1e-5 : 1e-12;
        const Shape per_row = catena::reduced_shape(a.shape(), axes, true);
        const Array gamma = random(per_row, t), beta = random(per_row, t);
        BOOST_TEST_CONTEXT("layout " << i << " of " << t << " over " << axes) {
          check_same(row_wise(catena::kernels::softmax, {{a}}, axes)[0],
                     row_wise(catena::kernels::softmax, {{same_view(a)}}, axes)[0], tolerance);
          const Operand here[] = {a, gamma, beta, 1e-3},
                        there[] = {same_view(a), to_reference(gamma), to_reference(beta), 1e-3};
          const Arrays x = row_wise(catena::kernels::batch_norm_fwd, here, axes),
                       y = row_wise(catena::kernels::batch_norm_fwd, there, axes);
          for (std::size_t k = 0; k < 4; ++k) check_same(x[k], y[k], k == 0 ? 4 * tolerance : 1e-4);
        }
      }
}

BOOST_AUTO_TEST_CASE(products) {
  for (Dtype t : {Dtype::int32, Dtype::float16, Dtype::float32, Dtype::float64})
    for (const auto& [sa, sb] : {std::pair<Shape, Shape>{{7, 9}, {9, 5}},
                                 {{2, 7, 9}, {9, 5}},
                                 {{2, 1, 7, 9}, {3, 9, 1}},
                                 {{1, 1}, {1, 1}},
                                 {{1, 64}, {64, 33}}}) {
      const Array a = random(sa, t), b = random(sb, t);
      check_same(matmul(a, b), matmul(to_reference(a), to_reference(b)), t == Dtype::float16 ? 1e-3 : 1e-5);
      check_same(matmul(copy(swapaxes(a, -1, -2)), copy(swapaxes(b, -1, -2)), true, true),
                 matmul(to_reference(a), to_reference(b)), t == Dtype::float16 ? 1e-3 : 1e-5);
    }
}

BOOST_AUTO_TEST_CASE(random_numbers_are_the_same_ones) {
  for (Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
    Generator g{99, 5}, same = g;
    const Array a = random_uniform({1001}, 0, 1, t, g);
    const Array b = test::reference_backend().empty({1001}, t, {});
    test::calls::random(catena::RandomKind::uniform, 99, same.take(1001), 0, 0, b);
    check_same(a, b, 0);
    BOOST_TEST(g.offset == same.offset);
    const Array c = arrays::empty({1001}, t), d = test::reference_backend().empty({1001}, t, {});
    test::calls::random(catena::RandomKind::normal, 4, 2, 0, 0, c);
    test::calls::random(catena::RandomKind::normal, 4, 2, 0, 0, d);
    check_same(c, d, t == Dtype::float64 ? 1e-14 : 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(gathers_and_scatters) {
  for (Dtype t : kDtypes) {
    const Array a = random({6, 4, 5}, t), index = random({3, 2}, Dtype::int32) - 3;
    for (int axis : {0, 1, 2}) check_same(take(a, index, axis), take(to_reference(a), to_reference(index), axis), 0);
    const Array view = transpose(a), values = random({3, 2, 4, 6}, Dtype::int32);
    const Array ra = to_reference(a);
    const Array i4 = reshape(index, {3, 2, 1, 1}), ri4 = to_reference(i4);
    for (auto mode : {catena::ScatterMode::add, catena::ScatterMode::set}) {
      const Array distinct = reshape(array<int>({0, 1, 2, 3, 4, -1}, {6}), {6, 1, 1});
      test::calls::scatter(mode, a, {&distinct, 1}, {0}, {6, 4, 5}, {-1, 1, 2}, Scalar(1));
      const Array rd = to_reference(distinct);
      test::calls::scatter(mode, ra, {&rd, 1}, {0}, {6, 4, 5}, {-1, 1, 2}, Scalar(1));
      check_same(a, ra, 0);
    }
    test::calls::scatter(catena::ScatterMode::add, view, {&i4, 1}, {0}, {3, 2, 4, 6}, {-1, -1, 1, 2}, *values.get());
    const Array rview = transpose(ra), rvalues = to_reference(values);
    test::calls::scatter(catena::ScatterMode::add, rview, {&ri4, 1}, {0}, {3, 2, 4, 6}, {-1, -1, 1, 2}, *rvalues.get());
    check_same(a, ra, 0);
  }
}

BOOST_AUTO_TEST_CASE(operands_of_two_backends_are_refused) {
  const Array a = arrays::ones({2}), b = to_reference(a);
  BOOST_CHECK_EXCEPTION(a + b, catena::ValueError, [](const catena::ValueError& e) {
    return std::string(e.what()) ==
           "add: arrays of ndarray and of reference do not go together; copy_across moves elements";
  });
  copy_across(b, a * 3);
  BOOST_TEST(to_vector<float>(b) == std::vector<float>(2, 3.f));
  copy_across(a, b);
  BOOST_TEST(to_vector<float>(a) == std::vector<float>(2, 3.f));
}

BOOST_AUTO_TEST_SUITE_END()
