#include <boost/test/unit_test.hpp>

#include <catena/kernels/base/seed.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <catena/kernels/base/error.h>

namespace {

std::string refusal(const char* text) {
  ::setenv("CHAINER_SEED", text, 1);
  try {
    catena::initial_seed();
  } catch (const catena::ValueError& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(seeds)

BOOST_AUTO_TEST_CASE(the_environment_gives_the_first_seed) {
  ::setenv("CHAINER_SEED", "18446744073709551615", 1);
  BOOST_TEST(catena::initial_seed() == ~std::uint64_t(0));
  for (const std::string& text :
       std::vector<std::string>{"12x", "x12", " 12", "12 ", "1.5", "-1", "18446744073709551616"})
    BOOST_TEST(refusal(text.c_str()) == "CHAINER_SEED: \"" + text + "\" is no unsigned 64-bit integer");
  for (const char* none : {"", static_cast<const char*>(nullptr)}) {
    if (none == nullptr) ::unsetenv("CHAINER_SEED");
    else ::setenv("CHAINER_SEED", none, 1);
    BOOST_TEST(catena::initial_seed() != catena::initial_seed());  // entropy
  }
}

BOOST_AUTO_TEST_SUITE_END()
