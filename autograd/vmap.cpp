#include <catena/autograd/vmap.h>

#include <algorithm>

#include <catena/autograd/autocast.h>
#include <catena/autograd/backward.h>
#include <catena/autograd/batching/backend.h>
#include <catena/autograd/captured.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/random_state.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error_context.h>

namespace autograd::internal {
namespace {

using catena::check;
using catena::RuntimeError;
using catena::ValueError;
using ListFunction = catena::Function<Variables(const Variables&)>;

constexpr const char* kOp = "vmap";

// A call of f for n examples, which are along axis 0 of the arguments that are batched.
struct Call {
  ListFunction f;
  Variables xs;
  std::vector<bool> batched;
  std::int64_t n = 0;
  bool same_random = false, fallback = true;
};

Variables part(const Variables& list, std::size_t first, std::size_t last) {
  Variables result;
  for (std::size_t i = first; i < last; ++i) result.push_back(list[i]);
  return result;
}

// ---- one call per example -----------------------------------------------------------------------
// Gives the thread's generator the seed of an example; the destructor puts the seed back.
class SeedOfExample {
 public:
  SeedOfExample(std::int64_t example, const Generator& start, bool same) : seed_(default_generator().seed) {
    default_generator() = start;
    if (!same) default_generator().seed = derived_seed(start.seed, std::uint64_t(example));
  }
  ~SeedOfExample() { default_generator().seed = seed_; }
  SeedOfExample(const SeedOfExample&) = delete;
  SeedOfExample& operator=(const SeedOfExample&) = delete;

 private:
  const std::uint64_t seed_;
};

Variables by_loop(const Call& c) {
  std::vector<Variables> examples;  // of each argument
  for (std::size_t k = 0; k < c.xs.size(); ++k)
    examples.push_back(c.batched[k] ? separate(c.xs[k], 0) : Variables{c.xs[k]});
  std::vector<Variables> results;  // of each output
  const Generator start = default_generator();
  const RandomState others;
  for (std::int64_t i = 0; i < c.n; ++i) {
    if (c.same_random && i > 0) others.restore();
    const SeedOfExample seed(i, start, c.same_random);
    Variables xs;
    for (std::size_t k = 0; k < c.xs.size(); ++k) xs.push_back(examples[k][c.batched[k] ? std::size_t(i) : 0]);
    const Variables ys = c.f(xs);
    check_results(kOp, ys);
    if (i == 0) results.resize(ys.size());
    check<ValueError>(ys.size() == results.size(), kOp, "the function returned ", ys.size(), " results for example ", i,
                      " and ", results.size(), " for the ones before");
    for (std::size_t k = 0; k < ys.size(); ++k) {
      if (i > 0)
        check<ValueError>(ys[k].shape() == results[k][0].shape() && ys[k].dtype() == results[k][0].dtype(), kOp,
                          "the function returned ", ys[k].label(), " for example ", i, " and ", results[k][0].label(),
                          " for the ones before");
      results[k].push_back(ys[k]);
    }
  }
  Variables stacked;
  for (const Variables& ys : results) stacked.push_back(stack(ys, 0));
  return stacked;
}

// ---- one call for all examples ------------------------------------------------------------------
// The arrays of all results, and the variables that f read without having them as arguments.
struct Computed {
  Arrays ys;
  Variables captured;
};

// A scope of casts for the call, because the casts of the outer scope must not keep arrays of the call.
class OwnCasts {
 public:
  OwnCasts()
      : dtype_(autocast_dtype()),
        none_(modes().autocast, nullptr),
        own_(dtype_.value_or(Dtype::bfloat16), dtype_.has_value()) {}

 private:
  const std::optional<Dtype> dtype_;
  const catena::ScopedValue<Autocast*> none_;
  const AutocastScope own_;
};

// Computes f for all examples. Throws where f must be called for each example.
Computed compute(const Call& c, bool graph) {
  const NumberedCall numbered;
  const OwnCasts casts;
  const RandomState random;
  Array model;
  for (std::size_t k = 0; k < c.xs.size(); ++k)
    if (c.batched[k] && !model) model = c.xs[k].data();
  const Device device = model.device();
  Computed result;
  {
    BatchScope scope(c.n, model, c.same_random);
    Variables xs;
    for (std::size_t k = 0; k < c.xs.size(); ++k) {
      const Array a = c.xs[k].data();
      xs.push_back(Variable(c.batched[k] ? scope.split(a) : a, {.requires_grad = c.xs[k].requires_grad()}));
    }
    const Variables ys = c.f(xs);
    check_results(kOp, ys);
    for (const Variable& y : ys) result.ys.push_back(scope.joined(y.data()));
    if (graph) result.captured = captured_variables(kOp, ys, xs, numbered);
  }
  RandomState drawn = random;
  drawn.keep_what_changed();
  check<RuntimeError>(c.same_random || !drawn.has_generator_of(device), kOp,
                      "the function draws random numbers from a generator of the array library");
  return result;
}

Variables mapped(const Call& c);

// The inputs are the arguments and the captured variables. The rule is a vmap of the derivative.
class Vmap final : public FunctionNode {
 public:
  Vmap(const Call& call, Arrays ys, Variables captured, RandomState random)
      : f_(call.f),
        batched_(call.batched),
        n_(call.n),
        same_random_(call.same_random),
        fallback_(call.fallback),
        ys_(std::move(ys)),
        captured_(std::move(captured)),
        random_(std::move(random)) {
    random_.keep_what_changed();
  }
  std::string label() const override { return "Vmap"; }

  Arrays forward(const Arrays&) override {
    for (std::size_t i = 0; i < batched_.size(); ++i) retain_inputs({int(i)});
    return std::move(ys_);
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    const bool graph = needs_double_backprop();
    Call c{{}, {}, batched_, n_, same_random_, fallback_};
    for (std::size_t i = 0; i < batched_.size(); ++i) c.xs.push_back(retained_input(int(i)));
    std::vector<std::size_t> present;  // outputs that have a gradient
    for (std::size_t k = 0; k < gy.size(); ++k) {
      if (!gy[k]) continue;
      present.push_back(k);
      c.xs.push_back(gy[k]);
      c.batched.push_back(true);
    }
    c.f = derivative(targets, present, graph);
    const ReplayedRandom same_numbers(random_);
    const catena::ScopedValue<TrainMode> same_mode(modes().train, train_);
    const Variables g = mapped(c);
    Variables gradients;
    for (std::size_t k = 0; k < targets.size(); ++k) {
      const auto t = std::size_t(targets[k]);
      gradients.push_back(t < batched_.size() && batched_[t] ? g[k] : sum(g[k], {0}));
    }
    return gradients;
  }

 protected:
  bool allows_mixed_devices() const noexcept override { return true; }

 private:
  // Returns a function for one example: from its arguments, followed by the gradients of its results, to the gradients
  // of the targets.
  ListFunction derivative(const Targets& targets, const std::vector<std::size_t>& present, bool graph) const {
    return [f = f_, n = batched_.size(), captured = captured_, autocast = autocast_, targets, present,
            graph](const Variables& list) {
      const GraphScope scope(autocast);
      Variables xs, sources, outputs;
      for (std::size_t i = 0; i < n; ++i) {
        const bool wanted = std::find(targets.begin(), targets.end(), int(i)) != targets.end();
        xs.push_back(graph && list[i].requires_grad() ? identity(list[i])
                                                      : Variable(list[i].data(), {.requires_grad = wanted}));
      }
      const Variables ys = f(xs);
      check_results(kOp, ys);
      for (const std::size_t k : present) outputs.push_back(ys[k]);
      for (const int t : targets)
        sources.push_back(std::size_t(t) < n ? xs[std::size_t(t)] : captured[std::size_t(t) - n]);
      Variables ends = xs;
      for (const Variable& v : captured) ends.push_back(v);
      Variables g = gradients(outputs, sources, part(list, n, list.size()), graph, ends);
      for (std::size_t k = 0; k < g.size(); ++k)
        if (!g[k]) g[k] = constant_variable(zeros_like(sources[k].data()));
      return g;
    };
  }

  const ListFunction f_;
  const std::vector<bool> batched_;
  const std::int64_t n_;
  const bool same_random_, fallback_;
  const TrainMode train_ = modes().train;
  const std::optional<Dtype> autocast_ = autocast_dtype();
  Arrays ys_;
  const Variables captured_;
  RandomState random_;
};

Variables mapped(const Call& c) {
  const bool graph = modes().enable_backprop;
  const RandomState random;
  Computed result;
  try {
    result = compute(c, graph);
  } catch (...) {
    if (!c.fallback) throw;
    random.restore();
    return by_loop(c);
  }
  if (!graph) {
    Variables ys;
    for (const Array& y : result.ys) ys.push_back(constant_variable(y));
    return ys;
  }
  Variables inputs = c.xs;
  for (const Variable& v : result.captured) inputs.push_back(v);
  const AutocastScope no_casts(Dtype::bfloat16, false);  // the function has its own
  return apply_node<Vmap>(inputs, c, result.ys, result.captured, random);
}

}  // namespace

Variables vmap(const ListFunction& f, const Variables& xs, const VmapOptions& o) try {
  check<ValueError>(!xs.empty(), kOp, "there is no argument");
  check<ValueError>(o.in_axes.empty() || o.in_axes.size() == xs.size(), kOp, o.in_axes.size(), " in_axes for ",
                    xs.size(), xs.size() == 1 ? " argument" : " arguments");
  graph_mode_of(xs);  // throws for null arguments
  Call c{f, {}, {}, -1, o.randomness == Randomness::same, o.fallback};
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const std::optional<int> axis = o.in_axes.empty() ? std::optional<int>(0) : o.in_axes[k];
    c.batched.push_back(axis.has_value());
    if (!axis) {
      c.xs.push_back(xs[k]);
      continue;
    }
    const std::int64_t length = xs[k].shape(catena::normalize_axis(kOp, *axis, xs[k].ndim()));
    check<ValueError>(c.n < 0 || c.n == length, kOp, "argument ", k, " has ", length,
                      " examples, and the ones before have ", c.n);
    c.n = length;
    c.xs.push_back(*axis == 0 ? xs[k] : moveaxis(xs[k], {*axis}, {0}));
  }
  check<ValueError>(c.n >= 0, kOp, "no argument has a batch axis: give one of in_axes a number");
  check<ValueError>(c.n > 0, kOp, "the batch has no example");
  Variables ys = mapped(c);
  if (o.out_axis != 0)
    for (Variable& y : ys) y = moveaxis(y, {0}, {catena::normalize_axis(kOp, o.out_axis, y.ndim())});
  return ys;
} catch (...) {
  catena::rethrow_standard(kOp);
}

}  // namespace autograd::internal
