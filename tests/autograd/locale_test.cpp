// Texts of arrays, variables and graphs do not depend on the program's locale.
#include <boost/test/unit_test.hpp>

#include <iostream>
#include <sstream>

#include <catena/autograd/computational_graph.h>
#include <catena/autograd/operators.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/locale.h>
#include <catena/tests/support/message_of.h>

using autograd::Array;
using autograd::Variable;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(locales)

BOOST_AUTO_TEST_CASE(texts_of_arrays_and_variables) {
  const test::GermanLocale locale;
  const Array a = autograd::array<float>({1234.5f, 0.25f}, {2}), small = autograd::array<double>({1e-7, 2}, {2});
  BOOST_TEST(autograd::to_string(a) == "[1.2345e+03 2.5000e-01]");
  BOOST_TEST(autograd::to_string(small) == "[1.e-07 2.e+00]");
  const Variable v(a);
  const std::string text = v.debug_print();
  BOOST_TEST(has(text, "mean=617.37500000, std=617.12500000"), text);
  BOOST_TEST(has(text, "shape: (2,)"), text);
  std::ostringstream out;
  out << Variable(autograd::array<float>({1.5f}, {1}));
  BOOST_TEST(out.str() == "variable([1.5])");
}

BOOST_AUTO_TEST_CASE(graphs) {
  const test::GermanLocale locale;
  const Variable x(autograd::arrays::full({1234}, 1.0));
  const std::string dot = autograd::build_computational_graph({x * 0.5 + 1234567.25}).dump();
  BOOST_TEST(has(dot, "(1234), float"), dot);
  BOOST_TEST(!has(dot, "1.234"), dot);
  BOOST_TEST(!has(dot, "0,5"), dot);
}

BOOST_AUTO_TEST_CASE(messages) {
  const test::GermanLocale locale;
  const std::string message = test::message_of<catena::AssertionError>([] {
    autograd::testing::assert_allclose(autograd::arrays::full({2}, 1.5), autograd::arrays::full({2}, 2.5), 0.25, 0.125);
  });
  BOOST_TEST(has(message, "atol 0.25 + rtol 0.125"), message);
}

// A name may come from a file.
BOOST_AUTO_TEST_CASE(names_with_control_characters_are_shown_escaped) {
  Variable v(autograd::arrays::full({1}, 1.0));
  v.set_name("x\x1b[2J");
  std::ostringstream out;
  out << v;
  BOOST_TEST(has(out.str(), "variable x\\x1b[2J("), out.str());
  BOOST_TEST(v.name() == "x\x1b[2J");
}

BOOST_AUTO_TEST_SUITE_END()
