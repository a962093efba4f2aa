// Differentiable functions that move elements.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <limits>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;
using test::spread;

namespace {

const test::DerivativeOptions kExact{.atol32 = 0, .rtol32 = 1e-6, .atol16 = 1e-3};

std::vector<double> numbers(const Variable& v) { return to_vector<double>(v.data()); }

using Index = std::vector<std::int64_t>;

// An array whose elements are given by their indices.
Array made(const Shape& shape, const std::function<double(const Index&)>& value) {
  std::vector<double> v;
  Index at(std::size_t(shape.size()), 0);
  for (std::int64_t n = catena::size_of(shape); n > 0; --n) {
    v.push_back(value(at));
    for (int k = shape.size() - 1; k >= 0 && ++at[std::size_t(k)] == shape[k]; --k) at[std::size_t(k)] = 0;
  }
  return array(v, shape);
}
// The elements of an array by their indices.
class Elements {
 public:
  explicit Elements(const Array& a) : shape_(a.shape()), values_(to_vector<double>(a)) {}
  double operator()(const Index& at) const {
    std::int64_t position = 0;
    for (int k = 0; k < shape_.size(); ++k) position = position * shape_[k] + at[std::size_t(k)];
    return values_.at(std::size_t(position));
  }

 private:
  Shape shape_;
  std::vector<double> values_;
};

// Whether the function of x, in every kind of dtype, is the array `expected` in that dtype.
void check_values(const std::string& name, const std::function<Variable(const Variable&)>& f, const Array& x,
                  const Array& expected, bool floating_only = false) {
  for (const Dtype t :
       {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::int32, Dtype::uint8, Dtype::bool_}) {
    if (floating_only && !catena::is_floating(t)) continue;
    BOOST_TEST_CONTEXT(name << " of " << catena::name_of(t)) {
      const Variable y = f(Variable(astype(x, t)));
      BOOST_CHECK(y.dtype() == t);
      BOOST_CHECK_EQUAL(y.shape(), expected.shape());
      BOOST_TEST(numbers(y) == to_vector<double>(astype(astype(expected, t), Dtype::float64)),
                 boost::test_tools::per_element());
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(array_functions)

BOOST_AUTO_TEST_CASE(derivatives) {
  const Array x = spread({2, 3, 4}), y = spread({2, 2, 4}, -1, 1, 1), row = spread({4}, -1, 1, 2);
  const auto one = [](auto f) { return [f](const Variables& v) { return Variables{f(v)}; }; };
  const Array indices = array<std::int64_t>({2, 0, 2, -1}, {4}), pairs = array<std::int32_t>({0, 1, 1, 1}, {2, 2});
  test::check_derivatives("reshape", one([](const Variables& v) { return reshape(v[0], {4, -1}); }), {x}, kExact);
  test::check_derivatives("transpose", one([](const Variables& v) { return transpose(v[0]); }), {x}, kExact);
  test::check_derivatives("transpose axes", one([](const Variables& v) {
                            return transpose(v[0], Dims{1, -1, 0});
                          }),
                          {x}, kExact);
  test::check_derivatives("broadcast_to", one([](const Variables& v) {
                            return broadcast_to(v[0], {2, 3, 4});
                          }),
                          {row}, kExact);
  test::check_derivatives(
      "broadcast", [](const Variables& v) { return broadcast(v); }, {x, row}, kExact);
  test::check_derivatives("concat", one([](const Variables& v) { return concat(v, 1); }), {x, y}, kExact);
  test::check_derivatives("concat of one", one([](const Variables& v) { return concat(v, -1); }), {x}, kExact);
  test::check_derivatives("get_item slices", one([](const Variables& v) {
                            return get_item(v[0], {ellipsis, Slice({}, {}, -2)});
                          }),
                          {x}, kExact);
  test::check_derivatives("get_item int", one([](const Variables& v) {
                            return get_item(v[0], {1, newaxis, Slice(0, 2)});
                          }),
                          {x}, kExact);
  test::check_derivatives("get_item array", one([&](const Variables& v) {
                            return get_item(v[0], {Slice(), indices});
                          }),
                          {x}, kExact);
  test::check_derivatives("get_item arrays", one([&](const Variables& v) {
                            return get_item(v[0], {pairs, Slice(), pairs});
                          }),
                          {x}, kExact);
  test::check_derivatives("get_item array and int", one([&](const Variables& v) {
                            return get_item(v[0], {indices, 1});
                          }),
                          {spread({3, 2})}, kExact);
}

BOOST_AUTO_TEST_CASE(values) {
  const Variable x(array<double>({0, 1, 2, 3, 4, 5}, {2, 3}));
  BOOST_TEST(numbers(get_item(x, {Slice(), Slice({}, {}, -1)})) == (std::vector<double>{2, 1, 0, 5, 4, 3}),
             boost::test_tools::per_element());
  BOOST_TEST(numbers(get_item(x, {-1})) == (std::vector<double>{3, 4, 5}), boost::test_tools::per_element());
  BOOST_TEST(numbers(get_item(x, {std::vector<std::int64_t>{1, 0, 1}, std::vector<std::int64_t>{2, 2, 0}})) ==
                 (std::vector<double>{5, 2, 3}),
             boost::test_tools::per_element());
  BOOST_CHECK(get_item(x, {std::vector<std::int64_t>{}}).shape() == (Shape{0, 3}));
  BOOST_TEST(numbers(concat({x, x}, 0)) == (std::vector<double>{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(repeated_indices_add_up) {
  Variable x(arrays::zeros({3}));
  Variable y = get_item(x, {std::vector<std::int64_t>{1, 1, 2}});
  y.set_grad(array<float>({1, 2, 4}, {3}));
  y.backward();
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{0, 3, 4}), boost::test_tools::per_element());
}

// On every device in the order of the result, and 16-bit floats in float32.
BOOST_AUTO_TEST_CASE(gradients_of_repeated_elements_are_added_in_order) {
  constexpr int kElements = 500;
  std::vector<std::int64_t> rows, columns;
  for (int k = 0; k < kElements; ++k) {
    rows.push_back(k * 7 % 3 - (k % 5 == 0 ? 3 : 0));  // some from the end
    columns.push_back(k * k % 4);
  }
  std::vector<Device> devices{test::default_device()};
  if (const auto other = test::other_device()) devices.push_back(*other);
  for (const Device& device : devices)
    for (const Dtype t : {Dtype::float32, Dtype::float16}) BOOST_TEST_CONTEXT(device << " " << catena::name_of(t)) {
        Variable x(to_device(arrays::zeros({2, 3, 4, 2}, t), device));
        const Array gy = astype(spread({2, kElements, 2}, -1000, 1000), t);
        Variable y = get_item(x, {Slice(), rows, columns, Slice({}, {}, -1)});
        y.set_grad(to_device(gy, device));
        y.backward();
        const std::vector<float> g = to_vector<float>(gy);
        std::vector<float> expected(48, 0.f);
        for (int a = 0; a < 2; ++a)
          for (int k = 0; k < kElements; ++k)
            for (int b = 0; b < 2; ++b) {
              const auto row = std::size_t((rows[std::size_t(k)] + 3) % 3),
                         column = std::size_t(columns[std::size_t(k)]);
              expected[((std::size_t(a) * 3 + row) * 4 + column) * 2 + std::size_t(1 - b)] +=
                  g[std::size_t((a * kElements + k) * 2 + b)];
            }
        BOOST_TEST(to_vector<float>(x.grad()) == to_vector<float>(astype(array(expected, {48}), t)),
                   boost::test_tools::per_element());
      }
}

BOOST_AUTO_TEST_CASE(derivatives_of_shapes_and_repetitions) {
  const auto one = [](auto f) { return [f](const Variables& v) { return Variables{f(v[0])}; }; };
  const Array x = spread({2, 3, 4}), thin = spread({1, 3, 1}), number = spread({}), none = spread({0, 3});
  for (const Array& a : {x, thin, none}) {
    test::check_derivatives("flatten", one([](const Variable& v) { return flatten(v); }), {a}, kExact);
    test::check_derivatives("expand_dims", one([](const Variable& v) { return expand_dims(v, -2); }), {a}, kExact);
    test::check_derivatives("squeeze", one([](const Variable& v) { return squeeze(v); }), {a}, kExact);
    test::check_derivatives("swapaxes", one([](const Variable& v) { return swapaxes(v, 0, -1); }), {a}, kExact);
    test::check_derivatives("rollaxis", one([](const Variable& v) { return rollaxis(v, 1); }), {a}, kExact);
    test::check_derivatives("flip", one([](const Variable& v) { return flip(v); }), {a}, kExact);
    test::check_derivatives("fliplr", one([](const Variable& v) { return fliplr(v); }), {a}, kExact);
    test::check_derivatives("flipud", one([](const Variable& v) { return flipud(v); }), {a}, kExact);
    test::check_derivatives("tile", one([](const Variable& v) {
                              return tile(v, {2, 1, 3, 2});
                            }),
                            {a}, {.atol16 = 4e-3});
    test::check_derivatives("tile 0", one([](const Variable& v) { return tile(v, 0); }), {a}, kExact);
    test::check_derivatives("pad", one([](const Variable& v) { return pad(v, {1, 2}); }), {a}, kExact);
    test::check_derivatives("copy", one([](const Variable& v) { return copy(v, v.device()); }), {a}, kExact);
  }
  test::check_derivatives("squeeze axes", one([](const Variable& v) { return squeeze(v, {2, 0}); }), {thin}, kExact);
  for (const char* mode : {"edge", "reflect", "symmetric", "wrap"})
    test::check_derivatives(mode, one([mode](const Variable& v) {
                              return pad(v, {{0, 3}, {2, 0}, {1, 5}}, mode);
                            }),
                            {x}, {.atol16 = 4e-3, .rtol16 = 1e-2});
  test::check_derivatives("flatten a number", one([](const Variable& v) { return flatten(v); }), {number}, kExact);
  test::check_derivatives("pad a number", one([](const Variable& v) { return pad(v, 2); }), {number}, kExact);
  test::check_derivatives("tile a number", one([](const Variable& v) { return tile(v, {2, 3}); }), {number}, kExact);
  test::check_derivatives("tile by nothing", one([](const Variable& v) { return tile(v, Dims()); }), {x}, kExact);
}

BOOST_AUTO_TEST_CASE(derivatives_of_joining_and_splitting) {
  const Array x = spread({2, 3, 4}), y = spread({2, 3, 4}, -1, 1, 1), z = spread({1, 3, 4}, -1, 1, 2);
  const Array a = spread({3}), b = spread({2}, -1, 1, 1), matrix = spread({2, 3}), number = spread({});
  const auto one = [](auto f) { return [f](const Variables& v) { return Variables{f(v)}; }; };
  for (const int axis : {0, 1, 3, -1, -4})
    test::check_derivatives("stack", one([axis](const Variables& v) { return stack(v, axis); }), {x, y}, kExact);
  test::check_derivatives("vstack", one(vstack), {x, z}, kExact);
  test::check_derivatives("vstack vectors", one(vstack), {a, a}, kExact);
  test::check_derivatives("hstack", one(hstack), {x, y}, kExact);
  test::check_derivatives("hstack vectors", one(hstack), {a, b}, kExact);
  test::check_derivatives("dstack", one(dstack), {x, y}, kExact);
  test::check_derivatives("dstack matrices", one(dstack), {matrix, matrix}, kExact);
  for (const auto join : {vstack, hstack, dstack})
    test::check_derivatives("join numbers", one(join), {number, number}, kExact);
  test::check_derivatives(
      "split_axis", [](const Variables& v) { return split_axis(v[0], 2, -1); }, {x}, kExact);
  test::check_derivatives(
      "split_axis at positions",
      [](const Variables& v) {
        return split_axis(v[0], {0, 1, 1, 3}, 2);
      },
      {x}, kExact);
  test::check_derivatives(
      "separate", [](const Variables& v) { return separate(v[0], 1); }, {x}, kExact);
}

BOOST_AUTO_TEST_CASE(shapes_and_orders) {
  const Array x = made({2, 3, 4}, [](const Index& i) { return double(i[0] * 12 + i[1] * 4 + i[2]); });
  const Elements e(x);
  check_values(
      "flatten", [](const Variable& v) { return flatten(v); }, x,
      made({24}, [](const Index& i) { return double(i[0]); }));
  check_values(
      "expand_dims", [](const Variable& v) { return expand_dims(v, -1); }, x, made({2, 3, 4, 1}, [&](const Index& i) {
        return e({i[0], i[1], i[2]});
      }));
  check_values(
      "squeeze", [](const Variable& v) { return squeeze(expand_dims(expand_dims(v, 0), 2)); }, x, x);
  check_values(
      "squeeze axis", [](const Variable& v) { return squeeze(expand_dims(expand_dims(v, 0), 2), -3); }, x,
      made({1, 2, 3, 4}, [&](const Index& i) {
        return e({i[1], i[2], i[3]});
      }));
  check_values(
      "swapaxes", [](const Variable& v) { return swapaxes(v, -1, 0); }, x, made({4, 3, 2}, [&](const Index& i) {
        return e({i[2], i[1], i[0]});
      }));
  check_values(
      "flip",
      [](const Variable& v) {
        return flip(v, {0, 2});
      },
      x, made({2, 3, 4}, [&](const Index& i) {
        return e({1 - i[0], i[1], 3 - i[2]});
      }));
  check_values(
      "fliplr", [](const Variable& v) { return fliplr(v); }, x,
      made({2, 3, 4},
           [&](const Index& i) {
             return e({i[0], 2 - i[1], i[2]});
           }),
      true);
  check_values(
      "flipud", [](const Variable& v) { return flipud(v); }, x,
      made({2, 3, 4},
           [&](const Index& i) {
             return e({1 - i[0], i[1], i[2]});
           }),
      true);
  check_values(
      "copy", [](const Variable& v) { return copy(v, v.device()); }, x, x);
  // rollaxis: the axis is taken out and put before the one that was at `start`.
  for (int axis = -3; axis < 3; ++axis)
    for (int start = -3; start <= 3; ++start) {
      std::vector<int> order{0, 1, 2};
      const int from = axis < 0 ? axis + 3 : axis, before = start < 0 ? start + 3 : start;
      order.insert(order.begin() + before, from);
      for (int k = 0; k < 4; ++k)
        if (order[std::size_t(k)] == from && k != before) {
          order.erase(order.begin() + k);
          break;
        }
      Shape shape;
      for (const int a : order) shape.push_back(x.shape(a));
      check_values(
          "rollaxis", [&](const Variable& v) { return rollaxis(v, axis, start); }, x, made(shape, [&](const Index& i) {
            Index at(3);
            for (std::size_t k = 0; k < 3; ++k) at[std::size_t(order[k])] = i[k];
            return e(at);
          }));
    }
}

BOOST_AUTO_TEST_CASE(repetitions_and_paddings) {
  const Array x = made({2, 3}, [](const Index& i) { return double(i[0] * 3 + i[1]); });
  const Elements e(x);
  check_values(
      "tile", [](const Variable& v) { return tile(v, 2); }, x, made({2, 6}, [&](const Index& i) {
        return e({i[0], i[1] % 3});
      }));
  check_values(
      "tile",
      [](const Variable& v) {
        return tile(v, {2, 3, 1});
      },
      x, made({2, 6, 3}, [&](const Index& i) {
        return e({i[1] % 2, i[2]});
      }));
  check_values(
      "tile",
      [](const Variable& v) {
        return tile(v, {0, 2});
      },
      x, spread({0, 6}));
  check_values(
      "pad",
      [](const Variable& v) {
        return pad(v, {{1, 0}, {2, 1}}, "constant");
      },
      x,
      made({3, 6},
           [&](const Index& i) {
             return i[0] >= 1 && i[1] >= 2 && i[1] < 5 ? e({i[0] - 1, i[1] - 2}) : 0;
           }),
      true);
  check_values(
      "pad",
      [](const Variable& v) {
        return pad(v, 1, "constant", {.constant_values = {{1, 2}, {3, 4}}});
      },
      x,
      made({4, 5},
           [&](const Index& i) {
             return i[1] == 0 ? 3 : i[1] == 4 ? 4 : i[0] == 0 ? 1 : i[0] == 3 ? 2 : e({i[0] - 1, i[1] - 1});
           }),
      true);
  // The elements that NumPy's modes put beyond 0 1 2.
  const auto padded = [](const char* mode) {
    return numbers(pad(Variable(array<double>({0, 1, 2}, {3})), {5, 4}, mode));
  };
  BOOST_TEST(padded("edge") == (std::vector<double>{0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(padded("wrap") == (std::vector<double>{1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(padded("reflect") == (std::vector<double>{1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(padded("symmetric") == (std::vector<double>{1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(numbers(pad(Variable(array<double>({7}, {1})), 2, "reflect")) == (std::vector<double>(5, 7.0)),
             boost::test_tools::per_element());
  BOOST_TEST(numbers(pad(Variable(array<double>({7}, {1})), {1, 0}, "constant",
                         {.constant_values = std::numeric_limits<double>::infinity()}))[0] ==
             std::numeric_limits<double>::infinity());
}

BOOST_AUTO_TEST_CASE(joined_and_split) {
  const Array x = made({2, 3}, [](const Index& i) { return double(i[0] * 3 + i[1]); });
  const Elements e(x);
  const auto twice = [](auto join) { return [join](const Variable& v) { return join({v, v}); }; };
  check_values(
      "stack",
      [](const Variable& v) {
        return stack({v, v}, 1);
      },
      x, made({2, 2, 3}, [&](const Index& i) {
        return e({i[0], i[2]});
      }));
  check_values(
      "stack", [](const Variable& v) { return stack({v}, -1); }, x, made({2, 3, 1}, [&](const Index& i) {
        return e({i[0], i[1]});
      }));
  check_values("vstack", twice(vstack), x, made({4, 3}, [&](const Index& i) { return e({i[0] % 2, i[1]}); }));
  check_values("hstack", twice(hstack), x, made({2, 6}, [&](const Index& i) { return e({i[0], i[1] % 3}); }));
  check_values("dstack", twice(dstack), x, made({2, 3, 2}, [&](const Index& i) { return e({i[0], i[1]}); }));
  const Array row = made({3}, [](const Index&i) { return double(i[0]); }),
              number = made({}, [](const Index&) { return 5.0; });
  check_values("vstack", twice(vstack), row, made({2, 3}, [](const Index& i) { return double(i[1]); }));
  check_values("hstack", twice(hstack), row, made({6}, [](const Index& i) { return double(i[0] % 3); }));
  check_values("dstack", twice(dstack), row, made({1, 3, 2}, [](const Index& i) { return double(i[1]); }));
  check_values("vstack", twice(vstack), number, made({2, 1}, [](const Index&) { return 5.0; }));
  check_values("hstack", twice(hstack), number, made({2}, [](const Index&) { return 5.0; }));
  check_values("dstack", twice(dstack), number, made({1, 1, 2}, [](const Index&) { return 5.0; }));

  const auto shapes = [](const Variables& v) {
    std::vector<Shape> s;
    for (const Variable& one : v) s.push_back(one.shape());
    return s;
  };
  const Variable v(x);
  BOOST_CHECK(shapes(split_axis(v, 3, 1)) == (std::vector<Shape>{{2, 1}, {2, 1}, {2, 1}}));
  BOOST_CHECK(shapes(split_axis(v, 1, 0)) == (std::vector<Shape>{{2, 3}}));
  BOOST_CHECK(shapes(split_axis(v, {0, 2, 2}, -1)) == (std::vector<Shape>{{2, 0}, {2, 2}, {2, 0}, {2, 1}}));
  BOOST_CHECK(shapes(split_axis(v, std::vector<std::int64_t>(), 1)) == (std::vector<Shape>{{2, 3}}));
  BOOST_TEST(numbers(split_axis(v, {1}, 1)[1]) == (std::vector<double>{1, 2, 4, 5}), boost::test_tools::per_element());
  BOOST_CHECK(shapes(separate(v, -1)) == (std::vector<Shape>{{2}, {2}, {2}}));
  BOOST_TEST(numbers(separate(v)[1]) == (std::vector<double>{3, 4, 5}), boost::test_tools::per_element());
  BOOST_CHECK(separate(Variable(arrays::zeros({2, 0})), 1).empty());
}

BOOST_AUTO_TEST_CASE(absent_gradients_of_parts_are_zeros) {
  Variable x(array<float>({1, 2, 3, 4}, {4}));
  const Variables parts = split_axis(x, {1, 3}, 0);
  Variable middle = parts[1];
  middle.set_grad(array<float>({5, 6}, {2}));
  middle.backward();
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{0, 5, 6, 0}), boost::test_tools::per_element());
}

// Functions that move elements read none of them again.
BOOST_AUTO_TEST_CASE(nothing_is_retained) {
  const std::function<Variable(const Variable&)> functions[] = {
      [](const Variable& v) { return flatten(v); },          [](const Variable& v) { return swapaxes(v, 0, 1); },
      [](const Variable& v) { return fliplr(v); },           [](const Variable& v) { return tile(v, {2, 2}); },
      [](const Variable& v) { return pad(v, 1); },           [](const Variable& v) { return stack({v, v}); },
      [](const Variable& v) { return copy(v, v.device()); }, [](const Variable& v) { return split_axis(v, 2, 0)[0]; },
      [](const Variable& v) { return pad(v, 1, "edge"); }};
  for (const auto& f : functions) {
    Variable x(arrays::ones({2, 2}));
    Variable y = f(x);
    fill(x.data(), 7);
    y.set_grad(ones_like(y.data()));
    BOOST_CHECK_NO_THROW(y.backward());
    BOOST_CHECK(x.grad());
  }
}

BOOST_AUTO_TEST_CASE(copies_between_devices) {
  Variable x(array<float>({1, 2}, {2}));
  const Variable same = copy(x, x.device());
  BOOST_CHECK(same.data()->data != x.data()->data);
  const auto other = test::other_device();
  if (!other) return;
  Variable y = copy(x, *other);
  BOOST_CHECK(y.device() == *other);
  BOOST_TEST(numbers(y) == (std::vector<double>{1, 2}), boost::test_tools::per_element());
  Variable loss = sum(y * y);
  loss.backward({.enable_double_backprop = true});
  BOOST_CHECK(x.grad().device() == x.device());
  BOOST_TEST(to_vector<double>(x.grad()) == (std::vector<double>{2, 4}), boost::test_tools::per_element());
  Variable second = sum(x.grad_variable());
  x.cleargrad();
  second.backward();
  BOOST_TEST(to_vector<double>(x.grad()) == (std::vector<double>{2, 2}), boost::test_tools::per_element());
  BOOST_CHECK(copy(y, x.device().kind == Device::Kind::cpu ? -1 : int(x.device().id)).device() == x.device());
}

BOOST_AUTO_TEST_CASE(masks_stand_for_the_indices_of_their_true_elements) {
  const Array x = spread({3, 4, 2});
  const Array rows = array<bool>({true, false, true}, {3}),
              places =
                  array<bool>({true, false, false, true, false, false, false, false, false, true, true, true}, {3, 4});
  using Ints = std::vector<std::int64_t>;
  const Variable v(x);
  const auto same = [](const Variable& a, const Variable& b) {
    BOOST_CHECK_EQUAL(a.shape(), b.shape());
    BOOST_TEST(numbers(a) == numbers(b), boost::test_tools::per_element());
  };
  same(v(rows), v(Ints{0, 2}));
  same(v[places], v(Ints{0, 0, 2, 2, 2}, Ints{0, 3, 1, 2, 3}));
  same(v(places, 1), v(Ints{0, 0, 2, 2, 2}, Ints{0, 3, 1, 2, 3}, 1));
  same(v(Slice(), array<bool>({false, true, true, false}, {4})), v(Slice(), Ints{1, 2}));
  same(v(ellipsis, array<bool>({false, true}, {2})), v(Slice(), Slice(), Ints{1}));
  same(v(newaxis, rows, Slice(), Ints{1, 0}), v(newaxis, Ints{0, 2}, Slice(), Ints{1, 0}));
  same(v(rows, ellipsis, array<bool>({true, true}, {2})), v(Ints{0, 2}, ellipsis, Ints{0, 1}));
  BOOST_CHECK(v(arrays::full({3}, 0, Dtype::bool_)).shape() == (Shape{0, 4, 2}));
  same(v(transpose(
           array<bool>({true, false, true, false, false, false, true, false, false, false, true, true}, {4, 3}))),
       v(array<bool>({true, false, true, false, false, false, false, true, true, false, false, true}, {3, 4})));
  test::check_derivatives(
      "mask", [&](const Variables& a) { return Variables{a[0](places, Slice())}; }, {x}, kExact);
  BOOST_CHECK_EXCEPTION(v(array<bool>({true, false}, {2})), catena::IndexError, [](const catena::Error& e) {
    return e.what() == std::string(
                           "get_item: the mask of shape (2,) does not match the axes from 0 on of an array of shape "
                           "(3, 4, 2)");
  });
  BOOST_CHECK_THROW(v(array<bool>({true}, {})), catena::IndexError);
  BOOST_CHECK_THROW(v(places, 0, 0), catena::InvalidType);
  BOOST_CHECK_THROW(v(0, 0, places), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(errors_of_shapes_and_repetitions) {
  const Variable x(arrays::ones({2, 3})), row(arrays::ones({3})), integers(arrays::ones({2, 3}, Dtype::int32));
  const auto says = [](const std::string& text) {
    return [text](const catena::Error& e) { return std::string(e.what()).find(text) != std::string::npos; };
  };
  BOOST_CHECK_EXCEPTION(expand_dims(x, 3), catena::InvalidType,
                        says("Invalid operation is performed in: ExpandDims (Forward)\n\nExpect: axis <= "
                             "in_types[0].ndim\nActual: 3 > 2"));
  BOOST_CHECK_THROW(expand_dims(x, -4), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(squeeze(x, 1), catena::ValueError,
                        says("squeeze: axis 1 of shape (2, 3) has the length 3, not 1"));
  BOOST_CHECK_THROW(squeeze(x, 2), catena::InvalidType);
  BOOST_CHECK_THROW(squeeze(Variable(arrays::ones({1, 1})), {0, -2}), catena::ValueError);
  BOOST_CHECK_THROW(swapaxes(x, 0, 2), catena::InvalidType);
  BOOST_CHECK_THROW(rollaxis(x, 2), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(rollaxis(x, 0, 3), catena::InvalidType, says("start <= in_types[0].ndim"));
  BOOST_CHECK_THROW(flip(x, -3), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(flip(x, {0, -2}), catena::ValueError, says("flip: axis 0 is given twice in (0, -2)"));
  BOOST_CHECK_EXCEPTION(fliplr(row), catena::InvalidType, says("in_types[0].ndim >= 2"));
  BOOST_CHECK_THROW(flipud(Variable(arrays::ones({}))), catena::InvalidType);
  BOOST_TEST((flipud(integers).dtype() == integers.dtype()));
  BOOST_CHECK_EXCEPTION(tile(x, {1, -1}), catena::ValueError, says("tile: repetitions (1, -1) are negative"));
  BOOST_CHECK_THROW(pad(integers, 1), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(pad(x, {{1, 1}, {1, 1}, {1, 1}}), catena::ValueError,
                        says("pad: pad_width has sides for 3 axes, the array has rank 2"));
  BOOST_CHECK_EXCEPTION(pad(x, {0, -1}), catena::ValueError,
                        says("pad: the widths 0 and -1 of axis 0 cannot be negative"));
  BOOST_CHECK_EXCEPTION(pad(x, 1, "mean"), catena::ValueError,
                        says("pad: the mode is 'mean'; it is one of constant, edge, reflect, symmetric, wrap"));
  BOOST_CHECK_EXCEPTION(pad(Variable(arrays::ones({0, 2})), 1, "edge"), catena::ValueError,
                        says("pad: axis 0 of shape (0, 2) has no elements to copy"));
  BOOST_CHECK_THROW(stack({}), catena::ValueError);
  BOOST_CHECK_THROW(stack({x, row}), catena::InvalidType);
  BOOST_CHECK_THROW(stack({x, x}, 3), catena::InvalidType);
  for (const auto join : {vstack, hstack, dstack}) {
    BOOST_CHECK_THROW(join({}), catena::ValueError);
    BOOST_CHECK_THROW(join({x, row}), catena::InvalidType);
    BOOST_CHECK_THROW(join({x, integers}), catena::InvalidType);
    BOOST_CHECK_THROW(join({x, Variable()}), catena::TypeError);
  }
  BOOST_CHECK_THROW(vstack({x, Variable(arrays::ones({2, 2}))}), catena::InvalidType);
  BOOST_CHECK_THROW(hstack({x, Variable(arrays::ones({3, 3}))}), catena::InvalidType);
  BOOST_CHECK_THROW(dstack({x, Variable(arrays::ones({2, 2}))}), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(split_axis(x, 2, 1), catena::InvalidType, says("in_types[0].shape[1] % sections == 0"));
  BOOST_CHECK_EXCEPTION(split_axis(x, {1, 3}, 1), catena::InvalidType, says("indices[-1] < in_types[0].shape[1]"));
  BOOST_CHECK_THROW(split_axis(x, 1, 2), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(split_axis(x, 0, 1), catena::ValueError, says("there must be at least 1 part, not 0"));
  BOOST_CHECK_EXCEPTION(split_axis(x, {2, 1}, 1), catena::ValueError, says("the position 1 follows 2"));
  BOOST_CHECK_THROW(split_axis(x, {-1}, 1), catena::ValueError);
  BOOST_CHECK_THROW(separate(x, 2), catena::InvalidType);
  BOOST_CHECK_THROW(flatten(Variable()), catena::TypeError);
  BOOST_CHECK_THROW(squeeze(Variable()), catena::TypeError);
}

// Between any two dtypes, as astype of arrays; only a cast between floating dtypes has a gradient.
BOOST_AUTO_TEST_CASE(casts_of_integers_and_bools) {
  const Variable k(array<std::int32_t>({-1, 0, 300}, {3})), b(astype(k.data(), Dtype::bool_));
  BOOST_CHECK(k.astype(Dtype::int32).is_same(k));
  BOOST_CHECK(k.to(Dtype::float32).dtype() == Dtype::float32);
  BOOST_TEST(numbers(k.to(Dtype::float32)) == (std::vector<double>{-1, 0, 300}), boost::test_tools::per_element());
  BOOST_TEST(numbers(k.to(Dtype::uint8)) == (std::vector<double>{255, 0, 44}), boost::test_tools::per_element());
  BOOST_TEST(numbers(cast(b, Dtype::int64)) == (std::vector<double>{1, 0, 1}), boost::test_tools::per_element());
  Variable x(array<double>({1.5, -1.5, 2}, {3}));
  const Variable y = x.to(Dtype::int64), z = x.to(Dtype::bool_);
  BOOST_TEST(numbers(y) == (std::vector<double>{1, -1, 2}), boost::test_tools::per_element());
  BOOST_TEST(numbers(z) == (std::vector<double>{1, 1, 1}), boost::test_tools::per_element());
  // Neither an integer nor what it was computed from gets a gradient.
  (y.to(Dtype::float64) * 3).sum().backward();
  BOOST_CHECK(!x.grad() && !y.grad());
  (x * y.to(Dtype::float64)).sum().backward();
  BOOST_TEST(to_vector<double>(x.grad()) == (std::vector<double>{1, -1, 2}), boost::test_tools::per_element());
  BOOST_CHECK(cast(Variable(arrays::zeros({0}, Dtype::int8)), Dtype::float16).shape() == (Shape{0}));
}

// Elements that are dense in another order stay in it, as in NumPy's order 'K', in the gradient as well.
BOOST_AUTO_TEST_CASE(casts_keep_the_order_of_memory) {
  const Array plain = array<double>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {2, 3, 2, 1});
  const Array last = transpose(copy(transpose(plain, {0, 2, 3, 1})), {0, 3, 1, 2});
  Variable x(last);
  const Variable y = cast(x, Dtype::float32);
  BOOST_TEST(y.data().strides() == (catena::Strides{24, 4, 12, 12}));
  BOOST_TEST(to_vector<double>(y.data()) == to_vector<double>(plain), boost::test_tools::per_element());
  Variable z = y * 2.0f;
  z.set_grad(transpose(copy(transpose(astype(plain, Dtype::float32), {0, 2, 3, 1})), {0, 3, 1, 2}));
  z.backward();
  BOOST_TEST(x.grad().strides()[1] == 8);
  std::vector<double> twice = to_vector<double>(plain);
  for (double& v : twice) v *= 2;
  BOOST_TEST(to_vector<double>(x.grad()) == twice, boost::test_tools::per_element());
  // Every second element: not dense, so the result is in C order.
  const Variable some = cast(Variable(slice(plain, 1, 0, 2)), Dtype::float32);
  BOOST_TEST(some.data().is_c_contiguous());
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x(arrays::ones({2, 3}));
  BOOST_CHECK_THROW(reshape(x, {4, 2}), catena::InvalidType);
  BOOST_CHECK_THROW(reshape(x, {-1, -1}), catena::AssertionError);
  BOOST_CHECK_THROW(broadcast_to(x, {2, 4}), catena::InvalidType);
  BOOST_CHECK_THROW(broadcast({x, Variable(arrays::ones({4}))}), catena::InvalidType);
  BOOST_CHECK_THROW(broadcast({}), catena::ValueError);
  BOOST_CHECK_THROW(concat({}), catena::ValueError);
  BOOST_CHECK_THROW(concat({x, Variable(arrays::ones({3, 3}))}, 1), catena::InvalidType);
  BOOST_CHECK_THROW(concat({x, Variable(arrays::ones({2, 3}, Dtype::float64))}, 1), catena::InvalidType);
  BOOST_CHECK_THROW(concat({x}, 2), catena::InvalidType);
  BOOST_CHECK_THROW(get_item(x, {0, 0, 0}), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(get_item(x, {5}), catena::IndexError, [](const catena::Error& e) {
    return e.what() == std::string("get_item: the index 5 is out of range for axis 0 of length 2");
  });
  BOOST_CHECK_THROW(get_item(x, {arrays::ones({2})}), catena::IndexError);
  BOOST_CHECK_THROW(get_item(x, {std::vector<std::int64_t>{0, 1}, std::vector<std::int64_t>{0, 1, 2}}),
                    catena::IndexError);
}

// On the CPU an error, on other devices taken modulo the length.
BOOST_AUTO_TEST_CASE(indices_out_of_range) {
  using Ints = std::vector<std::int64_t>;
  const Variable x(array<double>({0, 1, 2, 3, 4, 5}, {2, 3}));
  if (test::default_device().kind != Device::Kind::cpu) {
    BOOST_TEST(numbers(get_item(x, {Ints{1, 2}, Ints{-4, 0}})) == (std::vector<double>{5, 0}),
               boost::test_tools::per_element());
    return;
  }
  const auto says = [](std::string message) {
    return [message](const catena::Error& e) { return e.what() == "get_item: the index " + message; };
  };
  BOOST_CHECK_EXCEPTION(get_item(x, {Ints{0, 2, 3}}), catena::IndexError,
                        says("2 is out of range for axis 0 of length 2"));
  BOOST_CHECK_EXCEPTION(get_item(x, {Ints{0, 1}, Ints{-4, 0}}), catena::IndexError,
                        says("-4 is out of range for axis 1 of length 3"));
  BOOST_CHECK_EXCEPTION(get_item(x, {newaxis, 0, Slice(), Ints{0}, Ints{3}}), catena::InvalidType,
                        [](const catena::Error&) { return true; });
  BOOST_CHECK_EXCEPTION(get_item(x, {newaxis, Slice(), array<std::uint8_t>({3}, {1})}), catena::IndexError,
                        says("3 is out of range for axis 1 of length 3"));
  BOOST_CHECK_EXCEPTION(get_item(reshape(x, {1, 2, 3}), {0, newaxis, Slice(), Ints{7}}), catena::IndexError,
                        says("7 is out of range for axis 2 of length 3"));
  BOOST_CHECK(get_item(Variable(arrays::zeros({2, 0})), {Ints{7}}).shape() == (Shape{1, 0}));
  BOOST_TEST(numbers(get_item(x, {Ints{-2, 1}, Ints{-3, 2}})) == (std::vector<double>{0, 5}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
