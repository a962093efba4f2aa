// Errors in a model say in which link they happened.
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

struct Refusing : nn::Chain {
  NN_MEMBERS()
  Variable operator()(const Variable&) { throw catena::ValueError("nothing goes here"); }
};
struct Deep : nn::Chain {
  std::vector<TinyMLP> blocks{2};
  NN_MEMBERS(blocks)
  Variable operator()(const Variable& x) { return blocks[1](x); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(error_paths)

BOOST_AUTO_TEST_CASE(the_path_of_the_link) {
  const Variable x(autograd::arrays::zeros({3, 9})), t(ints({0, 1, 2}));
  nn::Classifier<TinyMLP> model(TinyMLP{});
  model.predictor.l1 = nn::Linear(8, 6);
  const std::string message = message_of<catena::InvalidType>([&] { model(x, t); });
  BOOST_TEST(message.rfind("/predictor/l1: Linear: x has 9 columns, W 8", 0) == 0u);
  BOOST_TEST(has(message, "Expect: prod(x.shape[1:]) == W.shape[1]\nActual: 9 != 8"));
  BOOST_TEST(message_of<catena::InvalidType>([&] { model.call({x, t}); }) == message);
  // The outermost call counts.
  nn::Classifier<Deep> deep(Deep{});
  BOOST_TEST(has(message_of<catena::InvalidType>([&] { deep(x, t); }),
                 "/predictor/blocks/1/l1: Linear: x has 9 columns, W 4"));
  // A link on its own has no path.
  const std::string alone = message_of<catena::InvalidType>([&] { model.predictor.l1(x); });
  BOOST_TEST(alone.rfind("Linear: x has 9 columns, W 8", 0) == 0u);
  // And nothing is left behind.
  BOOST_TEST(message_of<catena::InvalidType>([&] { model.predictor.l1(x); }) == alone);
}

BOOST_AUTO_TEST_CASE(other_links_and_other_errors) {
  const Variable image(autograd::arrays::zeros({1, 3, 4, 4}));
  nn::Sequential s(nn::Convolution2D(4, 2, 3), nn::relu);
  BOOST_TEST(has(message_of<catena::InvalidType>([&] { s(image); }), "/0: Convolution2D: x has 3 channels, W 4"));
  nn::ChainList list(nn::Sequential(nn::Linear(2, 2)), Refusing());
  const std::string message = message_of<catena::ValueError>([&] { list(Variable(autograd::arrays::zeros({1, 2}))); });
  BOOST_TEST(message == "/1: Refusing: nothing goes here");
  nn::Linear l(2, 2);
  const std::string dtypes = message_of<catena::InvalidType>([&] {
    l(Variable(autograd::arrays::zeros({1, 2}, Dtype::float64)));
  });
  BOOST_TEST(has(dtypes, "Linear: x is float64, W float32: x.astype(float32)"));
}

BOOST_AUTO_TEST_SUITE_END()
