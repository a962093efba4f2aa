// The networks for images at their full size, against values recorded with Chainer 1.24 and PyTorch: names and shapes,
// stages, predictions, files of Caffe, npz files in the folder of the models.
#include <catena/nn/vision.h>

#include <thread>

#include <catena/kernels/formats/cache.h>
#include <catena/tests/support/attributes.h>
#include <catena/tests/support/caffe_models.h>
#include <catena/tests/support/environment.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/run_self.h>
#include <catena/tests/support/vision_fixture.h>

using namespace test;

namespace {

const Json& recorded(const std::string& network) {
  static const Golden golden = Golden::open("vision/networks");
  return golden.cases()[network];
}
using Strings = std::vector<std::string>;

// On the software device, networks of this size take minutes.
bool is_on_cpu() {
  if (default_device() == kCpu) return true;
  std::cout << "skipped: full networks run on the CPU\n";
  return false;
}

// Compares names, shapes and all stages for the recorded input, and returns the stages; the weights follow the rule of
// the fixture afterwards.
nn::FeatureMaps check_network(nn::VisionModel& net, const std::string& name) {
  const Json& expected = recorded(name);
  BOOST_TEST(net.available_layers() == expected["layers"].get<Strings>(), boost::test_tools::per_element());
  BOOST_TEST(Entries::of(net) == expected["entries"].get<Strings>(), boost::test_tools::per_element());
  BOOST_TEST(net.count_params() == expected["count"].get<std::int64_t>());
  Filler::fill(net);
  const auto sizes = expected["input"].get<std::vector<std::int64_t>>();
  const Variable x(pattern_array("x", {sizes[0], sizes[1], sizes[2], sizes[3]}), {.volatile_ = autograd::ON});
  const nn::FeatureMaps maps = net(x, {.layers = net.available_layers()});
  BOOST_TEST(maps.size() == expected["layers"].size());
  std::size_t i = 0;
  for (const auto& [stage, y] : maps) {
    BOOST_TEST(stage == expected["layers"][i++].get<std::string>());
    check_samples(y, expected["stages"][stage], 1e-3, name + " " + stage);
  }
  return maps;
}

// The image of which the fixture has predictions.
Array recorded_image() {
  std::vector<float> v(3 * 250 * 270);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = float(i * 7 % 256);
  return floats(v, {3, 250, 270});
}

double deviation(const Array& a) {
  double sum = 0, squares = 0;
  const std::vector<double> v = autograd::to_vector<double>(a);
  for (const double e : v) {
    sum += e;
    squares += e * e;
  }
  return std::sqrt(squares / double(v.size()) - sum * sum / double(v.size()) / double(v.size()));
}

// ---- files of Caffe -----------------------------------------------------------------------------
// A blob with the elements of a key; shapes as in Caffe's files.
Message blob(const std::string& key, const Shape& shape) {
  return caffe_blob(std::vector<std::int64_t>(shape.begin(), shape.end()), pattern_of(key, shape));
}
Message convolution(const std::string& name, const Shape& W, bool bias) {
  Message layer = caffe_layer("Convolution", name, {"data"}, {"data"});
  layer.message(7, blob(name + "/W", W));
  if (bias) layer.message(7, blob(name + "/b", {W[0]}));
  return layer.message(106, Message().varint(1, std::uint64_t(W[0])).varint(2, bias).varint(4, std::uint64_t(W[2])));
}
Message inner_product(const std::string& name, const Shape& W) {
  return caffe_layer("InnerProduct", name, {"data"}, {"data"})
      .message(7, blob(name + "/W", W))
      .message(7, blob(name + "/b", {W[0]}))
      .message(117, Message().varint(1, std::uint64_t(W[0])));
}
Message batch_norm(const std::string& name, std::int64_t n) {
  return caffe_layer("BatchNorm", name, {"data"}, {"data"})
      .message(7, blob(name + "/avg_mean", {n}))
      .message(7, blob(name + "/avg_var", {n}))
      .message(7, caffe_blob({1}, {1}))
      .message(139, Message().varint(1, 1));
}
Message scale(const std::string& name, std::int64_t n) {
  return caffe_layer("Scale", name, {"data"}, {"data"})
      .message(7, blob(name + "/W", {n}))
      .message(7, blob(name + "/b", {n}))
      .message(142, Message().varint(4, 1));
}

Array param_of(nn::Link& net, const std::string& path) {
  for (const nn::NamedParam& p : net.namedparams())
    if (p.path == path) return p.param.data();
  BOOST_FAIL("no parameter " << path);
  return {};
}
void check_pattern(nn::Link& net, const std::string& path, const std::string& key) {
  const Array a = param_of(net, path);
  BOOST_TEST(same_bits(a, pattern_array(key, a.shape())), path);
}

const std::vector<std::pair<std::string, std::string>> kModuleNames = {{"conv1", "1x1"}, {"proj3", "3x3_reduce"},
                                                                       {"conv3", "3x3"}, {"proj5", "5x5_reduce"},
                                                                       {"conv5", "5x5"}, {"projp", "pool_proj"}};

// bvlc_googlenet, whose layers have the shapes of the recorded names.
Message googlenet_of_caffe() {
  std::map<std::string, std::string> names = {{"conv1", "conv1/7x7_s2"},
                                              {"conv2_reduce", "conv2/3x3_reduce"},
                                              {"conv2", "conv2/3x3"},
                                              {"loss3_fc", "loss3/classifier"}};
  for (const char* loss : {"loss1", "loss2"}) {
    names[std::string(loss) + "_conv"] = std::string(loss) + "/conv";
    names[std::string(loss) + "_fc1"] = std::string(loss) + "/fc";
    names[std::string(loss) + "_fc2"] = std::string(loss) + "/classifier";
  }
  for (const char* module : {"3a", "3b", "4a", "4b", "4c", "4d", "4e", "5a", "5b"})
    for (const auto& [ours, theirs] : kModuleNames)
      names["inc" + std::string(module) + "/" + ours] = "inception_" + std::string(module) + "/" + theirs;
  nn::GoogLeNet net(nullptr);
  std::vector<Message> layers;
  for (const nn::NamedParam& p : net.namedparams()) {
    if (!p.path.ends_with("/W")) continue;
    const std::string name = names.at(p.path.substr(1, p.path.size() - 3));
    layers.push_back(p.param.ndim() == 4 ? convolution(name, p.param.shape(), true)
                                         : inner_product(name, p.param.shape()));
  }
  return caffe_net(layers);
}

// The names of the layers of a block in Caffe: 2a, 2b, 2c, or 3a, 3b1, 3b2, ...
Strings resnet_layers(int block, int n, bool numbered) {
  Strings names;
  for (int i = 0; i < n; ++i)
    names.push_back(std::to_string(block) +
                    (numbered && i > 0 ? "b" + std::to_string(i) : std::string(1, char('a' + i))));
  return names;
}

// A file of a residual network, and the pairs {path in the network, key} of what it has.
Message resnet_of_caffe(nn::ResNetLayers& net, std::vector<std::pair<std::string, std::string>>& pairs) {
  const bool is_50 = net.n_layers == 50;
  std::vector<Message> layers;
  const auto add = [&](const std::string& conv, const std::string& bn, const std::string& name,
                       const std::string& conv_name) {
    const Shape W = param_of(net, conv + "/W").shape();
    const bool bias = conv == "/conv1" && is_50;
    layers.push_back(convolution(conv_name, W, bias));
    layers.push_back(batch_norm("bn" + name, W[0]));
    layers.push_back(scale("scale" + name, W[0]));
    pairs.insert(pairs.end(), {{conv + "/W", conv_name + "/W"},
                               {bn + "/gamma", "scale" + name + "/W"},
                               {bn + "/beta", "scale" + name + "/b"}});
    if (bias) pairs.emplace_back(conv + "/b", conv_name + "/b");
  };
  add("/conv1", "/bn1", "_conv1", "conv1");
  const int counts[] = {3, is_50 ? 4 : net.n_layers == 101 ? 4 : 8, is_50 ? 6 : net.n_layers == 101 ? 23 : 36, 3};
  for (int block = 2; block <= 5; ++block) {
    const bool numbered = !is_50 && (block == 3 || block == 4);
    const Strings names = resnet_layers(block, counts[block - 2], numbered);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string path = "/res" + std::to_string(block) + (i == 0 ? "/a" : "/b" + std::to_string(i));
      const char* const branches[] = {"2a", "2b", "2c", "1"};
      for (int k = 0; k < (i == 0 ? 4 : 3); ++k) {
        const std::string name = names[i] + "_branch" + branches[k], number = std::to_string(k + 1);
        add(path + "/conv" + number, path + "/bn" + number, name, "res" + name);
      }
    }
  }
  layers.push_back(inner_product("fc1000", {1000, 2048}));
  pairs.insert(pairs.end(), {{"/fc6/W", "fc1000/W"}, {"/fc6/b", "fc1000/b"}});
  return caffe_net(layers);
}

void check_resnet_file(nn::ResNetLayers& like, const std::function<void(nn::ResNetLayers&, const std::string&)>& more) {
  const TemporaryFolder folder("resnet");
  std::vector<std::pair<std::string, std::string>> pairs;
  write_file(folder / "x.caffemodel", resnet_of_caffe(like, pairs).bytes);
  nn::ResNetLayers::convert_caffemodel_to_npz(folder / "x.caffemodel", folder / "x.npz", like.n_layers);
  nn::ResNetLayers net(folder / "x.npz", like.n_layers);
  BOOST_TEST(pairs.size() + (like.n_layers == 50 ? 0 : 1) == net.params().size());
  for (const auto& [path, key] : pairs) check_pattern(net, path, key);
  const std::string bn = like.n_layers == 50 ? "bn4f_branch2c/" : "bn4b5_branch2c/";
  auto& last = dynamic_cast<nn::BottleneckB&>(net.res4["b5"]).bn3;
  BOOST_TEST(same_bits(last.avg_mean.array(), pattern_array(bn + "avg_mean", {1024})));
  BOOST_TEST(same_bits(last.avg_var.array(), pattern_array(bn + "avg_var", {1024})));
  if (like.n_layers != 50) BOOST_TEST(autograd::item(autograd::sum(net.conv1.b->data() * net.conv1.b->data())) == 0.0);
  more(net, folder.path.string());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(vision_networks)

BOOST_AUTO_TEST_CASE(vgg, *slow()) {
  if (!is_on_cpu()) return;
  autograd::seed(1);
  nn::VGG16Layers net(nullptr);
  BOOST_TEST(std::fabs(deviation(net.fc8.W.data()) - 0.01) < 2e-5);
  BOOST_TEST(std::fabs(deviation(net.conv5_1.W.data()) - 0.01) < 2e-5);
  BOOST_TEST(deviation(net.fc8.b->data()) == 0);
  const nn::FeatureMaps maps = check_network(net, "VGG16Layers");
  // In training mode, dropout keeps half of the units, doubled.
  const Variable x(pattern_array("x", {1, 3, 224, 224}), {.volatile_ = autograd::ON});
  const auto kept = values(net(x, {.layers = {"fc6"}, .test = false})["fc6"].data());
  const auto units = values(maps["fc6"].data());
  std::size_t dropped = 0, active = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i] == 0) continue;
    ++active;
    if (kept[i] == 0) ++dropped;
    else BOOST_TEST(std::fabs(kept[i] - 2 * units[i]) <= 1e-4 * units[i]);
  }
  BOOST_TEST(std::fabs(double(dropped) / double(active) - 0.5) < 0.05);
}

// With unit filters in its three further convolutions, the network computes what that of 16 layers does.
BOOST_AUTO_TEST_CASE(vgg19, *slow()) {
  if (!is_on_cpu()) return;
  nn::VGG16Layers smaller(nullptr);
  Filler::fill(smaller);
  nn::VGG19Layers net(nullptr);
  BOOST_TEST(net.count_params() == 143667240);
  BOOST_TEST(net.available_layers().size() == 25u);
  BOOST_TEST(net.available_layers()[11] == "conv4_1");
  BOOST_TEST(std::fabs(deviation(net.conv5_4.W.data()) - 0.01) < 2e-5);
  for (const nn::NamedParam& p : smaller.namedparams())
    for (const nn::NamedParam& q : net.namedparams())
      if (p.path == q.path) autograd::assign(q.param.data(), p.param.data());
  const Variable x(pattern_array("x", {1, 3, 32, 32}), {.volatile_ = autograd::ON});
  const Array expected = smaller(x, {"pool5"})["pool5"].data();
  BOOST_TEST(!same_bits(net(x, {"pool5"})["pool5"].data(), expected));
  for (nn::Convolution2D* conv : {&net.conv3_4, &net.conv4_4, &net.conv5_4}) {
    autograd::fill(conv->b->data(), 0);
    autograd::fill(conv->W.data(), 0);
    const Array middle = autograd::slice(autograd::slice(conv->W.data(), 2, 1, 2), 3, 1, 2);
    nn::initializers::Identity()(autograd::squeeze(middle, {2, 3}));
  }
  check_close(net(x, {"pool5"})["pool5"].data(), expected, 1e-4, 1e-4, "vgg19");
  const TemporaryFolder folder("vgg19");
  nn::serializers::internal::write_safetensors(folder / "none.safetensors", nn::serializers::DictionarySerializer(),
                                               {});
  BOOST_CHECK_THROW(net.load_torchvision(folder / "none.safetensors"), catena::KeyError);
}

BOOST_AUTO_TEST_CASE(googlenet) {
  if (!is_on_cpu()) return;
  nn::GoogLeNet net(nullptr);
  BOOST_TEST(std::fabs(deviation(net.loss1_fc1.W.data()) / std::sqrt(1.0 / 2048) - 1) <
             0.01);  // U(-s, s), s^2 = 3 / fan
  BOOST_TEST(std::fabs(deviation(net.inc5b.conv1.W.data()) / std::sqrt(1.0 / 832) - 1) < 0.01);
  check_network(net, "GoogLeNet");
  const Array image = recorded_image();
  check_samples(net.predict({image}, {.oversample = false}), recorded("GoogLeNet")["center"], 1e-3, "centre");
  const Variable y = net.predict({image, image});
  BOOST_TEST(y.shape() == Shape({2, 1000}));
  BOOST_TEST(y.volatile_flag() == autograd::ON);
  check_samples(y[catena::Slice(1, 2)], recorded("GoogLeNet")["oversample"], 1e-3, "ten crops");
  // Layers in another order and twice; a list of names; training mode.
  const Variable x(autograd::expand_dims(nn::GoogLeNet::prepare(image), 0));
  const nn::FeatureMaps maps = net(x, {"loss2_fc2", "pool1", "pool1"});
  BOOST_TEST(maps.size() == 2u);
  BOOST_TEST(maps.begin()->first == "pool1");
  BOOST_TEST(maps["loss2_fc2"].shape() == Shape({1, 1000}));
  const Variable fc = net(x, {.layers = {"loss3_fc"}})["loss3_fc"];
  BOOST_TEST(same_bits(fc.data(), net.extract(image, {"loss3_fc"})["loss3_fc"].data()));
  BOOST_TEST(!same_bits(fc.data(), net(x, {.layers = {"loss3_fc"}, .train = true})["loss3_fc"].data()));
  BOOST_TEST(!same_bits(fc.data(), net(x, {.layers = {"loss3_fc"}, .test = false})["loss3_fc"].data()));
  BOOST_TEST(!same_bits(fc.data(), net.extract(image, {.layers = {"loss3_fc"}, .test = false})["loss3_fc"].data()));
  BOOST_TEST(net.extract(image).begin()->first == "pool5");
}

BOOST_AUTO_TEST_CASE(residual_networks) {
  if (!is_on_cpu()) return;
  nn::ResNet50Layers net(nullptr);
  BOOST_TEST(
      std::fabs(deviation(dynamic_cast<nn::BottleneckB&>(net.res5["b1"]).conv2.W.data()) / std::sqrt(2.0 / (512 * 9)) -
                1) < 0.01);
  BOOST_TEST(std::fabs(deviation(net.fc6.W.data()) / std::sqrt(1.0 / 2048) - 1) < 0.01);
  BOOST_TEST(net.bn1.eps == 2e-5);
  BOOST_TEST(dynamic_cast<nn::BottleneckB&>(net.res4["b5"]).bn3.eps == 2e-5);
  const Variable any(pattern_array("x", {1, 3, 32, 32}));
  BOOST_TEST(!autograd::has_nan(net(any)["prob"].data()));
  check_network(net, "ResNet50Layers");
  check_samples(net.predict(recorded_image(), false), recorded("ResNet50Layers")["center"], 1e-3, "centre");
  // Training mode uses the statistics of the batch, and gradients reach all parameters.
  const Variable x(pattern_array("x", {2, 3, 40, 32}));
  const Variable fc = net(x, {.layers = {"fc6"}, .test = false})["fc6"];
  BOOST_TEST(!same_bits(fc.data(), net(x, {"fc6"})["fc6"].data()));
  fc.sum().backward();
  for (const nn::NamedParam& p : net.namedparams()) BOOST_TEST(bool(p.param.grad()), p.path);
}

BOOST_AUTO_TEST_CASE(deeper_residual_networks, *slow()) {
  if (!is_on_cpu()) return;
  {
    nn::ResNet101Layers net(nullptr);
    check_network(net, "ResNet101Layers");
  }
  nn::ResNet152Layers net(nullptr);
  check_network(net, "ResNet152Layers");
}

// This part runs on all devices.
BOOST_AUTO_TEST_CASE(features_of_images) {
  nn::ResNet50Layers net(nullptr);
  Filler::fill(net);
  const Array image = floats(pattern_of("image/b", {3, 40, 33}), {3, 40, 33}) * 255 + 100;
  const nn::FeatureMaps maps =
      net.extract({image, image}, {.layers = {"conv1", "pool5"}, .size = {{32, 40}}, .volatile_ = autograd::ON});
  BOOST_TEST(maps.size() == 2u);
  BOOST_TEST(maps.contains("conv1"));
  BOOST_TEST(!maps.contains("prob"));
  const Variable y = maps["pool5"];
  BOOST_TEST(y.shape() == Shape({2, 2048}));
  BOOST_TEST(y.volatile_flag() == autograd::ON);
  BOOST_TEST((y.device() == default_device()));
  const Array prepared = nn::ResNet50Layers::prepare(image, {.size = {{32, 40}}});
  BOOST_TEST(prepared.shape() == Shape({3, 40, 32}));
  const Variable x(autograd::to_device(autograd::expand_dims(prepared, 0), net.device()));
  check_close(net(x, {"pool5"})["pool5"].data(), y[catena::Slice(0, 1)].data(), 1e-4, 1e-4, "pool5");
  BOOST_TEST(net.extract(image, {"conv1"}, std::nullopt)["conv1"].shape() == Shape({1, 64, 20, 17}));

  BOOST_TEST(message_of<catena::ValueError>([&] {
               net.extract({image, autograd::arrays::zeros({3, 40, 32})}, {.size = std::nullopt});
             }) ==
             "extract: image 1 is 40 x 32 pixels and image 0 40 x 33; give a size, to which all of them are resized");
  BOOST_TEST(has(message_of<catena::KeyError>([&] { net(x, {"fc7"}); }),
                 "there is no layer \"fc7\"; the layers are conv1, pool1, res2, res3, res4, res5, pool5, fc6, prob"));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { net.extract(image, {"fc7"}); }), "fc7"));
  BOOST_TEST(message_of<catena::KeyError>([&] { maps["fc6"]; }) ==
             "FeatureMaps: there is no \"fc6\" among the results: conv1, pool5");
  BOOST_TEST(has(message_of<catena::ValueError>([&] { net.predict(std::vector<Array>()); }), "there are no images"));
  // A copy has stages of its own.
  nn::ResNet50Layers other = net;
  autograd::fill(other.fc6.W.data(), 0);
  BOOST_TEST(!same_bits(other(x, {"fc6"})["fc6"].data(), net(x, {"fc6"})["fc6"].data()));
}

BOOST_AUTO_TEST_CASE(files_of_googlenet) {
  if (!is_on_cpu()) return;
  const TemporaryFolder root("googlenet");
  const Environment variable("CATENA_DATASET_ROOT", root.path.string());
  const std::filesystem::path models = root.path / "pfnet/chainer/models";
  std::filesystem::create_directories(models);
  write_file((models / "bvlc_googlenet.caffemodel").string(), googlenet_of_caffe().bytes);
  // Two processes begin at once.
  Run runs[2];
  std::thread other(
      [&] { runs[0] = run_self("--source=integration/vision_networks_test.cpp --run_test='*/of_a_child'"); });
  runs[1] = run_self("--source=integration/vision_networks_test.cpp --run_test='*/of_a_child'");
  other.join();
  for (const Run& run : runs) BOOST_TEST(run.status == 0, run.output);
  BOOST_TEST((runs[0].says("Now loading caffemodel") || runs[1].says("Now loading caffemodel")));
  // From then on, the npz file is read.
  std::filesystem::remove(models / "bvlc_googlenet.caffemodel");
  BOOST_TEST(std::filesystem::exists(models / "bvlc_googlenet.npz"));
  nn::GoogLeNet net;
  const catena::NpzReader npz("test", (models / "bvlc_googlenet.npz").string());
  Strings keys;
  for (const std::string& key : npz.keys()) {
    keys.push_back(key);
    for (const std::int64_t n : npz.read(key).shape) keys.back() += " " + std::to_string(n);
  }
  std::sort(keys.begin(), keys.end());
  BOOST_TEST(keys == recorded("GoogLeNet")["entries"].get<Strings>(), boost::test_tools::per_element());
  for (const auto& [ours, theirs] : kModuleNames) {
    check_pattern(net, "/inc4c/" + ours + "/W", "inception_4c/" + theirs + "/W");
    check_pattern(net, "/inc4c/" + ours + "/b", "inception_4c/" + theirs + "/b");
  }
  check_pattern(net, "/conv2_reduce/W", "conv2/3x3_reduce/W");
  check_pattern(net, "/loss1_fc1/W", "loss1/fc/W");
  check_pattern(net, "/loss2_fc2/b", "loss2/classifier/b");
  BOOST_TEST(has(message_of<catena::NotImplementedError>([&] { net.load_torchvision("googlenet.safetensors"); }),
                 "googlenet.safetensors"));
  // A caffemodel of another network.
  write_file(root / "x.caffemodel", caffe_net({convolution("conv1/7x7_s2", {64, 3, 7, 7}, true)}).bytes);
  const std::string message = message_of<catena::KeyError>([&] { nn::GoogLeNet(root / "x.caffemodel"); });
  BOOST_TEST(has(message, root / "x.caffemodel"));
  BOOST_TEST(!std::filesystem::exists(root / "x.npz"));
}

// Each process that files_of_googlenet starts runs this case. Run alone, the case is skipped: there is no file of a
// model.
BOOST_AUTO_TEST_CASE(of_a_child) {
  if (!std::filesystem::exists(catena::cache_root() + "/pfnet/chainer/models/bvlc_googlenet.caffemodel")) {
    std::cout << "skipped: there is no model of another process\n";
    return;
  }
  nn::GoogLeNet net;
  check_pattern(net, "/conv1/W", "conv1/7x7_s2/W");
  check_pattern(net, "/loss3_fc/b", "loss3/classifier/b");
}

BOOST_AUTO_TEST_CASE(files_of_residual_networks, *slow()) {
  if (!is_on_cpu()) return;
  {
    nn::ResNet50Layers like(nullptr);
    check_resnet_file(like, [](nn::ResNetLayers& net, const std::string& folder) {
      // A caffemodel as argument is converted beside it.
      std::filesystem::rename(folder + "/x.caffemodel", folder + "/own.caffemodel");
      const Environment variable("CATENA_DATASET_ROOT", folder);
      nn::ResNet50Layers converted(folder + "/own.caffemodel");
      BOOST_TEST(same_bits(converted.fc6.W.data(), net.fc6.W.data()));
      BOOST_TEST(file_content(folder + "/own.npz") == file_content(folder + "/x.npz"));
      // safetensors files with these names are read by their extension.
      nn::serializers::save_safetensors(folder + "/x.safetensors", net);
      nn::ResNet50Layers read(folder + "/x.safetensors");
      BOOST_TEST(same_bits(read.fc6.W.data(), net.fc6.W.data()));
      BOOST_TEST(!read.pool1_pads);
    });
  }
  nn::ResNet101Layers like(nullptr);
  check_resnet_file(like, [](nn::ResNetLayers&, const std::string&) {});
}

// A file of VGG is stored under its own names; here it has two layers.
BOOST_AUTO_TEST_CASE(files_of_vgg) {
  const TemporaryFolder folder("vgg");
  write_file(folder / "x.caffemodel",
             caffe_net({convolution("conv1_1", {64, 3, 3, 3}, true), inner_product("fc8", {10, 4})}).bytes);
  nn::VGG16Layers::convert_caffemodel_to_npz(folder / "x.caffemodel", folder / "x.npz");
  const catena::NpzReader npz("test", folder / "x.npz");
  BOOST_TEST(npz.keys() == Strings({"conv1_1/W", "conv1_1/b", "fc8/W", "fc8/b"}), boost::test_tools::per_element());
  BOOST_TEST(same_bits(to_array(npz.read("conv1_1/W")), pattern_array("conv1_1/W", {64, 3, 3, 3})));
}

// Weights of torchvision: the same result as there for an image in its own preparation.
BOOST_AUTO_TEST_CASE(weights_of_torchvision) {
  if (!is_on_cpu()) return;
  for (const char* name : {"resnet101", "resnet152"}) BOOST_TEST(recorded(name)["entries"].size() > 600u);
  const Json& expected = recorded("resnet50");
  const TemporaryFolder folder("torchvision");
  nn::serializers::DictionarySerializer state;
  for (const Json& entry : expected["entries"]) {
    const std::string text = entry;
    const std::size_t space = text.find(' ');
    std::string key = text.substr(0, space);
    Shape shape;
    for (std::size_t at = space; at != text.npos; at = text.find(' ', at + 1))
      shape.push_back(std::stoll(text.substr(at)));
    if (key.ends_with("num_batches_tracked")) continue;
    std::string parent = key.substr(0, key.rfind('.')), last = key.substr(key.rfind('.') + 1);
    std::replace(parent.begin(), parent.end(), '.', '/');
    const bool normalizes = parent.find("bn") != parent.npos || parent.ends_with("downsample/1");
    last = last == "weight"         ? (normalizes ? "gamma" : "W")
           : last == "bias"         ? (normalizes ? "beta" : "b")
           : last == "running_mean" ? "avg_mean"
                                    : "avg_var";
    Array values = pattern_array(parent + "/" + last, shape);
    state(key, values);
  }
  nn::serializers::internal::write_safetensors(folder / "resnet50.safetensors", state, {});
  nn::ResNet50Layers net(folder / "resnet50.safetensors");
  std::vector<float> image(3 * 40 * 32);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = float(i * 7 % 251);
  const Variable y = net.extract(floats(image, {3, 40, 32}), {"fc6"}, std::nullopt)["fc6"];
  check_samples(y, expected["result"], 1e-3, "resnet50");
  BOOST_TEST(net.mean[0] == 255 * 0.406f);
  // Once more: nothing changes.
  net.load_torchvision(folder / "resnet50.safetensors");
  BOOST_TEST(same_bits(net.extract(floats(image, {3, 40, 32}), {"fc6"}, std::nullopt)["fc6"].data(), y.data()));
}

BOOST_AUTO_TEST_SUITE_END()
