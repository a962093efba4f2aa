#include <catena/nn/functions/objects.h>

#include <algorithm>
#include <limits>

#include <catena/autograd/backward.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/functions/noise.h>
#include <catena/nn/functions/normalization.h>
#include <catena/nn/functions/recurrent.h>

namespace nn::functions {
namespace {

using autograd::Arrays;
using autograd::FunctionNode;
using autograd::Targets;
using autograd::type_check::TypeInfoTuple;
using Kind = FunctionObject::Kind;

// ---- names that the table uses ------------------------------------------------------------------
constexpr std::size_t many = std::numeric_limits<std::size_t>::max();
constexpr Kind node = Kind::node, composed = Kind::composed;

// Convert an argument that can only restrict the thread's configuration; a missing value leaves the thread's setting.
std::optional<bool> if_true(bool v) { return v ? std::optional(true) : std::nullopt; }
std::optional<bool> if_false(bool v) { return v ? std::nullopt : std::optional(false); }

Variable at(const Variables& x, std::size_t i) { return i < x.size() ? x[i] : Variable(); }
Variables behind(const Variables& x, std::size_t first) {
  Variables rest;
  for (std::size_t i = first; i < x.size(); ++i) rest.push_back(x[i]);
  return rest;
}

Variables list_of(const Variable& y) { return {y}; }
Variables list_of(const Variables& ys) { return ys; }
Variables list_of(const LSTMState& s) { return {s.c, s.h}; }
Variables list_of(const nn::ClassificationSummary& s) { return {s.precision, s.recall, s.fbeta, s.support}; }
Variables list_of(const NStepLSTMResult& r) {
  Variables list{r.hy, r.cy};
  for (const Variable& y : r.ys) list.push_back(y);
  return list;
}
Variables list_of(const NStepResult& r) {
  Variables list{r.hy};
  for (const Variable& y : r.ys) list.push_back(y);
  return list;
}

Variable keeping(Arrays& kept, const MaxPoolingResult& r) {
  kept = {r.indices};
  return r.y;
}

// Returns the random numbers of the object's first call, if there was one; later calls repeat them, so that a gradient
// can be compared with differences of values.
Array draw_of(const Arrays& kept) { return kept.empty() ? Array() : kept[0]; }
Variable dropped(Arrays& kept, const Variable& x, double ratio) {
  const DropoutResult r = dropout_with_mask(x, {.ratio = ratio, .train = true, .mask = draw_of(kept)});
  kept = {r.mask};
  return r.y;
}
Variable gaussian_sample(Arrays& kept, const Variable& mean, const Variable& ln_var) {
  const GaussianResult r = gaussian(mean, ln_var, draw_of(kept), return_eps);
  kept = {r.eps};
  return r.y;
}
Variable disconnected(Arrays& kept, const Variables& x, double ratio, const Array& mask) {
  const DropconnectOptions o{.ratio = ratio, .train = true, .mask = kept.empty() ? mask : kept[0]};
  const DropconnectResult r = simplified_dropconnect(x[0], x[1], at(x, 2), o, return_mask);
  kept = {r.mask};
  return r.y;
}
Variable zoned_out(Arrays& kept, const Variable& h, const Variable& x, double ratio) {
  const ZoneoutResult r = zoneout(h, x, {.ratio = ratio, .train = true, .keep = draw_of(kept)}, return_keep);
  kept = {r.keep};
  return r.y;
}
Variable negative_samples(Arrays& kept, const Variables& x, const Sampler& sampler, int sample_size,
                          const std::string& reduce) {
  const Array drawn = draw_of(kept);
  const Sampler again = drawn ? Sampler([drawn](const Shape&) { return drawn; }) : sampler;
  const NegativeSamplingResult r =
      negative_sampling(x[0], x[1], x[2], again, sample_size, {.reduce = reduce}, return_samples);
  kept = {r.samples};
  return r.loss;
}

const Variable& of_rank(const char* label, const Variable& x, int ndim) {
  internal::check_inputs(label, "x", {x}, [ndim](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].ndim == variable(ndim, "ndim") + 2);
  });
  return x;
}
const Variable& of_shape(const char* label, const Variable& x, const Shape& image) {
  internal::check_inputs(label, "x", {x}, [&image](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].ndim == image.size() + 1);
    for (int a = 0; a < image.size(); ++a) expect(in_types[0].shape[a + 1] == image[a]);
  });
  return x;
}
const Variable& without_cover_all(const Variable& x, bool cover_all) {
  catena::check<catena::ValueError>(!cover_all, "AveragePoolingND", "average pooling has no cover_all");
  return x;
}

Variable transposed(const Variable& x, const Dims& axes) { return axes.empty() ? transpose(x) : transpose(x, axes); }

// Uses the statistics of the batch in training; else inputs 3 and 4, or the running averages of the object.
Variable normalized(Arrays& kept, const Variables& x, const BatchNormalizationOptions& o, bool train) {
  constexpr const char* op = "BatchNormalizationFunction";
  if (x.size() == 4)
    throw catena::InvalidType("in_types.size() == 3 or in_types.size() == 5", "in_types.size() == 4",
                              catena::concat("Invalid operation is performed in: ", op, " (Forward)\n\n"));
  if (train) {
    catena::check<catena::ValueError>(x.size() == 3, op, "in training there are no inputs mean and var");
    const BatchNormalizationResult r = batch_normalization(x[0], x[1], x[2], o, return_statistics);
    kept = {r.running_mean, r.running_var};
    return r.y;
  }
  kept = {o.running_mean, o.running_var};
  const FixedBatchNormalizationOptions fixed{.eps = o.eps, .use_cudnn = o.use_cudnn};
  if (x.size() == 5) return fixed_batch_normalization(x[0], x[1], x[2], x[3], x[4], fixed);
  catena::check<catena::ValueError>(o.running_mean && o.running_var, op,
                                    "without training, mean and var must be given: as inputs, or to the constructor");
  return fixed_batch_normalization(x[0], x[1], x[2], o.running_mean, o.running_var, fixed);
}

// The inputs of recurrent functions: states, the matrices and vectors of all layers, then the times.
struct StepLists {
  std::vector<Variables> ws, bs;
  Variables xs;
};
struct StepCounts {
  int states, directions, matrices;
};
template <class F> auto n_step(const char* label, StepCounts c, int n_layers, const Variables& x, const F& function) {
  catena::check<catena::ValueError>(n_layers >= 1, label, "the number of layers ", n_layers, " must be at least 1");
  const std::size_t layers = std::size_t(n_layers * c.directions), each = std::size_t(c.matrices);
  const std::size_t first_x = std::size_t(c.states) + 2 * layers * each;
  if (x.size() <= first_x)
    throw catena::InvalidType(catena::concat("in_types.size() > ", first_x), catena::concat(x.size(), " <= ", first_x),
                              catena::concat("Invalid operation is performed in: ", label, " (Forward)\n\n"));
  StepLists lists;
  std::size_t next = std::size_t(c.states);
  for (std::vector<Variables>* list : {&lists.ws, &lists.bs})
    for (std::size_t layer = 0; layer < layers; ++layer) {
      list->emplace_back();
      for (std::size_t i = 0; i < each; ++i) list->back().push_back(x[next++]);
    }
  lists.xs = behind(x, next);
  return function(lists);
}

// ---- calls --------------------------------------------------------------------------------------

// A function of several nodes as one node. Its nodes form a graph that begins at copies of the inputs, behind a node
// each: gradients with respect to the copies are functions of the inputs, but do not flow on to what made these, and
// the search for the functions between ends there, too.
class Composition final : public FunctionNode {
 public:
  Composition(std::string label, const Variables& xs, const FunctionObject::Body& body, Arrays& kept)
      : label_(std::move(label)), xs_(&xs), body_(&body), kept_(&kept) {}
  std::string label() const override { return label_; }

  Arrays forward(const Arrays&) override {
    for (const Variable& x : *xs_) copies_.push_back(identity(x));
    ys_ = (*body_)(copies_, *kept_);
    Arrays out;
    for (const Variable& y : ys_) out.push_back(y.data());
    return out;
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables outputs, gradients, sources;
    for (std::size_t k = 0; k < gy.size(); ++k) {
      if (!gy[k]) continue;
      outputs.push_back(ys_[k]);
      gradients.push_back(gy[k]);
    }
    for (const int t : targets) sources.push_back(copies_[std::size_t(t)]);
    return autograd::internal::gradients(outputs, sources, gradients, needs_double_backprop(), copies_);
  }

 protected:
  bool allows_mixed_devices() const noexcept override { return true; }  // the functions inside check them

 private:
  const std::string label_;
  // Only for forward, during the call.
  const Variables* xs_;
  const FunctionObject::Body* body_;
  Arrays* kept_;
  Variables copies_, ys_;
};

// True if the outputs are those of one node with this label, and none is an input itself.
bool is_one_node(const Variables& ys, const Variables& xs, const std::string& label) {
  const FunctionNode* const f = ys.empty() ? nullptr : ys[0].creator();
  if (f == nullptr || f->label() != label) return false;
  for (const Variable& y : ys) {
    if (y.creator() != f) return false;
    for (const Variable& x : xs)
      if (y.is_same(x)) return false;
  }
  return true;
}

}  // namespace

Variables FunctionObject::call(Variables x) const {
  while (x.size() > fewest_ && !x.back()) x.pop_back();
  if (x.size() < fewest_ || x.size() > most_) {
    const bool few = x.size() < fewest_, exact = fewest_ == most_;
    const char* const relation = exact ? " == " : few ? " >= " : " <= ";
    const char* const inverse = exact ? " != " : few ? " < " : " > ";
    const std::size_t bound = few ? fewest_ : most_;
    throw catena::InvalidType(catena::concat("in_types.size()", relation, bound),
                              catena::concat(x.size(), inverse, bound),
                              catena::concat("Invalid operation is performed in: ", label_, " (Forward)\n\n"));
  }
  const bool graph = autograd::internal::plan_of(x).graph;
  if (!graph || kind_ == Kind::node) {
    const Variables y = body_(x, kept_);
    if (!graph || is_one_node(y, x, label_)) return y;
  }
  return autograd::apply_node<Composition>(x, label_, x, body_, kept_);
}

const Array& FunctionObject::kept(std::size_t i) const {
  static const Array none;
  return i < kept_.size() ? kept_[i] : none;
}

#define CATENA_UNUSED [[maybe_unused]]
#define CATENA_NO_DEFAULT(...)
#define CATENA_KEPT(name, i)
#define CATENA_DEFINE(Name, label, Result, fewest, most, kind, parameters, body, ...) \
  Name::Name parameters                                                               \
      : FunctionObjectOf<Result>(label, fewest, most, kind,                           \
                                 [=](const Variables& x, [[maybe_unused]] Arrays& kept) { return list_of(body); }) {}
CATENA_FUNCTION_CLASSES(CATENA_DEFINE, CATENA_NO_DEFAULT)

}  // namespace nn::functions
