// Writes a convolutional network of images 1 x 28 x 28, with its weights, to a file that infer reads.
// writes: network.onnx
// prints: network.onnx
#include <cstdio>
#include <string>

#include <catena/catena.h>
#include <catena/nn/onnx/program.h>

struct Network : nn::Chain {
  nn::Convolution2D conv1{1, 8, 3}, conv2{8, 16, 3};
  nn::BatchNormalization bn1{8}, bn2{16};
  nn::Linear fc{576, 10};
  NN_MEMBERS(conv1, bn1, conv2, bn2, fc)
  Variable operator()(const Variable& x) {
    const Variable h = nn::max_pooling_2d(nn::relu(bn1(conv1(x))), 2);
    return nn::softmax(fc(nn::max_pooling_2d(nn::relu(bn2(conv2(h))), 2)));
  }
};

int main(int argc, char** argv) try {
  const std::string path = argc > 1 ? argv[1] : "network.onnx";
  Network network;  // of random weights: load_npz would read those of a training
  network(nd::random::standard_normal({16, 1, 28, 28}, nd::float32));  // statistics of a batch
  const autograd::Variable x(autograd::zeros({1, 1, 28, 28}));
  nn::export_program(path, network, {x}, {.input_names = {"x"}, .dynamic_batch = true});
  std::printf("%s\n", path.c_str());
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
