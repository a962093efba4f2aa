// The initial bias of layers, given as a number (`bias`), as an initializer (`initial_bias`), as both, or not at all.
#include <catena/nn/links.h>

#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

std::vector<float> values(const std::optional<nn::Parameter>& b) { return autograd::to_vector<float>(b->data()); }

template <class L, class... Args> void check_bias(const char* name, const Args&... args) {
  BOOST_TEST_CONTEXT(name) {
    const std::vector<float> zeros(2, 0), given(2, 1.5f), initial(2, -3);
    BOOST_TEST(values(L(args...).b) == zeros, boost::test_tools::per_element());
    BOOST_TEST(values(L(args..., {.bias = 1.5}).b) == given, boost::test_tools::per_element());
    BOOST_TEST(values(L(args..., {.bias = -3}).b) == initial, boost::test_tools::per_element());
    BOOST_TEST(values(L(args..., {.initial_bias = -3.0}).b) == initial, boost::test_tools::per_element());
    // The initializer comes first, as in the reference.
    BOOST_TEST(values(L(args..., {.bias = 1.5, .initial_bias = -3.0}).b) == initial, boost::test_tools::per_element());
    BOOST_TEST(!L(args..., {.bias = 1.5, .nobias = true}).b.has_value());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bias_option)

BOOST_AUTO_TEST_CASE(of_every_layer_that_has_it) {
  check_bias<nn::Linear>("Linear", 3, 2);
  check_bias<nn::Convolution2D>("Convolution2D", 3, 2, 3);
  check_bias<nn::DilatedConvolution2D>("DilatedConvolution2D", 3, 2, 3);
  check_bias<nn::Deconvolution2D>("Deconvolution2D", 3, 2, 3);
}

BOOST_AUTO_TEST_CASE(of_arrays) {
  const nn::Parameter p{floats({1, 2}, {2})};
  BOOST_TEST(autograd::to_vector<float>(p.data()) == (std::vector<float>{1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
