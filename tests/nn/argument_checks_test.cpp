// The checks of arguments in debug mode: labels and numbers of rows that are out of range, which outside
// of it are not looked at on every device.
#include <functional>

#include <catena/autograd/functions/array.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

BOOST_AUTO_TEST_SUITE(argument_checks)

BOOST_AUTO_TEST_CASE(labels_and_indices) {
  const autograd::DebugMode debugging(true);
  const Variable x(floats({1, 2, 3, 4, 5, 6}, {2, 3})), out(ints({0, 3})), negative(ints({0, -2})), fine(ints({0, 2}));
  const auto rejects = [](const std::function<void()>& f) {
    try {
      f();
    } catch (const catena::ValueError&) {
      return true;
    } catch (const catena::IndexError&) {  // what the CPU says in any mode
      return true;
    } catch (const catena::AssertionError&) {
      return true;
    }
    return false;
  };
  const auto check = [&](const char* name, const std::function<void(const Variable& labels)>& f) {
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(!rejects([&] { f(fine); }));
      BOOST_TEST(rejects([&] { f(out); }));
      BOOST_TEST(rejects([&] { f(negative); }));
    }
  };
  const Variable W(floats({1, 2, 3, 4, 5, 6}, {3, 2}));
  check("embed_id", [&](const Variable& t) { nn::embed_id(t, W); });
  check("softmax_cross_entropy", [&](const Variable& t) { nn::softmax_cross_entropy(x, t); });
  check("select_item", [&](const Variable& t) { nn::select_item(x, t); });
  check("black_out", [&](const Variable& t) {
    nn::black_out(Variable(floats({1, 2, 3, 4}, {2, 2})), t, W,
                  Variable(autograd::arrays::zeros({2, 1}, Dtype::int32)));
  });
}

BOOST_AUTO_TEST_CASE(permutations_parts_and_lengths) {
  const autograd::DebugMode debugging(true);
  const Variable x(floats({1, 2, 3, 4, 5, 6}, {2, 3}));
  BOOST_CHECK_NO_THROW(nn::permutate(x, Variable(ints({1, 0}))));
  BOOST_CHECK_THROW(nn::permutate(x, Variable(ints({1, 1}))), catena::ValueError);
  BOOST_CHECK_THROW(nn::permutate(x, Variable(ints({0, 2}))), catena::ValueError);
  BOOST_CHECK_THROW(x(autograd::ellipsis, autograd::ellipsis), catena::ValueError);
  BOOST_CHECK_THROW(autograd::split_axis(x, {2, 1}, 1), catena::ValueError);
  Variables scores;
  for (int k = 0; k < 4; ++k) scores.push_back(x);
  const Variable t(autograd::array(std::vector<std::int32_t>{0, 1, 1, 0}, {2, 2}));
  const auto ctc = [&](const Array& input_length, const Array& label_length) {
    nn::connectionist_temporal_classification(scores, t, 2, input_length, label_length);
  };
  BOOST_CHECK_NO_THROW(ctc(ints({4, 3}), ints({2, 1})));
  BOOST_CHECK_THROW(ctc(ints({5, 3}), ints({2, 1})), catena::AssertionError);
  BOOST_CHECK_THROW(ctc(ints({4, 3}), ints({3, 1})), catena::AssertionError);
}

BOOST_AUTO_TEST_CASE(numbers_of_arguments_of_links) {
  const autograd::DebugMode debugging(true);
  nn::Bias b(1, {3});
  nn::Scale s(1, {3});
  const Variable x(floats({1, 2, 3}, {1, 3})), y(floats({1, 2, 3}, {3}));
  BOOST_CHECK_NO_THROW(b(x));
  BOOST_CHECK_THROW(b(x, y), catena::AssertionError);
  BOOST_CHECK_THROW(nn::Bias()(x), catena::AssertionError);
  BOOST_CHECK_NO_THROW(s(x));
  BOOST_CHECK_THROW(s(x, y), catena::AssertionError);
  BOOST_CHECK_THROW(nn::Scale()(x), catena::AssertionError);
}

BOOST_AUTO_TEST_SUITE_END()
