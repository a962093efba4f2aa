#include <catena/training/updater_capture.h>

#include <algorithm>
#include <cstring>
#include <string>

#include <catena/autograd/array_backend.h>
#include <catena/training/gradient_exchange.h>

namespace training::internal {
namespace {

// The first update allocates parameters and states and compiles kernels; the second includes allocations that links
// make in their second call.
constexpr int kWarmUps = 2;

// A number or an array stored in a link: a graph can write into the array, but can replace neither.
struct Kept {
  std::string path;
  std::uint64_t bits;
  Array array;
  catena::Function<void()> restore;
};

struct KeptVisitor final : nn::MemberVisitor {
  std::vector<Kept>& found;
  std::string path;
  KeptVisitor(std::vector<Kept>& to, std::string at) : found(to), path(std::move(at)) {}
  template <class T> void add(std::string_view name, T& v) {
    Kept k{path + "/" + std::string(name), 0, {}, [&v, value = v] { v = value; }};
    std::memcpy(&k.bits, &v, sizeof v);
    found.push_back(std::move(k));
  }
  void persistent(std::string_view name, bool& v) override { add(name, v); }
  void persistent(std::string_view name, std::int64_t& v) override { add(name, v); }
  void persistent(std::string_view name, double& v) override { add(name, v); }
  void persistent(std::string_view name, nn::Persistent& a) override {
    found.push_back({path + "/" + std::string(name), 0, a.array(), [&a, array = a.array()] { a.array() = array; }});
  }
  void link(std::string_view name, Link& child) override {
    KeptVisitor of_child(found, path + "/" + std::string(name));
    child.visit_members(of_child);
  }
};
std::vector<Kept> kept_by(Link& model) {
  std::vector<Kept> found;
  KeptVisitor visitor(found, "");
  model.visit_members(visitor);
  return found;
}

void check_kept(Link& model, const std::vector<Kept>& before) {
  const std::vector<Kept> after = kept_by(model);
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
    catena::check<catena::RuntimeError>(
        before[i].bits == after[i].bits && before[i].array.get() == after[i].array.get(), "StandardUpdater",
        "the step gives the persistent ", after[i].path, " another ", after[i].array ? "array" : "value",
        ", which a replay cannot do (write into its array, or train without capture)");
}

// Counters that host code increments in a step. After a failed step they are restored, because no device work has run.
struct Counters {
  Optimizer& optimizer;
  std::int64_t t = optimizer.t();
  autograd::Generator generator = autograd::default_generator();
  explicit Counters(Optimizer& o) : optimizer(o) {}
  void restore() const {
    optimizer.set_t(t);
    autograd::default_generator() = generator;
  }
};

}  // namespace

bool CapturedStep::are_of(const std::vector<Array>& batch, const std::vector<Kind>& kinds) {
  return std::equal(batch.begin(), batch.end(), kinds.begin(), kinds.end(),
                    [](const Array& a, const Kind& k) { return kind_of(a) == k; });
}

void CapturedStep::run(const std::vector<Array>& batch, Optimizer& optimizer, const Step& step) {
  const bool can_capture =
      !batch.empty() && batch[0].backend().extension<autograd::DeviceExtension>(batch[0].device()) != nullptr;
  if (!can_capture) return step(batch);
  if (replay(batch, optimizer)) return;
  if (is_due(batch, optimizer)) capture(batch, optimizer, step);
  else step(batch);
}

bool CapturedStep::is_due(const std::vector<Array>& batch, const Optimizer& optimizer) {
  if (!are_of(batch, ordinary_kinds_)) {
    ordinary_kinds_.clear();
    for (const Array& a : batch) ordinary_kinds_.push_back(kind_of(a));
    ordinary_updates_ = 0;
  }
  if (ordinary_updates_ == kWarmUps) {
    GradientExchange* const exchange = ExchangeAccess::of(optimizer);
    return exchange == nullptr || exchange->begin_capture();
  }
  ++ordinary_updates_;
  return false;
}

void CapturedStep::capture(const std::vector<Array>& batch, Optimizer& optimizer, const Step& step) {
  Link& model = optimizer.target();
  const Counters counters(optimizer);
  std::vector<Kept> kept;
  GradientExchange* const exchange = ExchangeAccess::of(optimizer);
  try {
    work_.reset();
    inputs_.clear();
    for (const Array& a : batch) inputs_.push_back(autograd::copy(a));
    kinds_ = ordinary_kinds_;
    reporter_ = nn::find_current_reporter();
    reported_.clear();
    kept = kept_by(model);
    work_.emplace(
        [&] {
          std::optional<nn::Reporter::Scope> scope;
          if (reporter_ != nullptr) scope.emplace(*reporter_, reported_);
          step(inputs_);
          check_kept(model, kept);
        },
        batch[0].device());
  } catch (...) {
    counters.restore();
    for (const Kept& k : kept) k.restore();
    model.cleargrads();  // gradients are in the memory of the graph, which was never written
    if (exchange != nullptr) exchange->end_capture(false);
    throw;
  }
  if (exchange != nullptr) exchange->end_capture(true);
  grads_.clear();
  for (const Variable& p : model.params()) grads_.emplace_back(p, p.data() ? p.grad() : Array());
  report();
}

bool CapturedStep::replay(const std::vector<Array>& batch, Optimizer& optimizer) {
  if (!work_ || !are_of(batch, kinds_)) return false;
  GradientExchange* const exchange = ExchangeAccess::of(optimizer);
  if (exchange != nullptr) exchange->begin_replay();
  const Counters counters(optimizer);
  bool done = false;
  try {
    put_back_grads();
    for (std::size_t i = 0; i < batch.size(); ++i) autograd::assign(inputs_[i], batch[i]);
    done = reporter_ == nn::find_current_reporter() && work_->try_replay();
  } catch (...) {
    counters.restore();
    if (exchange != nullptr) exchange->end_replay(false);
    throw;
  }
  if (!done) {
    work_.reset();
    ordinary_updates_ = 0;
    return false;
  }
  if (exchange != nullptr) exchange->end_replay(true);
  ordinary_kinds_.clear();
  report();
  return true;
}

// Restores the parameters' gradients, which the graph writes, if they were cleared since the last update.
void CapturedStep::put_back_grads() const {
  for (const auto& [param, grad] : grads_) {
    Variable p = param;
    if (p.grad().get() == grad.get()) continue;
    if (!grad || !p.data() || kind_of(p.data()) != kind_of(grad)) continue;  // the parameter's array was replaced
    p.set_grad(grad);
  }
}

// The next replay overwrites the arrays that the graph reports, so they are copied.
void CapturedStep::report() const {
  if (reporter_ == nullptr) return;
  for (const auto& [key, value] : reported_)
    reporter_->observation().set(
        key, value.variable() ? nn::Observed::constant(autograd::copy(value.variable().data())) : value);
}

}  // namespace training::internal
