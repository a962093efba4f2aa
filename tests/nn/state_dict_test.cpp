// Copies of the entries of an object in memory, and back; members of Link under PyTorch's names.
#include <catena/nn/serializers/state_dict.h>

#include <catena/nn/links.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using Doubles = std::vector<double>;

namespace {

struct Net : nn::Chain {
  nn::Linear l1{2, 3}, l2;
  nn::BatchNormalization bn{3};
  explicit Net(int out) : l2(3, out) {}
  NN_MEMBERS(l1, l2, bn)
};

struct Texts {
  std::string name, empty;
  double number = 0;
  void serialize(nn::Serializer& s) {
    s("name", name);
    s("empty", empty);
    s("number", number);
  }
};

Doubles of(const Variable& v) { return autograd::to_vector<double>(v.data()); }

}  // namespace

BOOST_AUTO_TEST_SUITE(state_dict)

BOOST_AUTO_TEST_CASE(entries_are_copies) {
  Net net(4);
  net.bn.N = 5;
  autograd::assign(net.bn.avg_mean.array(), 0.25);
  const nn::StateDict state = net.state_dict();
  std::string keys;
  for (const auto& [key, array] : state) keys += key + " ";
  BOOST_TEST(keys == "bn/N bn/avg_mean bn/avg_var bn/beta bn/gamma l1/W l1/b l2/W l2/b ");
  const Doubles before = of(net.l1.W);
  BOOST_TEST(autograd::to_vector<double>(state.at("l1/W")) == before, boost::test_tools::per_element());
  BOOST_TEST(state.at("l1/W").dtype() == Dtype::float32);
  BOOST_TEST(state.at("l1/W").shape() == (Shape{3, 2}));
  BOOST_TEST(autograd::to_vector<double>(state.at("bn/N"))[0] == 5);
  autograd::fill(net.l1.W.data(), 7);
  net.bn.N = 6;
  autograd::fill(net.bn.avg_mean.array(), 1);
  BOOST_TEST(autograd::to_vector<double>(state.at("l1/W")) == before, boost::test_tools::per_element());
  const nn::LoadReport report = net.load_state_dict(state);
  BOOST_TEST(report.loaded.size() == 9U);
  BOOST_TEST(of(net.l1.W) == before, boost::test_tools::per_element());
  BOOST_TEST(net.bn.N == 5);
  BOOST_TEST(autograd::to_vector<double>(net.bn.avg_mean.array())[2] == 0.25);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_leaves_the_model_as_it_was) {
  Net net(4), other(5);
  nn::StateDict state = net.state_dict();
  const Doubles before = of(other.l1.W);
  BOOST_TEST(message_of<catena::ValueError>([&] { other.load_state_dict(state); }).find("l2/W") != std::string::npos);
  BOOST_TEST(of(other.l1.W) == before, boost::test_tools::per_element());
  state.erase("l2/W");
  BOOST_TEST(message_of<catena::KeyError>([&] { net.load_state_dict(state); }).find("l2/W") != std::string::npos);
  const nn::LoadReport report = net.load_state_dict(state, {.strict = false});
  BOOST_TEST(report.missing.size() == 1U);
  BOOST_TEST(net.load_state_dict(state, false).missing.size() == 1U);
  BOOST_CHECK_THROW(net.load_state_dict(state, true), catena::KeyError);
  BOOST_TEST(other.load_state_dict(state, {.strict = false, .ignore_names = {"l2/W", "l2/b"}}).loaded.size() == 7U);
  BOOST_TEST(of(other.l1.W) == of(net.l1.W), boost::test_tools::per_element());
  state["l1/W"] = Array();
  BOOST_CHECK_THROW(net.load_state_dict(state, {.strict = false}), catena::TypeError);
}

// Maps of a program, copies, and the names of keys in the report.
BOOST_AUTO_TEST_CASE(maps_copies_and_reports) {
  Net net(4), other(4);
  std::map<std::string, Variable> by_name;
  for (const auto& [name, p] : net.named_parameters()) by_name[name] = p;
  const std::pair<const char*, const char*> others[] = {
      {"bn.num_batches_tracked", "bn/N"}, {"bn.running_mean", "bn/avg_mean"}, {"bn.running_var", "bn/avg_var"}};
  for (const auto& [name, key] : others) by_name[name] = Variable(net.state_dict().at(key));
  BOOST_TEST(by_name.contains("l1.weight"));
  other.load_state_dict(by_name);
  BOOST_TEST(of(other.l1.W) == of(net.l1.W), boost::test_tools::per_element());
  BOOST_TEST(of(other.bn.gamma) == of(net.bn.gamma), boost::test_tools::per_element());
  std::map<std::string, Array> by_key;
  for (const auto& [key, array] : net.state_dict()) by_key[key] = array;
  autograd::fill(other.l2.W.data(), 0);
  other.load_state_dict(by_key);
  BOOST_TEST(of(other.l2.W) == of(net.l2.W), boost::test_tools::per_element());
  nn::StateDict state = net.state_dict();
  const nn::StateDict copy = nn::deepcopy(state);
  const Doubles before = of(net.l1.W);
  autograd::fill(state.at("l1/W"), 9);
  BOOST_TEST(autograd::to_vector<double>(copy.at("l1/W")) == before, boost::test_tools::per_element());
  BOOST_TEST((copy.origin == nn::StateDict::Origin::link));
  state.erase("l2/W");
  state["extra"] = floats({1}, {1});
  const nn::LoadReport report = net.load_state_dict(state, {.strict = false});
  BOOST_TEST(report.missing_keys == (std::vector<std::string>{"l2.weight"}), boost::test_tools::per_element());
  BOOST_TEST(report.unexpected_keys == (std::vector<std::string>{"extra"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(models_of_safetensors) {
  const TemporaryFolder folder("safetensors_model");
  Net net(4), other(4);
  nn::safetensors::save_model(net, folder / "m.safetensors");
  const nn::LoadReport report = nn::safetensors::load_model(other, folder / "m.safetensors");
  BOOST_TEST(report.is_complete());
  BOOST_TEST(of(other.l2.W) == of(net.l2.W), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(names_of_pytorch) {
  Net net(4);
  nn::StateDict state;
  for (const auto& [key, array] : net.state_dict()) state[key] = array;
  const Array W = state.at("l1/W");
  state.erase("l1/W");
  state["l1.weight"] = W;
  BOOST_TEST(state.key_of("l1.weight") == "l1.weight");
  autograd::fill(state["l1.weight"], 3);
  const nn::LoadReport report = net.load_state_dict(state, {.strict = false, .style = nn::KeyStyle::pytorch});
  BOOST_TEST(report.loaded.size() == 1U);
  BOOST_TEST(of(net.l1.W) == Doubles(6, 3.0), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(texts_and_numbers) {
  Texts from, to;
  from.name = "h\u00e9llo";
  from.number = 2.5;
  to.empty = "something";
  const nn::StateDict state = nn::state_dict(from);
  BOOST_TEST(state.texts.at("name") == from.name);
  BOOST_TEST(state.size() == 1U);
  nn::load_state_dict(to, state);
  BOOST_TEST(to.name == from.name);
  BOOST_TEST(to.empty == "");
  BOOST_TEST(to.number == 2.5);
  // A text that exists before, and one with a NUL character.
  nn::StateDict named = state;
  std::string name = "before";
  name = named["name"];
  BOOST_TEST(name == from.name);
  const std::string with_nul("a\0b", 3);
  BOOST_TEST(nn::NamedState(with_nul).state().texts.at("") == with_nul);
}

// Entries are also found by their names in PyTorch.
BOOST_AUTO_TEST_CASE(entries_by_names_of_pytorch) {
  Net net(4);
  nn::StateDict state = net.state_dict();
  const std::size_t entries = state.size();
  BOOST_TEST(state.key_of("l2.weight") == "l2/W");
  BOOST_TEST(state.key_of("l2/W") == "l2/W");
  BOOST_TEST(state.key_of("l3.weight") == "l3.weight");
  BOOST_TEST(state.contains("l2.bias"));
  BOOST_TEST(!state.contains("l3.bias"));
  BOOST_TEST((state.at("l1.weight").get() == state.at("l1/W").get()));
  BOOST_TEST((static_cast<const Array&>(state["bn.weight"]).get() == state.at("bn/gamma").get()));
  BOOST_TEST((state["bn.running_mean"].shape() == state.at("bn/avg_mean").shape()));
  BOOST_CHECK_THROW(state.at("l3.weight"), std::out_of_range);
  state["l1.weight"] = autograd::ones_like(net.l1.W.data());
  BOOST_TEST(state.size() == entries);
  BOOST_TEST(state.erase("l2.bias") == 1u);
  BOOST_TEST(state.erase("l2.bias") == 0u);
  const auto [missing, unexpected] = net.load_state_dict(state, {.strict = false});
  BOOST_TEST(missing == std::vector<std::string>{"l2/b"});
  BOOST_TEST(unexpected.empty());
  BOOST_TEST(autograd::to_vector<float>(net.l1.W.data())[0] == 1);
}

// A key may be the name of another entry in PyTorch.
BOOST_AUTO_TEST_CASE(keys_that_are_names_of_other_entries) {
  nn::Link link;
  link.add_param("W", nn::Parameter(1.0, {2}));
  link.add_param("weight", nn::Parameter(2.0, {3}));
  const auto check = [](const nn::StateDict& state) {
    BOOST_TEST(state.size() == 2U);
    BOOST_TEST(autograd::to_vector<double>(state.at("W")) == Doubles(2, 1.0), boost::test_tools::per_element());
    BOOST_TEST(autograd::to_vector<double>(state.at("weight")) == Doubles(3, 2.0), boost::test_tools::per_element());
  };
  check(link.state_dict());
  const TemporaryFolder folder("state_dict_names");
  nn::save(link.state_dict(), folder / "m.npz");
  check(nn::load(folder / "m.npz"));
  nn::save({{"model", link.state_dict()}}, folder / "c.npz");
  check(nn::load(folder / "c.npz").below("model"));
}

// Parameters of unknown shape cannot be stored, and are made by loading.
BOOST_AUTO_TEST_CASE(parameters_without_values) {
  nn::Linear pending(4), made(3, 4);
  BOOST_CHECK_THROW(pending.state_dict(), catena::ValueError);
  pending.load_state_dict(made.state_dict());
  BOOST_TEST(pending.W.shape() == (Shape{4, 3}));
}

BOOST_AUTO_TEST_CASE(members_of_links) {
  Net net(4);
  BOOST_TEST(net.parameters().size() == 6U);
  BOOST_TEST(net.named_parameters()[2].path == "l2.weight");
  BOOST_TEST(net.named_parameters()[5].path == "bn.bias");
  BOOST_TEST(net.named_modules()[0].path.empty());
  BOOST_TEST(net.named_modules()[1].path == "l1");
  net.l1.W.set_grad(autograd::ones_like(net.l1.W.data()));
  net.zero_grad();
  BOOST_TEST(!net.l1.W.grad());
  net.l1.requires_grad_(false);
  BOOST_TEST(!net.l1.W.requires_grad());
  BOOST_TEST(net.l2.W.requires_grad());
  net.requires_grad_();
  BOOST_TEST(net.l1.W.requires_grad());
  BOOST_TEST(net.to(Dtype::float64).params()[0].dtype() == Dtype::float64);
  BOOST_TEST((net.to("cpu").device() == autograd::Device()));
  BOOST_TEST((net.to(catena::to_string(autograd::Device())).device() == autograd::Device()));
  BOOST_TEST((net.to(autograd::Device()).device() == autograd::Device()));
  for (const char* text : {"gpu", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", ""})
    BOOST_TEST(message_of<catena::ValueError>([&] { net.to(text); }).find("cuda:1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(files) {
  const TemporaryFolder folder("state_dict");
  Net net(4);
  net.bn.N = 5;
  const nn::StateDict state = net.state_dict();
  for (const char* name : {"m.npz", "m.safetensors"}) {
    const std::string path = folder / name;
    nn::save(state, path);
    const nn::StateDict read = nn::load(path);
    BOOST_TEST(read.size() == state.size());
    for (const auto& [key, array] : state) {
      BOOST_TEST(read.at(key).dtype() == array.dtype());
      BOOST_TEST((read.at(key).shape() == array.shape()));
      BOOST_TEST(autograd::to_vector<double>(read.at(key)) == autograd::to_vector<double>(array),
                 boost::test_tools::per_element());
    }
    Net other(4);
    BOOST_TEST(other.load_state_dict(read).is_complete());
    BOOST_TEST(of(other.l2.W) == of(net.l2.W), boost::test_tools::per_element());
  }
  nn::save_file(state, folder / "any name");
  BOOST_TEST(nn::load_file(folder / "any name").size() == state.size());
  // Texts, in files that can have them.
  Texts texts{"a name", "", 3};
  const nn::StateDict with_texts = nn::state_dict(texts);
  nn::save(with_texts, folder / "t.npz");
  BOOST_TEST(nn::load(folder / "t.npz").texts.at("name") == "a name");
  BOOST_TEST(nn::load(folder / "t.npz").texts.at("empty").empty());
  BOOST_CHECK_THROW(nn::save(with_texts, folder / "t.safetensors"), catena::TypeError);
  nn::save(state, folder / "m.pt");
  BOOST_TEST(nn::load(folder / "m.pt").size() == state.size());
  BOOST_CHECK_THROW(nn::load(folder / "none.npz"), catena::IOError);
  BOOST_CHECK_THROW(nn::load(folder / "none.pt"), catena::IOError);
}

BOOST_AUTO_TEST_SUITE_END()
