#include <catena/autograd/autocast.h>

#include <algorithm>
#include <unordered_map>

#include <catena/autograd/capture.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/variable_node.h>

namespace autograd {

namespace internal {
namespace {

enum class Policy : unsigned char { narrow, wide, unchanged, widest };
struct Rule {
  std::string_view label;  // with '*' at its end: all labels that begin so
  Policy policy;
};

// The only place that says which function computes in which dtype.
constexpr Rule kRules[] = {
    // convolutions, products
    {"LinearFunction", Policy::narrow},
    {"BilinearFunction", Policy::narrow},
    {"Convolution2DFunction", Policy::narrow},
    {"DilatedConvolution2DFunction", Policy::narrow},
    {"Deconvolution2DFunction", Policy::narrow},
    {"ConvolutionND", Policy::narrow},
    {"DeconvolutionND", Policy::narrow},
    {"MatMul", Policy::narrow},
    {"BatchMatMul", Policy::narrow},
    {"einsum", Policy::narrow},
    {"ScaledDotProductAttention*", Policy::narrow},
    {"NStep*", Policy::narrow},
    // elementwise functions whose results leave the range of 16 bits or lose their digits there
    {"exp", Policy::wide},
    {"expm1", Policy::wide},
    {"log", Policy::wide},
    {"log2", Policy::wide},
    {"log10", Policy::wide},
    {"log1p", Policy::wide},
    {"sinh", Policy::wide},
    {"cosh", Policy::wide},
    {"tan", Policy::wide},
    {"arcsin", Policy::wide},
    {"arccos", Policy::wide},
    {"rsqrt", Policy::wide},
    {"xlogy", Policy::wide},
    {"xlog1py", Policy::wide},
    {"square", Policy::wide},
    {"Softplus", Policy::wide},
    {"LogAddExp", Policy::wide},
    {"SquaredDifference", Policy::wide},
    {"_ ** *", Policy::wide},
    {"$ ** _", Policy::wide},
    // decompositions and equations
    {"Inv", Policy::wide},
    {"BatchInv", Policy::wide},
    {"det", Policy::wide},
    {"Slogdet", Policy::wide},
    {"Cholesky", Policy::wide},
    {"Solve*", Policy::wide},
    {"QR", Policy::wide},
    {"SVD", Policy::wide},
    {"Eigh", Policy::wide},
    {"Pinv", Policy::wide},
    {"MatrixExp", Policy::wide},
    // reductions, softmax
    {"Sum", Policy::wide},
    {"Mean", Policy::wide},
    {"Prod", Policy::wide},
    {"Var", Policy::wide},
    {"Std", Policy::wide},
    {"Norm", Policy::wide},
    {"CumSum", Policy::wide},
    {"CumProd", Policy::wide},
    {"LogSumExp", Policy::wide},
    {"LogCumSumExp", Policy::wide},
    {"BatchL2NormSquared", Policy::wide},
    {"Softmax", Policy::wide},
    {"LogSoftmax", Policy::wide},
    // normalization
    {"LayerNormalization", Policy::wide},
    {"GroupNormalization", Policy::wide},
    {"RMSNormalization", Policy::wide},
    {"BatchNormalizationFunction", Policy::unchanged},
    // losses that are one function
    {"MeanSquaredError", Policy::wide},
    {"NegativeLogLikelihood", Policy::wide},
    {"SoftmaxCrossEntropy", Policy::wide},
    {"SumByLabel", Policy::wide},
    {"ConnectionistTemporalClassification", Policy::wide},
    {"CRF1d", Policy::wide},
    // functions that take inputs of any dtypes
    {"Cast", Policy::unchanged},
    {"Copy", Policy::unchanged},
    {"Identity", Policy::unchanged},
    {"Forget", Policy::unchanged},
};

bool fits(std::string_view pattern, std::string_view label) {
  if (!pattern.ends_with('*')) return pattern == label;
  return label.starts_with(pattern.substr(0, pattern.size() - 1));
}

Policy policy_of(std::string_view label) {
  const auto at =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) { return fits(r.label, label); });
  return at == std::end(kRules) ? Policy::widest : at->policy;
}

bool is_16_bit(Dtype t) { return catena::is_floating(t) && catena::itemsize(t) == 2; }

// Returns the dtype to which the floating inputs are to be converted; nothing if they stay as they are.
std::optional<Dtype> common_dtype(Policy policy, Dtype narrow, std::span<const Dtype> inputs) {
  if (policy == Policy::unchanged) return {};
  bool differ = false;
  const Dtype* first = nullptr;
  for (const Dtype& t : inputs) {
    if (!catena::is_floating(t)) continue;
    if (t == Dtype::float64) return {};
    if (first == nullptr) first = &t;
    differ |= t != *first;
  }
  if (policy == Policy::narrow) return narrow;
  if (policy == Policy::widest && !differ) return {};
  return Dtype::float32;
}

// A converted parameter, and what it was made from.
struct Converted {
  Variable parameter, result;
  Array data;
  std::uint64_t version = 0, capture = 0;
  std::uint32_t recomputation = 0;
};

std::uint64_t full_version(const Array& a) {
  return a->storage ? a->storage->version.load(catena::MemoryOrder::relaxed) : 0;
}

}  // namespace

class Autocast {
 public:
  Autocast(Dtype to, Autocast* outer) : dtype(to), keeper_(outer != nullptr ? outer->keeper_ : this) {}
  const Dtype dtype;

  Variable convert(const Variable& x, Dtype to) {
    VariableNode* const n = Access::node(x);
    if (!n->is_parameter || n->alias_of != nullptr || n->creator != nullptr) return cast(x, to);
    Converted& known = keeper_->converted_[n];
    if (!is_current(known, x, to))
      known = {x, cast(x, to), n->data, full_version(n->data), capture_number(), modes().recomputation};
    return known.result;
  }

 private:
  static bool is_current(const Converted& c, const Variable& x, Dtype to) {
    if (!c.result || c.result.dtype() != to || c.data->storage != x.data()->storage) return false;
    const bool needs_graph = graph_mode_of({&x, 1}).graph;
    return c.version == full_version(x.data()) && c.capture == capture_number() &&
           c.recomputation == modes().recomputation && (!needs_graph || c.result.creator() != nullptr);
  }

  Autocast* const keeper_;  // the outermost scope, which has the converted parameters of all
  std::unordered_map<const VariableNode*, Converted> converted_;
};

std::optional<Variables> autocast_inputs(std::string_view label, std::span<const Variable> inputs) {
  Autocast& scope = *modes().autocast;
  catena::SmallVector<Dtype, 4> dtypes;
  for (const Variable& x : inputs)
    if (x && x.data()) dtypes.push_back(x.dtype());
  const std::optional<Dtype> to = common_dtype(policy_of(label), scope.dtype, dtypes);
  const auto converts = [&](Dtype t) { return catena::is_floating(t) && t != to; };
  if (!to || std::none_of(dtypes.begin(), dtypes.end(), converts)) return {};
  Variables result;
  for (const Variable& x : inputs) {
    if (x && x.data() && converts(x.dtype())) result.push_back(scope.convert(x, *to));
    else result.push_back(x);
  }
  return result;
}

void autocast_checked(Arrays& inputs) {
  if (modes().autocast == nullptr) return;
  catena::SmallVector<Dtype, 4> dtypes;
  for (const Array& a : inputs) dtypes.push_back(a.dtype());
  const std::optional<Dtype> to = common_dtype(Policy::widest, Dtype::float32, dtypes);
  if (!to) return;
  for (Array& a : inputs)
    if (is_16_bit(a.dtype())) a = broadcast_to(arrays::full({}, 0, *to, a.device()), a.shape());
}

}  // namespace internal

AutocastScope::AutocastScope(Dtype dtype, bool enabled) : before_(internal::modes().autocast) {
  catena::check<catena::ValueError>(internal::is_16_bit(dtype), "autocast", "the dtype is ", dtype,
                                    "; it must be float16 or bfloat16 (enabled = false turns the conversions off)");
  if (enabled) own_ = catena::Owned<internal::Autocast>(new internal::Autocast(dtype, before_));
  internal::modes().autocast = own_.get();
}

static Dtype dtype_of(const AutocastOptions& o) {
  catena::check<catena::ValueError>(o.device_type.empty() || o.device_type == "cpu" || o.device_type == "cuda",
                                    "autocast", "the device type is \"", o.device_type,
                                    "\"; it must be \"cpu\" or \"cuda\"");
  return o.dtype.value_or(o.device_type == "cuda" ? Dtype::float16 : Dtype::bfloat16);
}
AutocastOptions AutocastOptions::with(std::string_view type) const {
  catena::check<catena::ValueError>(device_type.empty(), "autocast", "the device type is given twice");
  AutocastOptions o = *this;
  o.device_type = type;
  return o;
}
AutocastScope::AutocastScope(const AutocastOptions& o) : AutocastScope(dtype_of(o), o.enabled) {}

AutocastScope::~AutocastScope() { internal::modes().autocast = before_; }

std::optional<Dtype> autocast_dtype() noexcept {
  const internal::Autocast* const scope = internal::modes().autocast;
  return scope != nullptr ? std::optional<Dtype>(scope->dtype) : std::nullopt;
}

}  // namespace autograd
