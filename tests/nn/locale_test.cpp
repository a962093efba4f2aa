// Files of weights that are written and read in a program with the locale of a country with a decimal comma.
#include <boost/test/unit_test.hpp>

#include <sstream>

#include <catena/tests/support/locale.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

struct Wide : nn::Chain {
  nn::Linear l{1500, 2};
  NN_MEMBERS(l)
};

// The characters for numbers of more than three digits and for fractions.
struct Numbers {
  std::int64_t large = 1234567;
  double fraction = 1234.5;
  std::vector<std::int64_t> list = std::vector<std::int64_t>(1200, 1000);
  void serialize(nn::Serializer& s) {
    s("large", large);
    s("fraction", fraction);
    s("list", list);
  }
};

template <class Save, class Load> void check_round_trip(const std::string& path, Save&& save, Load&& load) {
  const GermanLocale locale;
  BOOST_REQUIRE((std::ostringstream() << 1234.5).str() == "1.234,5");
  Wide written, read;
  save(path, written);
  load(path, read);
  BOOST_TEST(same_bits(read.l.W.data(), written.l.W.data()), path);
  BOOST_TEST(read.l.W.data().shape() == Shape({2, 1500}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(locales)

BOOST_AUTO_TEST_CASE(weights_come_back) {
  const TemporaryFolder folder("locale");
  check_round_trip(
      folder / "m.npz", [](auto& f, auto& m) { nn::serializers::save_npz(f, m); },
      [](auto& f, auto& m) { nn::serializers::load_npz(f, m); });
  check_round_trip(
      folder / "m.safetensors", [](auto& f, auto& m) { nn::serializers::save_safetensors(f, m); },
      [](auto& f, auto& m) { nn::serializers::load_safetensors(f, m); });
  if (!nn::serializers::hdf5_available()) return;
  check_round_trip(
      folder / "m.h5", [](auto& f, auto& m) { nn::serializers::save_hdf5(f, m); },
      [](auto& f, auto& m) { nn::serializers::load_hdf5(f, m); });
}

// The bytes are those of a program without a locale.
BOOST_AUTO_TEST_CASE(files_are_the_same_bytes) {
  const TemporaryFolder folder("locale_bytes");
  Wide model;
  Numbers numbers;
  nn::serializers::save_npz(folder / "a.npz", model);
  nn::serializers::save_safetensors(folder / "a.st", model);
  nn::serializers::save_npz(folder / "n.npz", numbers);
  {
    const GermanLocale locale;
    nn::serializers::save_npz(folder / "b.npz", model);
    nn::serializers::save_safetensors(folder / "b.st", model);
    nn::serializers::save_npz(folder / "m.npz", numbers);
    Numbers read{0, 0, {}};
    nn::serializers::load_npz(folder / "n.npz", read);
    BOOST_TEST(read.large == 1234567);
    BOOST_TEST(read.fraction == 1234.5);
    BOOST_TEST(read.list.size() == 1200u);
  }
  for (const auto& [a, b] : {std::pair("a.npz", "b.npz"), std::pair("a.st", "b.st"), std::pair("n.npz", "m.npz")})
    BOOST_TEST((file_content(folder / a) == file_content(folder / b)), a);
}

BOOST_AUTO_TEST_SUITE_END()
