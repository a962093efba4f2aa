// Einstein's sums: values by a loop over all axes, derivatives, PyTorch's values, errors.
#include <catena/autograd/functions/einsum.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

using Numbers = std::vector<double>;

const auto says = [](const std::string& text) {
  return [text](const catena::Error& e) { return std::string(e.what()).find(text) != std::string::npos; };
};

// One loop over all letters. Operands of length 1 along a letter are repeated.
Array naive(const std::vector<std::string>& terms, const std::string& output, const Arrays& operands) {
  std::map<char, std::int64_t> lengths, at;
  for (std::size_t i = 0; i < terms.size(); ++i)
    for (int axis = 0; axis < operands[i].ndim(); ++axis) {
      std::int64_t& n = lengths[terms[i][std::size_t(axis)]];
      n = n == 0 || n == 1 ? operands[i].shape(axis) : n;
    }
  std::int64_t total = 1;
  for (const auto& [letter, length] : lengths) total *= length;
  Shape shape;
  for (const char letter : output) shape.push_back(lengths[letter]);
  Numbers result(std::size_t(catena::size_of(shape)), 0.0);
  std::vector<Numbers> values;
  for (const Array& a : operands) values.push_back(to_vector<double>(a));
  for (std::int64_t i = 0; i < total; ++i) {
    std::int64_t rest = i;
    for (const auto& [letter, length] : lengths) {
      at[letter] = rest % length;
      rest /= length;
    }
    double product = 1;
    for (std::size_t k = 0; k < terms.size(); ++k) {
      std::int64_t place = 0;
      for (int axis = 0; axis < operands[k].ndim(); ++axis) {
        const std::int64_t n = operands[k].shape(axis);
        place = place * n + (n == 1 ? 0 : at[terms[k][std::size_t(axis)]]);
      }
      product *= values[k][std::size_t(place)];
    }
    std::int64_t place = 0;
    for (const char letter : output) place = place * lengths[letter] + at[letter];
    result[std::size_t(place)] += product;
  }
  return array(result, shape);
}

// The rules are the same on every device, so others than the CPU check fewer dtypes and derivatives.
bool on_cpu() { return test::default_device().kind == Device::Kind::cpu; }

}  // namespace

BOOST_AUTO_TEST_SUITE(einstein_sums)

BOOST_AUTO_TEST_CASE(values_and_derivatives) {
  struct Case {
    std::vector<std::string> terms;
    std::string output;
    std::vector<Shape> shapes;
  };
  const Case cases[] = {
      {{"ij", "jk"}, "ki", {{2, 3}, {3, 4}}},
      {{"ij", "jk"}, "ik", {{2, 1}, {3, 4}}},
      {{"ij", "ij"}, "", {{2, 3}, {2, 3}}},
      {{"iji", "j"}, "i", {{2, 3, 2}, {3}}},
      {{"bij", "bjk"}, "kbi", {{2, 3, 4}, {2, 4, 2}}},
      {{"bi", "bi"}, "b", {{3, 4}, {3, 4}}},
      {{"ij", "k"}, "kj", {{2, 3}, {2}}},
      {{"ij", "jk", "kl"}, "il", {{2, 3}, {3, 2}, {2, 4}}},
      {{"ab", "b", "bc", "c"}, "a", {{2, 3}, {3}, {3, 2}, {2}}},
      {{"ij", "jk"}, "ik", {{2, 0}, {0, 3}}},
      {{"ij", "jk"}, "ik", {{0, 2}, {2, 3}}},
      {{"ijkl"}, "jl", {{2, 3, 1, 2}}},
      {{"ii"}, "i", {{3, 3}}},
      {{""}, "", {{}}},
      {{"", "i"}, "i", {{}, {2}}},
      {{"i", "i", "i", "i", "i", "i", "i"}, "i", {{2}, {2}, {2}, {2}, {2}, {2}, {2}}},
  };
  for (const Case& c : cases) {
    std::string text;
    for (const std::string& term : c.terms) text += (text.empty() && &term == &c.terms[0] ? "" : ",") + term;
    text += "->" + c.output;
    BOOST_TEST_CONTEXT(text) {
      Arrays x;
      for (std::size_t i = 0; i < c.shapes.size(); ++i) x.push_back(spread(c.shapes[i], -1, 1, int(i)));
      const auto f = [&](const Variables& v) { return Variables{einsum(text, v)}; };
      Variables v;
      for (const Array& a : x) v.push_back(Variable(a));
      BOOST_CHECK_NO_THROW(testing::assert_allclose(f(v)[0].data(), naive(c.terms, c.output, x), 1e-12, 1e-12));
      test::check_derivatives(text, f, x, {.twice = on_cpu(), .atol16 = 1e-2, .rtol16 = 2e-2, .narrow = on_cpu()});
    }
  }
}

BOOST_AUTO_TEST_CASE(forms_of_the_call) {
  const Variable a(spread({2, 3})), b(spread({3, 4}));
  const Array y = matmul(a, b).data();
  for (const Variable& v : {einsum("ij,jk->ik", a, b), einsum("ij,jk", {a, b}), einsum(" i j , j k ", a, b.data()),
                            tensordot(a, b, 1), tensordot(a, b, {1, 0}), tensordot(a, b, {{-1}, {0}})})
    testing::assert_allclose(v.data(), y, 1e-14, 1e-14);
  BOOST_CHECK(einsum("...j,j...", a, Variable(spread({3, 5, 2}))).shape() == (Shape{5, 2}));
  BOOST_CHECK(einsum("i...->...", a).shape() == (Shape{3}));
}

BOOST_AUTO_TEST_CASE(refused_operands) {
  const Variable a(arrays::ones({2, 3})), b(arrays::ones({4, 5}));
  BOOST_CHECK_EXCEPTION(einsum("ij,jk", a, b), catena::ValueError,
                        says("einsum: axis \"j\" has length 4 in operand 1"));
  BOOST_CHECK_EXCEPTION(einsum("ij", a, b), catena::ValueError, says("is for 1 operands, there are 2"));
  BOOST_CHECK_EXCEPTION(einsum("ijk", a), catena::ValueError, says("gives operand 0 3 axes"));
  BOOST_CHECK_EXCEPTION(einsum("i1", a), catena::ValueError, says("has the character \"1\""));
  BOOST_CHECK_EXCEPTION(einsum("ij->ik", a), catena::ValueError, says("axis \"k\" of the result is in none"));
  BOOST_CHECK_EXCEPTION(einsum("", Variables{}), catena::ValueError, says("there are no operands"));
  BOOST_CHECK_THROW(einsum("ij,ij", a, Variable(arrays::ones({2, 3}, Dtype::float64))), catena::InvalidType);
  BOOST_CHECK_THROW(einsum("ij", Variable(arrays::ones({2, 3}, Dtype::int32))), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(tensordot(a, b, 1), catena::ValueError,
                        says("axis 1 of shape (2, 3) and axis 0 of shape (4, 5) have different lengths"));
  BOOST_CHECK_THROW(tensordot(a, b, 3), catena::ValueError);
  BOOST_CHECK_THROW(tensordot(a, a, {{0, 0}, {0, 1}}), catena::ValueError);
  BOOST_CHECK_THROW(tensordot(a, a, {{0, 1}, {0}}), catena::ValueError);
  BOOST_CHECK_THROW(tensordot(a, a, {5, 0}), catena::Error);
}

BOOST_AUTO_TEST_CASE(golden_values) {
  test::GoldenFunctions f;
  f["einsum"] = [](const test::GoldenCall& c) { return Variables{einsum(c.text("subscripts", ""), c.xs())}; };
  f["tensordot"] = [](const test::GoldenCall& c) {
    const auto& axes = c.args()["axes"];
    if (axes.is_number()) return Variables{tensordot(c.x(0), c.x(1), int(axes))};
    const auto list = [&](std::size_t i) { return Dims(axes[i].get<std::vector<std::int64_t>>()); };
    return Variables{tensordot(c.x(0), c.x(1), std::pair(list(0), list(1)))};
  };
  test::run_golden("torch_einsum", f);
}

BOOST_AUTO_TEST_SUITE_END()
