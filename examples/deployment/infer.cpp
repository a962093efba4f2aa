// Inference: reads a network from a file and an image from an npy file, and prints the classes. Nothing of the training
// is needed, neither the class of the network nor the library catena_training.
// after: export_network
// test: ../test_export_network_cpu/network.onnx
// prints: x -> .*
// prints: class [0-9] +[0-9.]+
#include <chrono>
#include <cstdio>
#include <string>

#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/autograd/ndarray_backend/ndarray_backend.h>
#include <catena/ndarray/ndarray.h>
#include <catena/nn/onnx/program.h>

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "infer <network.onnx> [image.npy] [calls]\n");
    return 1;
  }
  autograd::set_default_backend(&autograd::ndarray_backend);
  const nn::Program network(argv[1]);
  const nd::Array x = argc > 2 ? nd::load(argv[2]) : nd::ones({1, 1, 28, 28}, nd::float32);
  std::printf("%s -> %s\n", network.input_names()[0].c_str(), network.output_names()[0].c_str());
  if (const int calls = argc > 3 ? std::stoi(argv[3]) : 0; calls > 0) {
    for (int k = 0; k <= calls / 10; ++k) network(x);
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) network(x);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    std::printf("%.4f ms per call\n", time.count() / calls);
  }
  const nd::Array y = nd::Array(network(x))(0);
  const nd::Array best = nd::argsort(-y);
  for (int k = 0; k < 3; ++k) std::printf("class %d  %.4f\n", int(best(k)), double(y(best(k))));
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
