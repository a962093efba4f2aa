// pad_sequence with PyTorch's arguments.
#include <catena/nn/functions/torch_sequences.h>

#include <boost/test/unit_test.hpp>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/operators.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;
using Doubles = std::vector<double>;
using nn::utils::rnn::pad_sequence;

namespace {

Variable sequence(const Doubles& v, const Shape& shape) { return Variable(array<double>(v, shape)); }
void check(const Variable& y, const Shape& shape, const Doubles& expected) {
  BOOST_TEST(y.shape() == shape);
  BOOST_TEST(to_vector<double>(y.data()) == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_sequences)

BOOST_AUTO_TEST_CASE(sequences_are_columns_or_rows) {
  const Variable a = sequence({1, 2, 3}, {3}), b = sequence({4}, {1});
  check(pad_sequence({a, b}), {3, 2}, {1, 4, 2, 0, 3, 0});
  check(pad_sequence({a, b}, {.batch_first = true}), {2, 3}, {1, 2, 3, 4, 0, 0});
  check(pad_sequence({b, a}, {.batch_first = true, .padding_value = -1}), {2, 3}, {4, -1, -1, 1, 2, 3});
  check(pad_sequence({a}), {3, 1}, {1, 2, 3});
  const Variable wide = sequence({1, 2, 3, 4}, {2, 2}), short_one = sequence({5, 6}, {1, 2});
  check(pad_sequence({wide, short_one}), {2, 2, 2}, {1, 2, 5, 6, 3, 4, 0, 0});
  check(pad_sequence({transpose(wide), short_one}), {2, 2, 2}, {1, 3, 5, 6, 2, 4, 0, 0});
  check(pad_sequence({sequence({}, {0}), b}), {1, 2}, {0, 4});
}

BOOST_AUTO_TEST_CASE(gradients_and_errors) {
  const Variable a = sequence({1, 2}, {2}), b = sequence({3}, {1});
  const Variable y = pad_sequence({a, b}, {.padding_value = 7});
  sum(y * y).backward();
  BOOST_TEST(to_vector<double>(a.grad()) == (Doubles{2, 4}), boost::test_tools::per_element());
  BOOST_TEST(to_vector<double>(b.grad()) == (Doubles{6}), boost::test_tools::per_element());
  BOOST_CHECK_THROW(pad_sequence({}), catena::InvalidType);
  BOOST_CHECK_THROW(pad_sequence({a, sequence({1, 2}, {1, 2})}), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(sequences_are_taken_apart) {
  using namespace nn::utils::rnn;
  const Variable a = sequence({1, 2, 3}, {3}), b = sequence({4}, {1});
  for (const bool batch_first : {false, true}) {
    const Variables parts = unpad_sequence(pad_sequence({a, b}, {.batch_first = batch_first}), {3, 1}, batch_first);
    BOOST_REQUIRE(parts.size() == 2u);
    check(parts[0], {3}, {1, 2, 3});
    check(parts[1], {1}, {4});
  }
  const Variable lengths(array<std::int64_t>({3, 1}, {2}), {.requires_grad = false});
  check(unpad_sequence(pad_sequence({a, b}, {.batch_first = true}), lengths, {.batch_first = true})[1], {1}, {4});
  const Variables unpacked = unpack_sequence(pack_sequence({b, a}, {.enforce_sorted = false}));
  check(unpacked[0], {1}, {4});
  check(unpacked[1], {3}, {1, 2, 3});
  BOOST_CHECK_THROW(unpad_sequence(pad_sequence({a, b}), {3, 4}), catena::ValueError);
  const Variable g = grad({sum(unpack_sequence(pack_sequence({a, b}))[0] * 2.0)}, {a})[0];
  check(g, {3}, {2, 2, 2});
}

BOOST_AUTO_TEST_CASE(permutations_are_inverted) {
  using nn::utils::rnn::invert_permutation;
  BOOST_TEST(invert_permutation(std::vector<std::int64_t>{2, 0, 1}) == std::vector<std::int64_t>({1, 2, 0}),
             boost::test_tools::per_element());
  check(invert_permutation(Variable(array<std::int64_t>({1, 2, 0}, {3}), {.requires_grad = false})), {3}, {2, 0, 1});
  BOOST_CHECK_THROW(invert_permutation(std::vector<std::int64_t>{0, 0}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
