// PyTorch from C++, for cases that measure only the overhead of a call. peers.py builds it against the Python package.
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
