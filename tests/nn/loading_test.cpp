// Loads that fail leave the model as it was; loads that are not strict say what they did; pending parameters.
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using nn::serializers::load_npz;
using nn::serializers::save_npz;

namespace {

using Strings = std::vector<std::string>;

// Everything that a load may change, in one model.
struct Model : nn::Chain {
  nn::Linear l1{4, 3}, lazy{2};
  nn::BatchNormalization bn{3};
  nn::Persistent later;
  std::string text = "before";
  bool flag = false;
  nn::Linear last{3, 2};
  NN_MEMBERS(l1, lazy, bn, later, text, flag, last)
};

Model filled(double value) {
  Model m;
  for (Variable& p : m.params())
    if (p.data()) autograd::fill(p.data(), value);
  autograd::fill(m.bn.avg_mean.array(), value);
  m.bn.N = std::int64_t(value);
  m.text = "value";
  m.flag = true;
  return m;
}

// A file of a model with other values, and something wrong with its last layer, which is read last.
template <class F> void check_nothing_changed(const TemporaryFolder& folder, F spoil, bool strict = true) {
  Model other = filled(5);
  other.lazy.W.initialize({2, 6});
  other.later = nn::Persistent(floats({1}, {1}));
  spoil(other);
  save_npz(folder / "other.npz", other);
  Model model = filled(1);
  model.text = "before", model.flag = false;
  const Array data = model.l1.W.data();
  BOOST_CHECK_THROW(load_npz(folder / "other.npz", model, strict), catena::Error);
  BOOST_TEST(model.l1.W.data().get() == data.get());
  for (const nn::NamedParam& p : model.namedparams()) {
    if (p.path == "/lazy/W") BOOST_TEST(!bool(p.param.data()));
    else BOOST_TEST(values(p.param.data())[0] == 1);
  }
  BOOST_TEST(values(model.bn.avg_mean.array())[0] == 1);
  BOOST_TEST(model.bn.N == 1);
  BOOST_TEST(model.text == "before");
  BOOST_TEST(!model.flag);
  BOOST_TEST(!bool(model.later.array()));
  model.lazy.W.initialize({2, 7});  // still pending
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loading)

BOOST_AUTO_TEST_CASE(a_failed_load_leaves_the_model) {
  const TemporaryFolder folder("atomic");
  check_nothing_changed(folder, [](Model& m) { m.last = nn::Linear(3, 5); });                    // a shape
  check_nothing_changed(folder, [](Model& m) { m.last = nn::Linear(3, 2, {.nobias = true}); });  // a missing key
  check_nothing_changed(
      folder, [](Model& m) { m.last.b->set_data(autograd::arrays::zeros({2}, Dtype::complex64)); });  // a dtype
  check_nothing_changed(
      folder, [](Model& m) { m.last = nn::Linear(3, 5); }, false);
}

BOOST_AUTO_TEST_CASE(children_with_code_of_their_own_may_fail_too) {
  // Its own entries come after those of the list, and what it reads is there when the base class has loaded.
  struct Custom : nn::Chain {
    nn::Linear l{1, 1};
    double seen = 0;
    bool refuse = false;
    NN_MEMBERS(l)
    void serialize(nn::Serializer& s) override {
      Chain::serialize(s);
      if (s.is_writer()) return;
      seen = values(l.W.data())[0];
      if (refuse) throw catena::ValueError("refused");
    }
  };
  struct Outer : nn::Chain {
    nn::Linear before{1, 1};
    Custom custom;
    NN_MEMBERS(before, custom)
  };
  const TemporaryFolder folder("custom");
  Outer saved;
  for (Variable& p : saved.params()) autograd::fill(p.data(), 3);
  save_npz(folder / "o.npz", saved);
  Outer loaded;
  for (Variable& p : loaded.params()) autograd::fill(p.data(), 1);
  loaded.custom.refuse = true;
  BOOST_TEST(message_of<catena::ValueError>([&] { load_npz(folder / "o.npz", loaded); }) == "refused");
  BOOST_TEST(loaded.custom.seen == 3);
  for (Variable& p : loaded.params()) BOOST_TEST(values(p.data())[0] == 1);
  nn::serializers::NpzDeserializer direct(folder / "o.npz");  // without load()
  BOOST_CHECK_THROW(loaded.serialize(direct), catena::ValueError);
  for (Variable& p : loaded.params()) BOOST_TEST(values(p.data())[0] == 1);
  loaded.custom.refuse = false;
  load_npz(folder / "o.npz", loaded);
  for (Variable& p : loaded.params()) BOOST_TEST(values(p.data())[0] == 3);
}

BOOST_AUTO_TEST_CASE(a_load_reports_what_it_did) {
  const TemporaryFolder folder("report");
  TinyMLP small;
  save_npz(folder / "small.npz", small);
  nn::LoadReport all = load_npz(folder / "small.npz", small);
  BOOST_TEST(all.loaded == (Strings{"l1/W", "l1/b", "l2/W", "l2/b"}), boost::test_tools::per_element());
  BOOST_TEST(all.missing.empty());
  BOOST_TEST(all.unexpected.empty());
  struct Other : nn::Chain {
    nn::Linear l1{4, 6}, l3{6, 3, {.nobias = true}};
    NN_MEMBERS(l1, l3)
  } other;
  const nn::LoadReport part = load_npz(folder / "small.npz", other, false);
  BOOST_TEST(part.loaded == (Strings{"l1/W", "l1/b"}), boost::test_tools::per_element());
  BOOST_TEST(part.missing == (Strings{"l3/W"}), boost::test_tools::per_element());
  BOOST_TEST(part.unexpected == (Strings{"l2/W", "l2/b"}), boost::test_tools::per_element());
  BOOST_TEST(same_bits(other.l1.W.data(), small.l1.W.data()));
}

BOOST_AUTO_TEST_CASE(a_pending_parameter_checks_what_it_knows) {
  const TemporaryFolder folder("known");
  nn::Linear saved(5, 7);
  save_npz(folder / "l.npz", saved);
  nn::Linear ten(10, {.nobias = true});
  const std::string message = message_of<catena::ValueError>([&] { load_npz(folder / "l.npz", ten); });
  BOOST_TEST(has(message, "entry W"));
  BOOST_TEST(has(message, "(7, 5)"));
  BOOST_TEST(has(message, "(10, -1)"));
  BOOST_TEST(!ten.W.is_initialized());
  nn::Linear seven(7);
  load_npz(folder / "l.npz", seven);
  BOOST_TEST(same_bits(seven.W.data(), saved.W.data()));
  nn::Convolution2D conv(7, 3, {.nobias = true});  // (7, ?, 3, 3): the rank differs
  BOOST_CHECK_THROW(load_npz(folder / "l.npz", conv), catena::ValueError);
  BOOST_CHECK_THROW(conv.copyparams(saved), catena::ValueError);
  BOOST_CHECK_THROW(nn::Parameter(1.0, {3, -1}).initialize({4, 2}), catena::ValueError);
  BOOST_CHECK_THROW(nn::Parameter(1.0, {3, -1}).initialize({3}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(a_pending_parameter_has_a_dtype) {
  const TemporaryFolder folder("dtype");
  nn::Parameter wide(autograd::arrays::full({2}, 0.1, Dtype::float64));
  nn::Linear saved(2, 2, {.nobias = true});
  saved.W.set_data(autograd::arrays::full({2, 2}, 0.1, Dtype::float64));
  save_npz(folder / "l.npz", saved);
  nn::Linear lazy(2, {.nobias = true});
  load_npz(folder / "l.npz", lazy);
  BOOST_TEST((lazy.W.dtype() == Dtype::float32));
  BOOST_TEST(values(lazy.W.data())[0] == double(0.1f));
  nn::Linear half(2, {.nobias = true, .initialW = nn::initializers::Normal(1.0, {.dtype = Dtype::float16})});
  load_npz(folder / "l.npz", half);
  BOOST_TEST((half.W.dtype() == Dtype::float16));
  saved.W.set_data(autograd::arrays::zeros({2, 2}, Dtype::complex64));
  save_npz(folder / "c.npz", saved);
  nn::Linear again(2, {.nobias = true});
  BOOST_CHECK_THROW(load_npz(folder / "c.npz", again), catena::TypeError);
  BOOST_TEST(!again.W.is_initialized());
}

BOOST_AUTO_TEST_SUITE_END()
