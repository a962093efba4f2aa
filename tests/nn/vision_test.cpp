// Networks for images, without large networks: the preparation of images against Pillow and Chainer, blocks of residual
// networks, names of layers, and what is said of weights that are not there.
#include <catena/nn/vision.h>

#include <catena/tests/support/environment.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/vision_fixture.h>

using namespace test;

namespace {

const Golden& recorded_images() {
  static const Golden golden = Golden::open("vision/images");
  return golden;
}
Array recorded(const std::string& key) { return to_array(recorded_images().array(key)); }

nn::ImageSize size_of(const Json& pair) { return {pair[0].get<int>(), pair[1].get<int>()}; }

Array form_of(const Array& image, const std::string& form) {
  if (form == "hwc") return autograd::transpose(image, {1, 2, 0});
  if (form == "chw") return autograd::astype(image, Dtype::float32);
  const Array first = autograd::slice(image, 0, 0, 1);
  return form == "hw" ? autograd::squeeze(first, 0) : first;
}

std::string prepare_error(const Shape& shape) {
  return message_of<catena::ValueError>([&] { nn::VGG16Layers::prepare(autograd::arrays::zeros(shape)); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(vision)

BOOST_AUTO_TEST_CASE(sizes_as_in_pillow) {
  BOOST_TEST((recorded_images().folder() == source_folder() / "tests/golden/vision"));
  const std::map<std::string, nn::Resample> filters = {
      {"nearest", nn::Resample::nearest}, {"bilinear", nn::Resample::bilinear}, {"bicubic", nn::Resample::bicubic}};
  int cases = 0;
  for (const Json& c : recorded_images().cases()) {
    if (!(c["kind"] == "resize")) continue;
    const std::string key = c["expected"];
    const Array y = nn::resize_image(recorded(c["image"]), size_of(c["size"]), filters.at(c["filter"]));
    BOOST_TEST(same_bits(y, recorded(key)), key);
    ++cases;
  }
  BOOST_TEST(cases == 30);
}

BOOST_AUTO_TEST_CASE(prepared_as_in_chainer) {
  int cases = 0;
  for (const Json& c : recorded_images().cases()) {
    if (!(c["kind"] == "prepare")) continue;
    const std::string network = c["network"], key = c["expected"];
    const auto prepare = network == "VGG16Layers" ? nn::VGG16Layers::prepare
                         : network == "GoogLeNet" ? nn::GoogLeNet::prepare
                                                  : nn::ResNetLayers::prepare;
    nn::PrepareOptions options{.size = std::nullopt};
    if (!c["size"].is_null()) options.size = size_of(c["size"]);
    const Array y = prepare(form_of(recorded("noise"), c["form"]), options);
    BOOST_TEST(same_bits(y, recorded(key)), key);
    ++cases;
  }
  BOOST_TEST(cases == 24);
  const Array y = nn::ResNet50Layers::prepare(recorded("noise"));
  BOOST_TEST(y.shape() == Shape({3, 224, 224}));
  // The resampling filter is that of resize_image.
  const Array smooth = nn::resize_image(recorded("noise"), {12, 10}, nn::Resample::bicubic);
  BOOST_TEST(
      same_bits(nn::GoogLeNet::prepare(recorded("noise"), {.size = {{12, 10}}, .resample = nn::Resample::bicubic}),
                nn::GoogLeNet::prepare(smooth, {.size = std::nullopt})));
}

BOOST_AUTO_TEST_CASE(crops) {
  const Array noise = recorded("noise");
  const Array both[] = {noise, autograd::astype(255 - autograd::astype(noise, Dtype::int32), Dtype::uint8)};
  BOOST_TEST(same_bits(nn::oversample({both[0], both[1]}, {21, 16}), recorded("crops")));
  const Array batch[] = {autograd::expand_dims(both[0], 0), autograd::expand_dims(both[1], 0)};
  BOOST_TEST(same_bits(nn::oversample(autograd::concatenate(batch), {21, 16}), recorded("crops")));
  BOOST_TEST(nn::oversample(noise, 5).shape() == Shape({10, 3, 5, 5}));
  const auto error = [](const nn::ImageList& images, nn::Pair size) {
    return message_of<catena::ValueError>([&] { nn::oversample(images, size); });
  };
  BOOST_TEST(error(noise, {41, 5}) == "oversample: crops of 41 x 5 pixels do not fit into images of 40 x 31");
  BOOST_TEST(has(error({noise, recorded("color")}, 5), "oversample: image 1 differs in shape or dtype"));
  BOOST_TEST(error(std::vector<Array>(), 5) == "oversample: there are no images");
}

BOOST_AUTO_TEST_CASE(no_images) {
  BOOST_TEST(has(prepare_error({4, 8, 8}), "prepare: the image has the shape (4, 8, 8)"));
  BOOST_TEST(has(prepare_error({8, 8, 4}), "take the colours: image(Slice(0, 3))"));
  BOOST_TEST(has(prepare_error({2, 8, 8}), "(2, 8, 8)"));
  BOOST_TEST(has(prepare_error({1, 3, 8, 8}), "(1, 3, 8, 8)"));
  BOOST_TEST(prepare_error({3, 0, 8}) == "prepare: the image of shape (3, 0, 8) has no pixels");
  BOOST_TEST(message_of<catena::ValueError>([] { nn::GoogLeNet::prepare(Array()); }) ==
             "prepare: the image is a null array");
  BOOST_TEST(message_of<catena::ValueError>([] {
               nn::resize_image(autograd::arrays::zeros({8, 8}), {0, 3});
             }) == "prepare: the size 0 x 3 (width x height) has no pixels");
}

// The stride is that of the first or of the second convolution. Where a block has no stride, both compute the same.
BOOST_AUTO_TEST_CASE(strides_of_residual_blocks) {
  const auto strides = [](nn::BuildingBlock block) {
    return std::vector<int>{block.a.conv1.geometry.stride.y, block.a.conv2.geometry.stride.y,
                            block.a.conv4.geometry.stride.y};
  };
  BOOST_TEST(strides(nn::BuildingBlock(2, 2, 4, 6, 2)) == (std::vector<int>{2, 1, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(strides(nn::BuildingBlock(2, 2, 4, 6, 2, {.downsample_fb = true})) == (std::vector<int>{1, 2, 2}),
             boost::test_tools::per_element());
  const Variable x(pattern_array("x", {1, 2, 5, 4}));
  for (const int stride : {1, 2}) {
    nn::BuildingBlock early(2, 2, 4, 6, stride), late(2, 2, 4, 6, stride, {.downsample_fb = true});
    Filler::fill(early);
    Filler::fill(late);
    const Array a = early(x).data(), b = late(x).data();
    BOOST_TEST(a.shape() == b.shape());
    BOOST_TEST(same_bits(a, b) == (stride == 1));
  }
}

// A block computes the same on the default device as on the CPU, and its names are those of Chainer.
BOOST_AUTO_TEST_CASE(block_of_a_residual_network) {
  nn::BuildingBlock block(3, 2, 4, 6, 2);
  Filler::fill(block);
  nn::BuildingBlock on_cpu = block;
  on_cpu.to_cpu();
  const Variable x(pattern_array("x", {2, 2, 5, 4}));
  const Variable y = block(x);
  BOOST_TEST(y.shape() == Shape({2, 6, 3, 2}));
  check_close(y.data(), on_cpu(Variable(autograd::to_device(x.data(), kCpu))).data(), 1e-3, 1e-4, "block");
  BOOST_TEST(block.named_children()[2].first == "b2");
  const Variable trained = block(x, false);
  BOOST_TEST(!same_bits(trained.data(), y.data()));
  trained.sum().backward();
  for (const nn::NamedParam& p : block.namedparams()) BOOST_TEST(bool(p.param.grad()), p.path);
  BOOST_TEST(block.namedparams().front().path == "/a/conv1/W");
  BOOST_TEST(Entries::of(block).size() == 4 * 6 + 2 * 3 * 6u);
}

BOOST_AUTO_TEST_CASE(networks_without_weights) {
  const TemporaryFolder root("vision");
  const Environment variable("CATENA_DATASET_ROOT", root.path.string());
  const std::string folder = root / "pfnet/chainer/models/";
  std::string message = message_of<catena::IOError>([] { nn::GoogLeNet net; });
  BOOST_TEST(has(message, "there is neither \"" + folder + "bvlc_googlenet.npz\" nor \"" + folder +
                              "bvlc_googlenet.caffemodel\""));
  BOOST_TEST(has(message, "http://dl.caffe.berkeleyvision.org/bvlc_googlenet.caffemodel"));
  message = message_of<catena::IOError>([] { nn::ResNet50Layers net("mine.caffemodel"); });
  BOOST_TEST(has(message, "\"" + folder + "mine.caffemodel\""));
  BOOST_TEST(has(message,
                 "Put mine.caffemodel there, which is available from "
                 "https://github.com/KaimingHe/deep-residual-networks"));
  BOOST_TEST(has(message_of<catena::IOError>([&] { nn::GoogLeNet net(root / "none.npz"); }), "none.npz"));
  BOOST_TEST(message_of<catena::ValueError>([] { nn::ResNetLayers net(nullptr, 34); }) ==
             "ResNetLayers: n_layers is 34; it must be 50, 101 or 152");
  BOOST_TEST(!std::filesystem::exists(folder));
}

BOOST_AUTO_TEST_SUITE_END()
