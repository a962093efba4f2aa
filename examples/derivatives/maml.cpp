// Model-agnostic meta-learning (Finn, Abbeel, Levine, arXiv:1703.03400): weights from which one step of gradient
// descent on ten points fits a new sine. The outer derivative passes through the inner step.
// test: 200
// no test on cuda: thousands of small steps
// prints: before: loss after one step [0-9.]+
// prints: after 200 iterations: loss after one step [0-9.]+
#include <iostream>
#include <random>

#include <catena/catena.h>

using autograd::Variable;
using autograd::Variables;

struct Net : nn::Chain {
  nn::Linear l1{1, 40}, l2{40, 40}, l3{40, 1};
  NN_MEMBERS(l1, l2, l3)
  Variable operator()(const Variable& x) { return l3(nn::relu(l2(nn::relu(l1(x))))); }
};

// Sines of random amplitude and phase, and points on them.
struct Task {
  double amplitude, phase;
  explicit Task(std::mt19937& random)
      : amplitude(std::uniform_real_distribution(0.1, 5.0)(random)),
        phase(std::uniform_real_distribution(0.0, 3.14)(random)) {}
  std::pair<Variable, Variable> points() const {
    const nd::Array x = nd::random::uniform(-5, 5, {10, 1}, nd::float32);
    return {Variable(x), Variable((nd::sin(x - phase) * amplitude).astype(nd::float32))};
  }
};

// The loss on new points of the task after one step on ten others.
Variable adapted_loss(Net& model, const Task& task) {
  const auto [x, y] = task.points();
  const Variables own = model.params();
  Variables adapted;
  const Variables g = autograd::grad({nn::mean_squared_error(model(x), y)}, own, {}, true);
  for (std::size_t i = 0; i < own.size(); ++i) adapted.push_back(own[i] - g[i] * 0.01);
  const auto [new_x, new_y] = task.points();
  return nn::mean_squared_error(nn::functional_call(model, adapted, new_x), new_y);
}

double mean_loss(Net& model) {
  std::mt19937 random(1);
  double sum = 0;
  for (int k = 0; k < 100; ++k) sum += double(adapted_loss(model, Task(random)));
  return sum / 100;
}

int main(int argc, char** argv) {
  const int iterations = argc > 1 ? std::stoi(argv[1]) : 1500;
  autograd::seed(0);
  Net model;
  training::Adam optimizer(0.001);
  optimizer.setup(model);
  std::mt19937 random(0);
  const double before = mean_loss(model);
  std::cout << "before: loss after one step " << before << "\n";
  for (int k = 0; k < iterations; ++k)
    optimizer.update([&] {
      Variable loss = 0;
      for (int task = 0; task < 10; ++task) loss = loss + adapted_loss(model, Task(random)) * 0.1;
      return loss;
    });
  const double after = mean_loss(model);
  std::cout << "after " << iterations << " iterations: loss after one step " << after << "\n";
  catena::check<catena::RuntimeError>(after < before, "maml", "nothing was learned");
}
