// Differentiable functions that move elements.
#include <boost/test/unit_test.hpp>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

const test::DerivativeOptions kExact{.atol32 = 0, .rtol32 = 1e-6, .atol16 = 1e-3};

std::vector<double> numbers(const Variable& v) { return to_vector<double>(v.data()); }

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
  Variable x(zeros({3}));
  Variable y = get_item(x, {std::vector<std::int64_t>{1, 1, 2}});
  y.set_grad(array<float>({1, 2, 4}, {3}));
  y.backward();
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{0, 3, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x(ones({2, 3}));
  BOOST_CHECK_THROW(reshape(x, {4, 2}), catena::InvalidType);
  BOOST_CHECK_THROW(reshape(x, {-1, -1}), catena::AssertionError);
  BOOST_CHECK_THROW(broadcast_to(x, {2, 4}), catena::InvalidType);
  BOOST_CHECK_THROW(broadcast({x, Variable(ones({4}))}), catena::InvalidType);
  BOOST_CHECK_THROW(broadcast({}), catena::ValueError);
  BOOST_CHECK_THROW(concat({}), catena::ValueError);
  BOOST_CHECK_THROW(concat({x, Variable(ones({3, 3}))}, 1), catena::InvalidType);
  BOOST_CHECK_THROW(concat({x, Variable(ones({2, 3}, Dtype::float64))}, 1), catena::InvalidType);
  BOOST_CHECK_THROW(concat({x}, 2), catena::InvalidType);
  BOOST_CHECK_THROW(get_item(x, {0, 0, 0}), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(get_item(x, {5}), catena::IndexError, [](const catena::Error& e) {
    return e.what() == std::string("get_item: the index 5 is out of range for axis 0 of length 2");
  });
  BOOST_CHECK_THROW(get_item(x, {ones({2})}), catena::IndexError);
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
  BOOST_CHECK(get_item(Variable(zeros({2, 0})), {Ints{7}}).shape() == (Shape{1, 0}));
  BOOST_TEST(numbers(get_item(x, {Ints{-2, 1}, Ints{-3, 2}})) == (std::vector<double>{0, 5}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(golden_values) {
  const auto golden = test::Golden::open("array");
  const auto items = [&golden](const test::GoldenCall& c) {
    std::vector<IndexItem> result;
    for (const test::Json& token : c.json()["index"]) {
      const auto bound = [](const test::Json& j) {
        return j.is_null() ? std::optional<std::int64_t>() : std::optional<std::int64_t>(j.get<std::int64_t>());
      };
      if (token.is_string()) {
        if (token == "ellipsis") result.emplace_back(ellipsis);
        else result.emplace_back(newaxis);
      } else if (token.contains("int")) {
        result.emplace_back(token["int"].get<std::int64_t>());
      } else if (token.contains("slice")) {
        result.emplace_back(Slice(bound(token["slice"][0]), bound(token["slice"][1]), bound(token["slice"][2])));
      } else {
        result.emplace_back(test::to_array(golden.array(token["array"].get<std::string>())));
      }
    }
    return result;
  };
  const auto mask = [](const test::Json& json) {
    if (json["function"] != "get_item") return "";
    for (const test::Json& token : json["index"])
      if (token.is_object() && token.contains("mask")) return "mask";
    return "";
  };
  test::run_golden(
      "array",
      {{"reshape", [](const test::GoldenCall& c) { return Variables{reshape(c.x(0), c.dims("shape"))}; }},
       {"transpose",
        [](const test::GoldenCall& c) {
          return Variables{c.has("axes") ? transpose(c.x(0), c.dims("axes")) : transpose(c.x(0))};
        }},
       {"broadcast", [](const test::GoldenCall& c) { return broadcast(c.xs()); }},
       {"broadcast_to", [](const test::GoldenCall& c) { return Variables{broadcast_to(c.x(0), c.dims("shape"))}; }},
       {"concat", [](const test::GoldenCall& c) { return Variables{concat(c.xs(), int(c.integer("axis", 1)))}; }},
       {"cast",
        [](const test::GoldenCall& c) { return Variables{cast(c.x(0), catena::dtype_from_name(c.text("typ", "")))}; }},
       {"where", [](const test::GoldenCall& c) { return Variables{where(c.array(0), c.x(1), c.x(2))}; }},
       {"get_item", [&](const test::GoldenCall& c) { return Variables{get_item(c.x(0), items(c))}; }}},
      {.lacks = mask});
}

BOOST_AUTO_TEST_SUITE_END()
