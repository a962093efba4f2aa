// PyTorch from C++, for cases in which the overhead of calls matters. peers.py builds it against the Python package.
#include <torch/torch.h>

#include "../../contender.h"

namespace {

using bench::Parameters;
using torch::Tensor;

struct Ready {
  std::function<void(std::int64_t calls)> run;
  std::function<Tensor()> result;
};

template <class F> Ready ready(F f) { return {bench::repeated(f), f}; }

Tensor operand(const Parameters& p, std::int64_t seed) {
  return torch::tensor(bench::uniform_values(std::size_t(p.at("n")), seed));
}

Ready add_no_graph(const Parameters& p) {
  const auto add = [x = operand(p, 0).requires_grad_()] { return x + x; };
  return {[add = bench::repeated(add)](std::int64_t calls) {
            const torch::NoGradGuard guard;
            add(calls);
          },
          add};
}

Ready square_sum_backward(const Parameters& p) {
  return ready([x = operand(p, 0).requires_grad_()]() mutable {
    x.mutable_grad().reset();
    (x * x).sum().backward();
    return x.grad();
  });
}

// Weights on [-sqrt(3 / fan_in), sqrt(3 / fan_in)), as in networks.h.
torch::nn::Linear initialized(std::int64_t in, std::int64_t out, std::int64_t seed) {
  torch::nn::Linear layer(in, out);
  const torch::NoGradGuard guard;
  const double range = std::sqrt(3.0 / double(in));
  layer->weight.copy_(
      torch::tensor(bench::uniform_values(std::size_t(in * out), seed, -range, range)).reshape({out, in}));
  layer->bias.zero_();
  return layer;
}

Ready gradient_penalty(const Parameters& p) {
  const std::int64_t batch = p.at("batch"), inputs = p.at("inputs"), n = p.at("units");
  const auto l1 = initialized(inputs, n, 1000);
  torch::nn::Sequential critic(l1, torch::nn::Tanh(), initialized(n, n, 1001), torch::nn::Tanh(),
                               initialized(n, 1, 1002));
  std::vector<Tensor> xs;
  for (std::int64_t seed = 0; seed < p.at("sets"); ++seed)
    xs.push_back(torch::tensor(bench::uniform_values(std::size_t(batch * inputs), seed, -1))
                     .reshape({batch, inputs})
                     .requires_grad_());
  return ready([=, at = std::size_t{0}]() mutable {
    Tensor& x = xs[at];
    if (++at == xs.size()) at = 0;
    critic->zero_grad();
    x.mutable_grad().reset();
    const Tensor gx = torch::autograd::grad({critic->forward(x).sum()}, {x}, {}, true, true)[0];
    (gx.norm(2, 1) - 1).square().mean().backward();
    return l1->weight.grad();
  });
}

const std::map<std::string, Ready (*)(const Parameters&)> table{
    {"overhead/add",
     [](const Parameters& p) { return ready([a = operand(p, 0), b = operand(p, 1)] { return a + b; }); }},
    {"overhead/add_out",
     [](const Parameters& p) {
       return ready(
           [a = operand(p, 0), b = operand(p, 1), c = operand(p, 2)]() mutable { return torch::add_out(c, a, b); });
     }},
    {"overhead/add_scalar", [](const Parameters& p) { return ready([a = operand(p, 0)] { return a + 1.5; }); }},
    {"overhead/view",
     [](const Parameters& p) {
       const Tensor flat = operand({{"n", p.at("rows") * p.at("columns")}}, 0);
       return ready([a = flat.reshape({p.at("rows"), p.at("columns")})] { return a[3]; });
     }},
    {"overhead/sum", [](const Parameters& p) { return ready([a = operand(p, 0)] { return a.sum(); }); }},
    {"autograd/add_no_graph", add_no_graph},
    {"autograd/add", [](const Parameters& p) { return ready([x = operand(p, 0).requires_grad_()] { return x + x; }); }},
    {"autograd/square_sum_backward", square_sum_backward},
    {"autograd/gradient_penalty", gradient_penalty},
};

class Libtorch : public bench::Contender {
 public:
  std::string variants(const std::string& name) override {
    if (!table.count(name)) return "";
    return name.rfind("overhead/", 0) == 0 ? "default inference_mode" : "default";
  }
  std::string versions() override { return "libtorch " TORCH_VERSION; }
  void setup(std::istream& words) override {
    std::string name, variant;
    words >> name >> variant;
    guard_.reset();
    if (variant == "inference_mode") guard_ = std::make_unique<c10::InferenceMode>();
    ready_ = table.at(name)(parameters(words));
  }
  std::string result() override {
    const Tensor y = ready_.result().detach();
    const Tensor doubles = y.to(torch::kDouble).contiguous();
    const double* first = doubles.data_ptr<double>();
    return bench::fingerprint(std::vector<double>(first, first + doubles.numel()), y.element_size());
  }
  void run(std::int64_t calls) override { ready_.run(calls); }

 private:
  Ready ready_;
  std::unique_ptr<c10::InferenceMode> guard_;
};

}  // namespace

int main() { Libtorch().serve(); }
