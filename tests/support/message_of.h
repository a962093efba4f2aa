// The messages of exceptions.
#pragma once

#include <boost/test/unit_test.hpp>
#include <exception>
#include <string>

namespace test {

// Runs f and returns the message of the exception of type E that it throws, or else a remark in parentheses.
template <class E, class F> std::string message_if_thrown(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("(another exception: ") + e.what() + ")";
  }
  return "(nothing was thrown)";
}

// The same, with a test failure if f does not throw an E.
template <class E, class F> std::string message_of(F&& f) {
  const std::string text = message_if_thrown<E>(f);
  if (text.starts_with("(another exception: ") || text == "(nothing was thrown)") BOOST_ERROR(text);
  return text;
}

}  // namespace test
