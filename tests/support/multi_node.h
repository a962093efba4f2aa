// For tests of multi-node optimizers: ranks as threads, their data, small models.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <catena/autograd/function_node.h>
#include <catena/tests/support/optimizer_kinds.h>
#include <catena/tests/support/ranks.h>
#include <catena/tests/support/replicas.h>

namespace test {

// Runs the program in one thread for each rank. Values are compared afterwards, in the thread of the test.
inline void run_ranks(int ranks, const RankOptions& run, const std::function<void(training::Communicator&)>& program) {
  training::communicators::run_thread_ranks(ranks, [&](catena::Shared<training::communicators::Transport> transport) {
    const OnHost host;
    training::Communicator comm(run.name, std::move(transport), run.comm);
    program(comm);
  });
}

// Calls f in the backward pass.
struct OnBackward final : autograd::FunctionNode {
  std::function<void()> f;
  explicit OnBackward(std::function<void()> f_) : f(std::move(f_)) {}
  std::string label() const override { return "OnBackward"; }
  autograd::Arrays forward(const autograd::Arrays& x) override { return {autograd::copy(x[0])}; }
  autograd::Variables backward(const autograd::Targets&, const autograd::Variables& gy) override {
    f();
    return {gy[0]};
  }
};
inline Variable on_backward(const Variable& x, std::function<void()> f) {
  return autograd::apply_node<OnBackward>({x}, std::move(f))[0];
}

// Runs f and returns the message of its exception, of any type.
inline std::string message_of_error(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}

// Inputs and targets: in each step, a batch of kBatch for each rank.
struct RankBatches {
  static constexpr std::int64_t kBatch = 4;
  Array inputs, targets;
  std::int64_t ranks, steps;

  RankBatches(std::int64_t steps_, int ranks_, Dtype dtype) : ranks(ranks_), steps(steps_) {
    autograd::Generator fixed{5, 0};
    const std::int64_t n = steps * ranks * kBatch;
    inputs = autograd::random_normal({n, 3}, 0, 1, dtype, fixed, kCpu);
    targets = autograd::random_normal({n, 2}, 1, 2, dtype, fixed, kCpu);
  }
  static Array rows(const Array& of, std::int64_t first, std::int64_t count) {
    return autograd::copy(autograd::slice(of, 0, first * kBatch, (first + count) * kBatch));
  }
  Variable x(std::int64_t step, int rank) const { return rows(inputs, step * ranks + rank, 1); }
  Variable t(std::int64_t step, int rank) const { return rows(targets, step * ranks + rank, 1); }
  Variable whole_x(std::int64_t step) const { return rows(inputs, step * ranks, ranks); }
  Variable whole_t(std::int64_t step) const { return rows(targets, step * ranks, ranks); }
  // The batches of a rank, one after the other.
  training::DatasetPtr of_rank(int rank) const {
    std::vector<Array> xs, ts;
    for (std::int64_t step = 0; step < steps; ++step) {
      xs.push_back(x(step, rank).data());
      ts.push_back(t(step, rank).data());
    }
    return std::make_shared<training::TupleDataset>(
        std::vector<Array>{autograd::concatenate(xs), autograd::concatenate(ts)});
  }
};

inline void set_random_weights(nn::Link& model, Dtype dtype, std::uint64_t seed) {
  autograd::Generator fixed{seed, 0};
  for (Variable p : model.params()) p.set_data(autograd::random_normal(p.shape(), 0, 0.5, dtype, fixed, kCpu));
}

// Four parameters, of 12, 4, 8 and 2 elements.
struct Perceptron : nn::Chain {
  nn::Linear l1{3, 4}, l2{4, 2};
  NN_MEMBERS(l1, l2)
  Perceptron(Dtype dtype, std::uint64_t seed) { set_random_weights(*this, dtype, seed); }
  Variable operator()(const Variable& x, const Variable& t) { return nn::mean_squared_error(l2(nn::tanh(l1(x))), t); }
};

inline std::vector<double> weights_of(const nn::Link& model) {
  std::vector<double> all;
  for (const Variable& p : model.params())
    for (const double v : values(p.data())) all.push_back(v);
  return all;
}
inline std::vector<double> gradients_of(const nn::Link& model) {
  std::vector<double> all;
  for (const Variable& p : model.params())
    for (const double v : values(p.grad())) all.push_back(v);
  return all;
}
// The bytes of the parameters, and what the optimizer saves.
inline std::vector<std::string> everything_of(const nn::Link& model, training::Optimizer& optimizer) {
  std::vector<std::string> all = params_of(model);
  for (std::string& entry : entries_of(optimizer)) all.push_back(std::move(entry));
  return all;
}

inline bool within(const std::vector<double>& actual, const std::vector<double>& expected, double bound) {
  if (actual.size() != expected.size()) return false;
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (!(std::abs(actual[i] - expected[i]) <= bound * (1 + std::abs(expected[i])))) return false;
  return true;
}

// y = x w with the mean of the squared errors as loss, of which the gradient is written out: 2 x^T (y - t) / size.
struct Line : nn::Link {
  nn::Parameter w{autograd::array(initial(), {3, 2}, kCpu)};
  NN_MEMBERS(w)
  Variable operator()(const Variable& x, const Variable& t) {
    return nn::mean_squared_error(autograd::matmul(x, w), t);
  }
  static std::vector<double> initial() { return {0.1, 0.2, 0.3, -0.4, 0.5, 0.6}; }
  static std::vector<double> gradient(const std::vector<double>& w, const Array& inputs, const Array& targets) {
    const std::vector<double> x = values(inputs), t = values(targets);
    const std::size_t n = t.size() / 2;
    std::vector<double> g(6, 0.0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < 2; ++k) {
        double y = 0;
        for (std::size_t j = 0; j < 3; ++j) y += x[3 * i + j] * w[2 * j + k];
        for (std::size_t j = 0; j < 3; ++j) g[2 * j + k] += 2 * x[3 * i + j] * (y - t[2 * i + k]) / double(2 * n);
      }
    return g;
  }
};

}  // namespace test
