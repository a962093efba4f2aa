// Trainings of ranks that are processes, for tests that kill them or start them on several hosts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <catena/catena.h>
#include <catena/training/multi_node.h>

namespace test {

using autograd::Array;
using autograd::Variable;

struct RankNetwork : nn::Chain {
  nn::Linear l1{16, 32}, l2{32, 32}, l3{32, 4};
  double ratio;  // of dropout
  explicit RankNetwork(double ratio_ = 0) : ratio(ratio_) {}
  NN_MEMBERS(l1, l2, l3)
  Variable operator()(const Variable& x, const Variable& t) {
    const Variable h = nn::dropout(nn::relu(l2(nn::tanh(l1(x)))), ratio);
    return nn::softmax_cross_entropy(l3(h), t);
  }
};

// Inputs and labels of n examples.
inline std::vector<Array> rank_examples(std::int64_t n) {
  autograd::Generator fixed{11, 0};
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < n; ++i) labels.push_back(std::int32_t(i * i % 4));
  return {autograd::random_normal({n, 16}, 0, 1, autograd::Dtype::float32, fixed, {}),
          autograd::array(labels, {n}, {})};
}

// FNV-1a of the bytes of all weights.
inline std::string hash_of_weights(const nn::Link& model) {
  std::uint64_t hash = 14695981039346656037u;
  for (const Variable& p : model.params())
    for (const float v : autograd::to_vector<float>(p.data())) {
      unsigned char bytes[sizeof v];
      std::memcpy(bytes, &v, sizeof v);
      for (const unsigned char b : bytes) hash = (hash ^ b) * 1099511628211u;
    }
  return std::to_string(hash);
}

// Trains up to the iteration `end`, from the newest checkpoint in the folder on, and saves one at every third
// iteration. Returns where it began and the hash of the weights, which all ranks have.
inline std::string train_with_checkpoints(const catena::Shared<training::Communicator>& comm, const std::string& folder,
                                          double end, bool double_buffering) {
  autograd::seed(std::uint64_t(100 + comm->rank()));
  RankNetwork model(0.2);
  training::Adam adam;
  const auto optimizer =
      training::create_multi_node_optimizer(adam, comm, {.double_buffering = double_buffering, .bucket_bytes = 2000});
  optimizer->setup(model);
  const training::DistributedSampler part({.rank = comm->rank(), .size = comm->size(), .seed = 3});
  training::StandardUpdater updater(
      training::SerialIterator(training::TupleDataset(rank_examples(300)), 10, {.order_sampler = part}), optimizer);
  training::Trainer trainer(updater, {end, training::iteration}, folder);
  auto checkpointer = training::create_multi_node_checkpointer("run", comm, {.n_retains = 2});
  const std::int64_t begin = checkpointer.maybe_load(trainer).value_or(0);
  trainer.extend(checkpointer, {.trigger = {3, training::iteration}});
  trainer.run();
  const std::string own = hash_of_weights(model);
  for (const std::string& of_rank : comm->allgather_obj(own))
    if (of_rank != own) return "the weights differ";
  return catena::concat("from iteration ", begin, " on, weights ", own);
}

// Trains on parts of batches and, in another model, on whole batches, as one process does. Returns the hash of the
// weights and whether both have the same up to rounding.
inline std::string train_as_one_process(const catena::Shared<training::Communicator>& comm) {
  constexpr std::int64_t batch = 8, steps = 12;
  const std::int64_t ranks = comm->size(), rank = comm->rank();
  autograd::seed(7);
  RankNetwork model, alone;
  alone.copyparams(model);
  training::MomentumSGD sgd(0.05), sgd_alone(0.05);
  const auto optimizer = training::create_multi_node_optimizer(sgd, comm, {.bucket_bytes = 2000});
  optimizer->setup(model);
  sgd_alone.setup(alone);
  const std::vector<Array> all = rank_examples(batch * ranks * steps);
  const auto rows = [&](std::size_t k, std::int64_t begin, std::int64_t count) {
    return Variable(autograd::copy(autograd::slice(all[k], 0, begin, begin + count)));
  };
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t whole = step * ranks * batch, own = whole + rank * batch;
    optimizer->update(model, rows(0, own, batch), rows(1, own, batch));
    if (step == 0) continue;  // the first update broadcasts
    sgd_alone.update(alone, rows(0, whole, ranks * batch), rows(1, whole, ranks * batch));
  }
  double largest = 0;
  const auto of_model = model.params(), of_alone = alone.params();
  for (std::size_t k = 0; k < of_model.size(); ++k) {
    const auto a = autograd::to_vector<double>(of_model[k].data()), b = autograd::to_vector<double>(of_alone[k].data());
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return catena::concat(largest < 1e-5 ? "as one process" : "not as one process", ", weights ", hash_of_weights(model));
}

}  // namespace test
