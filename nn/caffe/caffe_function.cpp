#include <catena/nn/caffe/caffe_function.h>

#include <algorithm>

#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/warning.h>
#include <catena/nn/caffe/layers.h>

namespace nn::links::caffe {

using catena::check;
using catena::concat;
using internal::CaffeModel;
using internal::LayerParameter;
using internal::LayerType;

namespace {

bool contains(const CaffeFunction::Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string type_text(const LayerParameter& layer, bool v1) {
  if (!v1) return layer.type;
  const std::string_view name = internal::v1_type_name(layer.v1_type);
  return name.empty() ? concat("type ", layer.v1_type) : std::string(name);
}

// Returns the blob itself, or, for a top of a Split layer, the source of the split.
const std::string& source_of(const CaffeFunction& net, const std::string& blob) {
  const auto found = net.split_map.find(blob);
  return found == net.split_map.end() ? blob : found->second;
}

void add_split(CaffeFunction& net, const LayerParameter& layer, const std::string& context) {
  check<catena::ValueError>(!layer.bottom.empty(), context, "it has no bottom");
  const std::string source = source_of(net, layer.bottom[0]);
  for (const std::string& top : layer.top)
    if (top != source) net.split_map[top] = source;
}

void add_layer(CaffeFunction& net, const LayerParameter& layer) {
  CaffeFunction::Layer added{layer.name, {}, layer.top};
  for (const std::string& bottom : layer.bottom) added.bottoms.push_back(source_of(net, bottom));
  // From here on, it is a separate blob and not a top of a Split layer.
  for (const std::string& top : layer.top) net.split_map.erase(top);
  net.layers.push_back(std::move(added));
}

// To be called in a catch clause: adds the name of the layer, unless the error has the path of a link.
[[noreturn]] void rethrow_at_layer(const std::string& name) {
  try {
    throw;
  } catch (const catena::Error& e) {
    if (std::string_view(e.what()).starts_with("/")) throw;
    catena::rethrow_from(concat("CaffeFunction: the layer ", name));
  }
}

}  // namespace

CaffeFunction::CaffeFunction(const std::string& model_path, const Options& options) {
  const CaffeModel model(model_path);
  internal::SetUpState state;
  for (std::size_t i = 0; i < model.size(); ++i) {
    LayerParameter layer = model.layer(i);
    const std::string type = type_text(layer, model.is_v1());
    const std::string context = concat(model.context(), ": the layer ", layer.name, " (", type, ")");
    const LayerType* const known = internal::find_layer_type(layer, model.is_v1());
    if (known == nullptr) {
      catena::warn("UserWarning", concat(context, " is skipped: CaffeFunction does not support layers of this type"));
    } else if (known->name == "Split") {
      add_split(*this, layer, context);
    } else if (Forward forward = known->set_up({*this, layer, options, context, state})) {
      forwards[layer.name] = std::move(forward);
      add_layer(*this, layer);
    }
  }
}

Variables CaffeFunction::operator()(const Blobs& inputs, const Names& outputs, const Names& disable, bool in_training) {
  const nn::internal::CallScope scope(*this);
  train = in_training;
  std::map<std::string, Variable> blobs;
  for (const auto& [name, variable] : inputs) blobs[name] = variable;
  for (const Layer& layer : layers) {
    const auto forward = forwards.find(layer.name);
    if (forward == forwards.end() || contains(disable, layer.name)) continue;
    Variables bottoms;
    for (const std::string& name : layer.bottoms)
      if (const auto found = blobs.find(name); found != blobs.end()) bottoms.push_back(found->second);
    if (bottoms.size() != layer.bottoms.size()) continue;
    Variables tops;
    try {
      tops = forward->second(*this, bottoms);
    } catch (...) {
      rethrow_at_layer(layer.name);
    }
    for (std::size_t i = 0; i < std::min(tops.size(), layer.tops.size()); ++i) blobs[layer.tops[i]] = tops[i];
  }
  Variables results;
  for (const std::string& name : outputs) {
    auto found = blobs.find(name);
    if (found == blobs.end()) found = blobs.find(source_of(*this, name));
    check<catena::KeyError>(found != blobs.end(), "CaffeFunction", "no layer has given the blob ", name);
    results.push_back(found->second);
  }
  variables = std::move(blobs);
  return results;
}

void CaffeFunction::visit_declared(MemberVisitor& v) {
  for (Child& child : children_) v.link(child.name, child.link.get());
}

}  // namespace nn::links::caffe
