#include <catena/nn/functions/objects/function_object.h>

#include <catena/autograd/backward.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/math.h>

namespace nn::functions {
namespace {

using autograd::Arrays;
using autograd::FunctionNode;
using autograd::Targets;
using Body = catena::Function<Variables(const Variables& x, Arrays& kept)>;

// A function of several nodes as one node. Its nodes form a graph that begins at copies of the inputs, behind a node
// each: gradients with respect to the copies are functions of the inputs, but do not flow on to what made these, and
// the search for the functions between ends there, too.
class Composition final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  Composition(std::string label, const Variables& xs, const Body& body, Arrays& kept)
      : label_(std::move(label)), xs_(&xs), body_(&body), kept_(&kept) {}
  std::string label() const override { return label_; }
  void options(autograd::internal::FunctionOptions& o) const override {
    o.function("Composition");
    o.variables("results", ys_);
  }

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
  const Body* body_;
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
  while (x.size() > inputs_.fewest && !x.back()) x.pop_back();
  if (x.size() < inputs_.fewest || x.size() > inputs_.most) {
    const bool few = x.size() < inputs_.fewest, exact = inputs_.fewest == inputs_.most;
    const char* const relation = exact ? " == " : few ? " >= " : " <= ";
    const char* const inverse = exact ? " != " : few ? " < " : " > ";
    const std::size_t bound = few ? inputs_.fewest : inputs_.most;
    throw catena::InvalidType(catena::concat("in_types.size()", relation, bound),
                              catena::concat(x.size(), inverse, bound),
                              catena::concat("Invalid operation is performed in: ", label_, " (Forward)\n\n"));
  }
  const bool graph = autograd::internal::graph_mode_of(x).graph;
  if (!graph || kind_ == node) {
    const Variables y = body_(x, kept_);
    if (!graph || is_one_node(y, x, label_)) return y;
  }
  return autograd::apply_node<Composition>(x, label_, x, body_, kept_);
}

const Array& FunctionObject::kept(std::size_t i) const {
  static const Array none;
  return i < kept_.size() ? kept_[i] : none;
}

}  // namespace nn::functions
