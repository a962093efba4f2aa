// Networks for images, in small sizes.
#include <catena/tests/interop/onnx/networks.h>

#include <catena/nn/vision.h>

namespace onnx_networks {
namespace {

struct MLP : nn::Chain {
  nn::Linear l1{6, 8}, l2{8, 8}, l3{8, 3};
  NN_MEMBERS(l1, l2, l3)
  Variable operator()(const Variable& x) { return l3(nn::dropout(nn::relu(l2(tanh(l1(x)))))); }
};

struct LeNet : nn::Chain {
  nn::Convolution2D conv1{1, 4, 5}, conv2{4, 6, 3};
  nn::Linear fc1{std::nullopt, 10}, fc2{10, 5};
  NN_MEMBERS(conv1, conv2, fc1, fc2)
  Variable operator()(const Variable& x) {
    const Variable h = nn::max_pooling_2d(nn::relu(conv1(x)), 2);
    return nn::softmax(fc2(nn::relu(fc1(nn::max_pooling_2d(nn::relu(conv2(h)), 2)))));
  }
};

struct AlexNet : nn::Chain {
  nn::Convolution2D conv1{3, 8, 5, {.stride = 2}}, conv2{8, 8, 3, {.pad = 1, .groups = 2}}, conv3{8, 6, 3, {.pad = 1}};
  nn::Linear fc6{std::nullopt, 16}, fc7{16, 7};
  NN_MEMBERS(conv1, conv2, conv3, fc6, fc7)
  Variable operator()(const Variable& x) {
    Variable h = nn::max_pooling_2d(nn::local_response_normalization(nn::relu(conv1(x))), 3, 2);
    h = nn::max_pooling_2d(nn::local_response_normalization(nn::relu(conv2(h))), 3, 2);
    h = nn::max_pooling_2d(nn::relu(conv3(h)), 3, 2, 1);
    return fc7(nn::dropout(nn::relu(fc6(h))));
  }
};

struct VGG : nn::Chain {
  nn::Convolution2D conv1_1{3, 4, 3, {.pad = 1}}, conv1_2{4, 4, 3, {.pad = 1}}, conv2_1{4, 6, 3, {.pad = 1}};
  nn::BatchNormalization bn1{4}, bn2{6};
  nn::Linear fc{std::nullopt, 5};
  NN_MEMBERS(conv1_1, conv1_2, conv2_1, bn1, bn2, fc)
  Variable operator()(const Variable& x) {
    const Variable h = nn::max_pooling_2d(nn::relu(bn1(conv1_2(nn::relu(conv1_1(x))))), 2, 2);
    return nn::log_softmax(fc(nn::max_pooling_2d(nn::relu(bn2(conv2_1(h))), 2, 2)));
  }
};

struct GoogLeNet : nn::Chain {
  nn::Convolution2D conv{3, 6, 3, {.stride = 2}};
  nn::Inception inc{6, 4, 3, 4, 2, 3, 3};
  nn::InceptionBN inc_bn{14, 4, 3, 4, 3, 4, "avg", 3};
  nn::Linear fc{15, 4};
  NN_MEMBERS(conv, inc, inc_bn, fc)
  Variable operator()(const Variable& x) {
    return fc(nn::global_average_pooling(inc_bn(inc(nn::max_pooling_2d(nn::relu(conv(x)), 3, 2)))));
  }
};

struct ResNet : nn::Chain {
  nn::Convolution2D conv{3, 8, 3, {.stride = 2, .pad = 1, .nobias = true}};
  nn::BatchNormalization bn{8};
  nn::Convolution2D a{8, 8, 3, {.pad = 1}}, b{8, 8, 3, {.pad = 1}};
  nn::Linear fc{8, 4};
  NN_MEMBERS(conv, bn, a, b, fc)
  Variable operator()(const Variable& x) {
    const Variable h = nn::relu(bn(conv(x)));
    return fc(nn::global_average_pooling(nn::relu(b(nn::relu(a(h))) + h)));
  }
};

struct UNet : nn::Chain {
  nn::Convolution2D down1{1, 4, 3, {.pad = 1}}, down2{4, 8, 3, {.pad = 1}}, out{8, 2, 1};
  nn::Deconvolution2D up{8, 4, 2, {.stride = 2}};
  NN_MEMBERS(down1, down2, out, up)
  Variable operator()(const Variable& x) {
    const Variable a = nn::relu(down1(x));
    const Variable b = nn::relu(down2(nn::max_pooling_2d(a, 2, 2, 0, false)));
    return sigmoid(out(autograd::concat({a, up(b)})));
  }
};

struct MobileNet : nn::Chain {
  nn::Convolution2D depthwise{6, 6, 3, {.pad = 1, .groups = 6}}, pointwise{6, 8, 1};
  nn::DepthwiseConvolution2D multiplied{8, 2, 3, {.stride = 2}};
  nn::BatchNormalization bn{8};
  NN_MEMBERS(depthwise, pointwise, multiplied, bn)
  Variable operator()(const Variable& x) {
    return nn::hard_swish(multiplied(nn::relu6(bn(pointwise(nn::relu6(depthwise(x)))))));
  }
};

struct Groups : nn::Chain {
  nn::Convolution2D conv{3, 6, 3};
  nn::GroupNormalization gn{3};
  nn::InstanceNormalization in_{6};
  NN_MEMBERS(conv, gn, in_)
  Variable operator()(const Variable& x) { return in_(nn::relu(gn(conv(x)))); }
};

struct Dilated : nn::Chain {
  nn::DilatedConvolution2D a{3, 4, 3, {.pad = 2, .dilate = 2}};
  nn::Convolution2D b{4, 4, {3, 2}, {.stride = {2, 1}, .pad = {1, 0}, .groups = 2}};
  NN_MEMBERS(a, b)
  Variable operator()(const Variable& x) { return nn::elu(b(nn::leaky_relu(a(x)))); }
};

struct Volumes : nn::Chain {
  nn::ConvolutionND conv{3, 2, 4, 3, {.pad = 1, .initial_bias = 0.1}};
  nn::DeconvolutionND up{3, 4, 2, 2, {.stride = 2}};
  NN_MEMBERS(conv, up)
  Variable operator()(const Variable& x) {
    return up(nn::average_pooling_nd(nn::max_pooling_nd(nn::relu(conv(x)), 2, 2), 2, 1));
  }
};

struct Signals : nn::Chain {
  nn::ConvolutionND conv{1, 2, 4, 3, {.stride = 2, .initial_bias = 0}};
  nn::BatchNormalization bn{4};
  NN_MEMBERS(conv, bn)
  Variable operator()(const Variable& x) { return nn::average_pooling_1d(nn::max_pooling_1d(bn(conv(x)), 3, 2, 1), 2); }
};

template <class M> M ready(M model, const Variables& inputs) {
  nn::onnx::internal::outputs_for(model, inputs);  // gives parameters without a shape their shape
  randomize(model);
  return model;
}

template <class M> void add_batches(Writer& w, const std::string& name, M model, const Shape& one) {
  const auto batch = [&](std::int64_t n) {
    Shape shape = one;
    shape[0] = n;
    return Variables{random(shape)};
  };
  M made = ready(std::move(model), batch(2));
  w.add(name, made, {batch(2), batch(1), batch(5)}, dynamic_batch());
}

}  // namespace

void add_vision(Writer& w) {
  add_batches(w, "mlp", MLP(), {2, 6});
  add_batches(w, "lenet", LeNet(), {2, 1, 17, 18});
  add_batches(w, "alexnet", AlexNet(), {2, 3, 31, 33});
  add_batches(w, "vgg", VGG(), {2, 3, 9, 9});
  add_batches(w, "googlenet", GoogLeNet(), {2, 3, 21, 21});
  add_batches(w, "resnet", ResNet(), {2, 3, 16, 16});
  add_batches(w, "mobilenet", MobileNet(), {2, 6, 8, 8});
  add_batches(w, "group_norm", Groups(), {2, 3, 8, 8});
  add_batches(w, "dilated", Dilated(), {2, 3, 9, 10});
  add_batches(w, "volumes", Volumes(), {2, 2, 6, 6, 7});
  add_batches(w, "signals", Signals(), {2, 2, 21});
  add_batches(w, "unet", UNet(), {2, 1, 8, 8});
  LeNet lenet = ready(LeNet(), {random({2, 1, 17, 18})});
  nn::quantize_weights(lenet);
  w.add("quantized_lenet", lenet, {{random({2, 1, 17, 18})}, {random({1, 1, 17, 18})}, {random({5, 1, 17, 18})}},
        dynamic_batch());
  Volumes volumes = ready(Volumes(), {random({2, 2, 6, 6, 7})});
  nn::quantize_weights(volumes);
  w.add("quantized_volumes", volumes, {{random({2, 2, 6, 6, 7})}}, {.opset_version = 21});
  UNet unet = ready(UNet(), {random({1, 1, 8, 8})});
  w.add("unet_any_size", unet, {{random({1, 1, 8, 8})}, {random({3, 1, 12, 6})}},
        {.input_names = {"image"},
         .output_names = {"mask"},
         .dynamic_axes = {{"image", {{0, "batch"}, {2, "height"}, {3, "width"}}}}});
  ResNet resnet = ready(ResNet(), {random({4, 3, 8, 8})});
  w.add("batch_norm_in_training", [&](const Variable& x) { return resnet.bn(resnet.conv(x)); },
        {{random({4, 3, 8, 8})}}, {.train = true, .link = &resnet});
  nn::ResNet50Layers resnet50(nullptr);
  const auto features = [&](const Variable& x) { return resnet50(x, {.layers = {"pool5"}})["pool5"]; };
  w.add("resnet50", features, {{random({1, 3, 64, 64})}}, {.link = &resnet50});
}

}  // namespace onnx_networks
