// LoadOptions: parts of files, names that are ignored, arrays that broadcast, names of another library; arrays that are
// not contiguous are saved in C order.
#include <iostream>

#include <catena/kernels/formats/npz.h>
#include <catena/nn/serializers/npz.h>
#include <catena/nn/serializers/safetensors.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using nn::serializers::load_npz;
using nn::serializers::NpzDeserializer;
using nn::serializers::save_npz;

namespace {

using Strings = std::vector<std::string>;

struct One {
  Array a;
  void serialize(nn::Serializer& s) { s("a", a); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(load_options)

BOOST_AUTO_TEST_CASE(a_part_of_a_file) {
  const TemporaryFolder folder("part");
  nn::Classifier<TinyMLP> whole{TinyMLP()};
  save_npz(folder / "w.npz", whole);
  const auto check = [&](TinyMLP& part, const nn::LoadReport& report) {
    BOOST_TEST(same_bits(part.l2.W.data(), whole.predictor.l2.W.data()));
    BOOST_TEST(report.loaded == (Strings{"predictor/l1/W", "predictor/l1/b", "predictor/l2/W", "predictor/l2/b"}),
               boost::test_tools::per_element());
    BOOST_TEST(report.unexpected.empty());
  };
  TinyMLP a, b, c, d;
  check(a, load_npz(folder / "w.npz", a, "predictor"));
  check(b, load_npz(folder / "w.npz", b, std::string("/predictor/"), true));
  check(c, load_npz(folder / "w.npz", c, {.path = "predictor/"}));
  const nn::LoadOptions options{.path = "predictor"};
  check(d, load_npz(folder / "w.npz", d, options));
  // The third argument may be `strict`, too: a text is never taken for it.
  TinyMLP e;
  BOOST_TEST(load_npz(folder / "w.npz", e, false).missing.size() == 4u);
  BOOST_CHECK_THROW(load_npz(folder / "w.npz", e, true), catena::KeyError);
  BOOST_CHECK_THROW(load_npz(folder / "w.npz", e, "elsewhere"), catena::KeyError);
  BOOST_TEST(load_npz(folder / "w.npz", e, "elsewhere", false).loaded.empty());
}

BOOST_AUTO_TEST_CASE(ignored_names) {
  const TemporaryFolder folder("ignored");
  TinyMLP saved;
  save_npz(folder / "m.npz", saved);
  const auto load = [&](const nn::IgnoreNames& names) {
    TinyMLP model;
    const Array before = autograd::copy(model.l2.W.data());
    const nn::LoadReport report = load_npz(folder / "m.npz", model, {.ignore_names = names});
    BOOST_TEST(same_bits(model.l2.W.data(), before));
    BOOST_TEST(same_bits(model.l1.W.data(), saved.l1.W.data()));
    BOOST_TEST((report.missing.empty() && report.unexpected.empty()));
    return report.ignored;
  };
  const auto each = boost::test_tools::per_element();
  BOOST_TEST(load("l2/W") == Strings{"l2/W"}, each);
  BOOST_TEST(load({"l2/W", "l2/b", "other"}) == (Strings{"l2/W", "l2/b"}), each);
  BOOST_TEST(load(Strings{"l2/W"}) == Strings{"l2/W"}, each);
  BOOST_TEST(load([](std::string_view key) { return key.starts_with("l2/"); }) == (Strings{"l2/W", "l2/b"}), each);
  // Ignored entries may have another shape, or not be in the file at all.
  struct Finer : nn::Chain {
    nn::Linear l1{4, 6}, l2{6, 5}, l3{5, 2};
    NN_MEMBERS(l1, l2, l3)
  } finer;
  BOOST_CHECK_THROW(load_npz(folder / "m.npz", finer, {.ignore_names = {"l2/W"}}), catena::Error);
  load_npz(folder / "m.npz", finer, {.ignore_names = {"l2/W", "l2/b", "l3/W", "l3/b"}});
  BOOST_TEST(same_bits(finer.l1.b->data(), saved.l1.b->data()));
  // With a path the names are full ones, as in Chainer; pending parameters stay pending.
  nn::Classifier<TinyMLP> whole{TinyMLP()};
  save_npz(folder / "w.npz", whole);
  StatefulMLP pending(6);
  load_npz(folder / "w.npz", pending, {.path = "predictor", .strict = false, .ignore_names = "predictor/l1/W"});
  BOOST_TEST(!bool(pending.l1.W.data()));
  NpzDeserializer s(folder / "m.npz", {.ignore_names = "l1/W"});
  BOOST_TEST((!s.contains("l1/W") && s.contains("l1/b") && !s.stored("l1/W").has_value()));
  BOOST_TEST(!s["l1"]->contains("W"));  // of children, too
}

BOOST_AUTO_TEST_CASE(broadcasting) {
  const TemporaryFolder folder("broadcast");
  One column{floats({1, 2}, {2, 1})};
  save_npz(folder / "c.npz", column);
  One target{autograd::arrays::zeros({2, 3})};
  const Array same = target.a;
  const std::string message = message_of<catena::ValueError>([&] { load_npz(folder / "c.npz", target); });
  for (const char* part : {"c.npz", "entry a", "(2, 1)", "(2, 3)", "allow_broadcast"})
    BOOST_TEST(has(message, part), message);
  BOOST_TEST(values(target.a) == std::vector<double>(6, 0), boost::test_tools::per_element());
  load_npz(folder / "c.npz", target, {.allow_broadcast = true});
  BOOST_TEST(same.get() == target.a.get());
  BOOST_TEST(values(target.a) == (std::vector<double>{1, 1, 1, 2, 2, 2}), boost::test_tools::per_element());
  One halves{autograd::arrays::zeros({2, 2, 2}, Dtype::float16)};  // a new axis, and another dtype
  load_npz(folder / "c.npz", halves, {.allow_broadcast = true});
  BOOST_TEST(values(halves.a) == (std::vector<double>{1, 1, 2, 2, 1, 1, 2, 2}), boost::test_tools::per_element());
  for (const Shape& shape : {Shape{3, 2}, Shape{2}, Shape{}, Shape{2, 1, 1}, Shape{1, 1}}) {
    One other{autograd::arrays::zeros(shape)};
    const std::string error =
        message_of<catena::ValueError>([&] { load_npz(folder / "c.npz", other, {.allow_broadcast = true}); });
    BOOST_TEST((has(error, "entry a") && has(error, catena::to_string(shape))), error);
  }
  One integers{autograd::arrays::zeros({2, 3}, Dtype::int32)};
  BOOST_CHECK_THROW(load_npz(folder / "c.npz", integers, {.allow_broadcast = true}), catena::TypeError);
}

// Names of another library are a matter of the loader, not of safetensors.
BOOST_AUTO_TEST_CASE(names_of_pytorch_in_npz) {
  const TemporaryFolder folder("names");
  struct State {
    Array W = floats({1, 2, 3, 4}, {2, 2}), b = floats({5, 6}, {2});
    void serialize(nn::Serializer& s) {
      s("net.0.weight", W);
      s("net.0.bias", b);
    }
  } state;
  save_npz(folder / "s.npz", state);
  nn::Chain model;
  nn::Linear& fc = model.add_link("fc", nn::Linear(2, 2));
  load_npz(folder / "s.npz", model, {.style = nn::KeyStyle::pytorch, .rename = {{"fc", "net.0"}}});
  BOOST_TEST(same_bits(fc.W.data(), state.W));
  BOOST_TEST(same_bits(fc.b->data(), state.b));
}

// Transposed, sliced and reversed arrays are in the file as their elements are read.
BOOST_AUTO_TEST_CASE(arrays_that_are_not_contiguous) {
  const TemporaryFolder folder("strided");
  const Array a = floats({1, 2, 3, 4, 5, 6}, {2, 3});
  const std::pair<Array, std::vector<double>> cases[] = {
      {autograd::transpose(a), {1, 4, 2, 5, 3, 6}},
      {autograd::slice(a, 1, 0, 3, 2), {1, 3, 4, 6}},
      {autograd::broadcast_to(autograd::slice(a, 0, 1, 2), {2, 3}), {4, 5, 6, 4, 5, 6}}};
  for (const auto& [array, expected] : cases) {
    One saved{array}, loaded;
    save_npz(folder / "a.npz", saved);
    nn::serializers::save_safetensors(folder / "a.safetensors", saved);
    const catena::NpyArray file = catena::NpzReader("test", folder / "a.npz").read("a");
    BOOST_TEST(file.shape == array.shape());
    BOOST_TEST(!file.fortran_order);
    const std::span<const float> stored = file.as<float>();
    BOOST_TEST(std::vector<double>(stored.begin(), stored.end()) == expected, boost::test_tools::per_element());
    nn::serializers::load_safetensors(folder / "a.safetensors", loaded);
    BOOST_TEST(values(loaded.a) == expected, boost::test_tools::per_element());
    if (nn::serializers::hdf5_available()) {
      nn::serializers::save_hdf5(folder / "a.h5", saved);
      loaded.a = {};
      nn::serializers::load_hdf5(folder / "a.h5", loaded);
      BOOST_TEST(values(loaded.a) == expected, boost::test_tools::per_element());
    } else {
      std::cout << "not run: this build lacks HDF5\n";
    }
  }
  // And they can be loaded into.
  One whole{a};
  save_npz(folder / "w.npz", whole);
  const Array wide = autograd::arrays::zeros({2, 6});
  One view{autograd::slice(wide, 1, 0, 6, 2)};
  load_npz(folder / "w.npz", view);
  BOOST_TEST(values(wide) == (std::vector<double>{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
