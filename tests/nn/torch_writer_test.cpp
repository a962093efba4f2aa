// Files of PyTorch that are written here, as its reader takes them: names, dtypes, numbers, and what is refused.
#include <limits>

#include <catena/nn/links.h>
#include <catena/nn/serializers/state_dict.h>
#include <catena/nn/serializers/torch.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

const auto each = boost::test_tools::per_element();
struct Net : nn::Chain {
  nn::Linear fc{2, 3};
  nn::BatchNormalization bn{3};
  NN_MEMBERS(fc, bn)
};
std::vector<double> of(const Array& a) { return autograd::to_vector<double>(a); }

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_writer)

BOOST_AUTO_TEST_CASE(a_model_has_names_of_pytorch) {
  const TemporaryFolder folder("torch_writer");
  const std::string file = folder / "model.pth";
  Net net, other;
  net.bn.N = 4;
  nn::save(net, file);
  const nn::serializers::ArrayMap arrays = nn::read_torch(file);
  std::string keys;
  for (const auto& [key, array] : arrays) keys += key + " ";
  BOOST_TEST(keys == "bn.bias bn.num_batches_tracked bn.running_mean bn.running_var bn.weight fc.bias fc.weight ");
  BOOST_TEST(of(arrays.at("fc.weight")) == of(net.fc.W.data()), each);
  nn::load(other, file);
  BOOST_TEST(of(other.fc.W.data()) == of(net.fc.W.data()), each);
  BOOST_TEST(other.bn.N == 4);
  nn::StateDict state = nn::load(file);
  Net third;
  third.load_state_dict(state);
  BOOST_TEST(of(third.fc.W.data()) == of(net.fc.W.data()), each);
  BOOST_TEST(state.keys().size() == 7u);
}

BOOST_AUTO_TEST_CASE(a_checkpoint) {
  const TemporaryFolder folder("torch_checkpoint");
  const std::string file = folder / "checkpoint.pt";
  Net net, other;
  nn::StateDict own;
  own["group/x"] = floats({1, 2}, {2});
  nn::save({{"epoch", 3},
            {"large", std::int64_t(1) << 40},
            {"negative", -70000},
            {"best", 0.625},
            {"losses", std::vector<double>{0.5, 0.25}},
            {"mask", ints({1, 2, 3})},
            {"model", net.state_dict()},
            {"own", own}},
           file);
  nn::StateDict checkpoint = nn::load(file);
  const int epoch = checkpoint["epoch"];
  const double best = checkpoint["best"];
  const std::int64_t large = checkpoint["large"];
  BOOST_TEST(epoch == 3);
  BOOST_TEST(best == 0.625);
  BOOST_TEST(large == std::int64_t(1) << 40);
  BOOST_TEST(int(checkpoint["negative"]) == -70000);
  BOOST_TEST(of(checkpoint["losses"]) == (std::vector<double>{0.5, 0.25}), each);
  BOOST_TEST(of(checkpoint["mask"]) == (std::vector<double>{1, 2, 3}), each);
  BOOST_TEST(of(checkpoint["losses"] * 2.0) == (std::vector<double>{1, 0.5}), each);
  other.load_state_dict(checkpoint["model"]);
  BOOST_TEST(of(other.fc.W.data()) == of(net.fc.W.data()), each);
  nn::StateDict read = checkpoint["own"];
  BOOST_TEST(of(read["group/x"]) == (std::vector<double>{1, 2}), each);
  BOOST_CHECK_THROW(static_cast<void>(int(checkpoint["nothing"])), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(dtypes_shapes_and_refusals) {
  const TemporaryFolder folder("torch_dtypes");
  const std::string file = folder / "all.pt";
  for (const Dtype dtype : {Dtype::bool_, Dtype::uint8, Dtype::int8, Dtype::int16, Dtype::int32, Dtype::int64,
                            Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
    nn::StateDict state;
    state["x"] = autograd::astype(floats({1, 0, 1, 1, 0, 1}, {2, 3}), dtype);
    state["scalar"] = autograd::arrays::full({}, 1, dtype, autograd::Device{});
    state["empty"] = autograd::astype(autograd::arrays::zeros({0, 3}), dtype);
    state["strided"] = autograd::transpose(state.at("x"), {1, 0});
    nn::save(state, file);
    const nn::StateDict read = nn::load(file);
    BOOST_TEST(read.at("x").dtype() == dtype);
    BOOST_TEST(of(read.at("x")) == (std::vector<double>{1, 0, 1, 1, 0, 1}), each);
    BOOST_TEST(read.at("scalar").shape() == Shape{});
    BOOST_TEST(read.at("empty").shape() == (Shape{0, 3}));
    BOOST_TEST(of(read.at("strided")) == (std::vector<double>{1, 1, 0, 0, 1, 1}), each);
  }
  nn::StateDict wide;
  wide["x"] = autograd::astype(floats({1}, {1}), Dtype::uint32);
  BOOST_CHECK_THROW(nn::save(wide, file), catena::TypeError);
  nn::StateDict text;
  text.texts["name"] = "net";
  nn::save(text, file);
  BOOST_TEST(nn::load(file).texts.at("name") == "net");
  BOOST_CHECK_THROW(nn::save(text, folder / "net.bin"), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(texts_large_integers_and_parts_of_parts) {
  const TemporaryFolder folder("torch_texts");
  constexpr std::int64_t kLarge = (std::int64_t(1) << 53) + 1;  // no float64
  const Variable v(floats({1, 2, 3}, {3}));
  for (const char* name : {"c.pt", "c.pth", "c.pth.tar", "c.pt.tar", "c.ckpt", "c.npz"}) BOOST_TEST_CONTEXT(name) {
      const std::string file = folder / name;
      nn::save({{"arch", "resnet18"},
                {"empty", std::string()},
                {"seed", kLarge},
                {"least", std::numeric_limits<std::int64_t>::min()},
                {"best", 0.5},
                {"done", true},
                {"v", v},
                {"config", {{"lr", 0.25}, {"optimizer", "sgd"}, {"model", {{"depth", 18}}}}}},
               file);
      nn::StateDict c = nn::load(file);
      const std::string arch = c["arch"], optimizer = c["config"]["optimizer"];
      BOOST_TEST(arch == "resnet18");
      BOOST_TEST(optimizer == "sgd");
      BOOST_TEST(std::string(c["empty"]).empty());
      BOOST_TEST(std::int64_t(c["seed"]) == kLarge);
      BOOST_TEST(c.at("seed").dtype() == Dtype::int64);
      BOOST_TEST(std::int64_t(c["least"]) == std::numeric_limits<std::int64_t>::min());
      BOOST_TEST(c.at("best").dtype() == Dtype::float64);
      BOOST_TEST(int(c["done"]) == 1);
      BOOST_TEST(of(c["v"]) == (std::vector<double>{1, 2, 3}), each);
      BOOST_TEST(double(c["config"]["lr"]) == 0.25);
      BOOST_TEST(int(c["config"]["model"]["depth"]) == 18);
      const nn::StateDict config = c["config"];
      BOOST_TEST(config.texts.at("optimizer") == "sgd");
      BOOST_CHECK_THROW(static_cast<void>(std::string(c["best"])), catena::TypeError);
      BOOST_CHECK_THROW(static_cast<void>(double(c["arch"])), catena::TypeError);
      BOOST_CHECK_THROW(static_cast<void>(Variable(c)), catena::KeyError);
    }
  BOOST_CHECK_THROW(nn::save({{"arch", "resnet18"}}, folder / "c.safetensors"), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(one_array_and_the_options_of_load) {
  const TemporaryFolder folder("torch_one");
  const Variable x(floats({1, 2, 3, 4, 5, 6}, {2, 3}));
  for (const char* name : {"x.pt", "x.pth"}) {
    nn::save(x, folder / name);
    const Variable again = nn::load(folder / name);
    BOOST_TEST(again.shape() == x.shape());
    BOOST_TEST(of(again.data()) == of(x.data()), each);
    nn::save(x.data(), folder / name);
    BOOST_TEST(of(nn::load(folder / name).at("")) == of(x.data()), each);
  }
  const std::string file = folder / "x.pt";
  BOOST_TEST(nn::load(file, {.map_location = "cpu", .weights_only = true}).at("").device() == autograd::Device{});
  BOOST_TEST(nn::load(file, {.map_location = autograd::Device{}}).at("").device() == autograd::Device{});
  BOOST_CHECK_THROW(nn::load(file, {.map_location = "tpu"}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
