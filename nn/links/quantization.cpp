#include <catena/nn/links/quantization.h>

#include <catena/autograd/function_options.h>
#include <catena/kernels/base/error_context.h>
#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/convolution_nd.h>
#include <catena/nn/links/linear.h>
#include <catena/nn/links/quantized_weight.h>
#include <catena/nn/path_pattern.h>

namespace nn {
namespace {

// Finds a parameter of a link itself.
class FindParameter final : public MemberVisitor {
 public:
  explicit FindParameter(std::string_view name) : name_(name) {}
  void parameter(std::string_view name, Parameter& p) override {
    if (name == name_) found = &p;
  }
  Parameter* found = nullptr;

 private:
  std::string_view name_;
};

// Returns the weight of a layer that can be quantized; null for other links.
Parameter* weight_in(Link& link) {
  if (auto* const l = dynamic_cast<Linear*>(&link)) return &l->W;
  if (auto* const l = dynamic_cast<Convolution2D*>(&link)) return &l->W;
  if (auto* const l = dynamic_cast<ConvolutionND*>(&link)) return &l->W;
  return nullptr;
}

struct Layer {
  Link* link;
  Parameter* W;
  std::string path;
  QuantizedWeight quantized;  // null arrays if W is quantized already
};

std::vector<Layer> layers_of(Link& model, const std::string& match) {
  std::vector<Layer> layers;
  for (const NamedLink& l : model.namedlinks()) {
    Parameter* const W = weight_in(*l.link);
    const std::string path = (l.path == "/" ? std::string() : l.path) + "/W";
    if (W != nullptr && path_matches(match, path)) layers.push_back({l.link, W, path, {}});
  }
  return layers;
}

}  // namespace

Variable internal::scale_of(Link& link) {
  FindParameter scale(kScaleName);
  link.visit_members(scale);
  catena::check<catena::RuntimeError>(scale.found != nullptr, "Link", "W is int8, but there is no ", kScaleName,
                                      ": weights become int8 by nn::quantize_weights()");
  // A graph that is written to a file has the operators of constants, such as frozen scales, as values only.
  if (autograd::internal::wants_elementary_nodes()) return Variable(scale.found->data());
  return *scale.found;
}

Variable internal::weight_of(Link& link, const Parameter& W) {
  return is_quantized(W) ? dequantize(W, scale_of(link)) : static_cast<const Variable&>(W);
}

std::vector<std::string> quantize_weights(Link& model, const QuantizeOptions& options) {
  constexpr const char* kOp = "quantize_weights";
  catena::check<catena::ValueError>(options.bits == 8, kOp, "bits is ", options.bits, "; there are weights of 8 bits");
  std::vector<Layer> layers = layers_of(model, options.match);
  catena::check<catena::KeyError>(!layers.empty(), kOp, "no Linear or convolution layer matches \"", options.match,
                                  "\"");
  for (Layer& l : layers) {
    catena::check<catena::ValueError>(l.W->is_initialized(), kOp, l.path,
                                      " has no shape yet: call the model once with an input");
    if (internal::is_quantized(*l.W)) continue;
    try {
      l.quantized = quantize_per_channel(l.W->data());
    } catch (...) {
      catena::rethrow_from(catena::concat(kOp, ": ", l.path));
    }
  }
  std::vector<std::string> paths;
  for (Layer& l : layers) {
    paths.push_back(l.path);
    if (!l.quantized.values) continue;
    Parameter& scale = l.link->add_param(internal::kScaleName, Parameter(l.quantized.scale));
    scale.set_requires_grad(l.W->requires_grad());
    l.W->set_grad({});
    l.W->set_requires_grad(false);
    l.W->set_data(l.quantized.values);
    // CopyMode::init keeps the values, which an initializer of float32 could not give.
    l.W->set_initializer(Parameter(l.quantized.values).initializer());
  }
  return paths;
}

}  // namespace nn
