// distributed_step <mlp|cnn> <batch> <steps> [<communicator>]: times the training steps of a rank. compare/ddp.py
// starts it by catena-run, in turns with the same training by PyTorch. Rank 0 prints the median time of its steps in
// milliseconds, and the loss of the last step.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <catena/benchmarks/networks.h>
#include <catena/catena.h>
#include <catena/training/multi_node.h>

namespace {

constexpr int kWarmUp = 10, kSets = 8;

template <class Model> void measure(const training::Communicator& comm, std::int64_t batch, int steps) {
  using Clock = std::chrono::steady_clock;
  Model model(bench::Parameters{{"units", 1000}});
  training::Adam adam;
  const auto optimizer = training::create_multi_node_optimizer(adam, comm);
  optimizer->setup(model);
  std::vector<std::pair<nd::Array, nd::Array>> batches;
  for (int s = 0; s < kSets; ++s) {
    const std::int64_t seed = 2 * (s + kSets * comm.rank());
    batches.emplace_back(bench::uniform(Model::input(batch), seed), bench::labels(batch, seed + 1, 10));
  }
  std::vector<double> milliseconds;
  autograd::Variable loss;
  for (int step = 0; step < kWarmUp + steps; ++step) {
    const auto& [x, t] = batches[std::size_t(step % kSets)];
    const auto begin = Clock::now();
    optimizer->update([&] { return loss = nn::softmax_cross_entropy(model(x), t); });
    if (step >= kWarmUp)
      milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  if (comm.rank() == 0)
    std::printf("median %.4f loss %.4f\n", milliseconds[milliseconds.size() / 2], loss.item<double>());
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string network = argc > 1 ? argv[1] : "";
  if (argc < 4 || (network != "mlp" && network != "cnn")) {
    std::fputs("usage: distributed_step <mlp|cnn> <batch> <steps> [<communicator>]\n", stderr);
    return 2;
  }
  const auto comm = training::create_communicator(argc > 4 ? argv[4] : "naive");
  const std::int64_t batch = std::stol(argv[2]);
  const int steps = std::stoi(argv[3]);
  if (network == "mlp") measure<bench::MLP>(*comm, batch, steps);
  else measure<bench::CNN>(*comm, batch, steps);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "distributed_step: %s\n", e.what());
  return 1;
}
