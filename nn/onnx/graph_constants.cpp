// Constants of a graph, also those whose shape follows dynamic axes.
#include <algorithm>

#include <catena/nn/onnx/graph_builder.h>
#include <catena/nn/onnx/tensor.h>

namespace nn::onnx::internal {

using autograd::slice;

namespace {

std::vector<char> bytes_of(const Array& a) {
  std::vector<char> bytes(std::size_t(a.size()) * catena::itemsize(a.dtype()));
  autograd::to_host(a, bytes.data());
  return bytes;
}
bool equal(const Array& a, const Array& b) {
  return a.get() == b.get() || (a.shape() == b.shape() && a.dtype() == b.dtype() && bytes_of(a) == bytes_of(b));
}
// True if `a` has the elements of `b`, in another shape.
bool is_reshaped(const Array& a, const Array& b) {
  return a->storage != nullptr && a->storage == b->storage && a->data == b->data && a.dtype() == b.dtype() &&
         a.size() == b.size() && a.is_c_contiguous() && b.is_c_contiguous();
}

}  // namespace

std::string GraphBuilder::constant(const std::vector<Array>& arrays) {
  const Array& first = arrays[0];
  if (const auto at = constants_.find(first.get()); at != constants_.end()) return at->second;
  if (const std::string name = of_input(arrays); !name.empty()) return name;
  const auto parameter = parameters_.find(first.get());
  for (const Array& a : arrays)
    require(a.dtype() == first.dtype() && a.ndim() == first.ndim(), "a constant of shape ", first.shape(),
            " has the shape ", a.shape(), " when the model is called again");
  std::string name;
  if (std::all_of(arrays.begin(), arrays.end(), [&](const Array& a) { return equal(a, first); }))
    name = initializer(first, parameter == parameters_.end() ? "constant" : parameter->second);
  else name = varying_constant(arrays);
  constants_[first.get()] = name;
  kept_.push_back(first);
  return name;
}

std::string GraphBuilder::of_input(const std::vector<Array>& arrays) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    bool same = true, reshaped = true;
    for (std::size_t t = 0; t < traces_.size(); ++t) {
      same = same && arrays[t].get() == traces_[t].inputs[i].get();
      reshaped = reshaped && is_reshaped(arrays[t], traces_[t].inputs[i]);
    }
    if (same) return inputs_[i];
    if (!reshaped) continue;
    std::vector<Array> inputs;
    for (const Trace& t : traces_) inputs.push_back(t.inputs[i]);
    const std::string name = reshape(inputs_[i], lengths_of(inputs), lengths_of(arrays));
    name_arrays(arrays, name);
    return name;
  }
  return {};
}

// Recurrent states, positions and masks have the lengths of dynamic axes.
std::string GraphBuilder::varying_constant(const std::vector<Array>& arrays) {
  const DimList dims = lengths_of(arrays);
  require(!is_constant(dims), "a constant of shape ", arrays[0].shape(),
          " has other values when the model is called with other values: it is random, or computed beside "
          "the variables");
  for (const auto attempt : {&GraphBuilder::repeated, &GraphBuilder::positions, &GraphBuilder::causal_mask})
    if (const std::string name = (this->*attempt)(arrays, dims); !name.empty()) return name;
  refuse("a constant of shape ", arrays[0].shape(),
         " follows dynamic axes, but is neither constant along them nor a list of positions nor a causal "
         "mask");
}

// The elements are equal along the dynamic axes.
std::string GraphBuilder::repeated(const std::vector<Array>& arrays, const DimList& dims) {
  Array one;
  for (const Array& a : arrays) {
    Array part = a;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].is_constant()) continue;
      if (a.shape(int(i)) == 0) return {};
      part = slice(part, int(i), 0, 1);
    }
    part = autograd::contiguous(part);
    if (!one) one = part;
    if (!equal(part, one) || !equal(a, autograd::copy(autograd::broadcast_to(part, a.shape())))) return {};
  }
  return node("Expand", {initializer(one, "constant"), lengths(dims)});
}

// 0, 1, 2, ... of one axis.
std::string GraphBuilder::positions(const std::vector<Array>& arrays, const DimList& dims) {
  if (dims.size() != 1 || arrays[0].dtype() == Dtype::bool_) return {};
  for (const Array& a : arrays) {
    const std::vector<double> v = autograd::to_vector<double>(a);
    for (std::size_t i = 0; i < v.size(); ++i)
      if (v[i] != double(i)) return {};
  }
  const std::string none = int64s({});
  const std::string end = node("Reshape", {length(dims[0]), none});
  const std::string range = node("Range", {scalar(0, Dtype::int64), end, scalar(1, Dtype::int64)});
  return node("Cast", {range}, {attribute("to", std::int64_t(data_type_of(arrays[0].dtype())))});
}

// True where j <= i + offset.
std::string GraphBuilder::causal_mask(const std::vector<Array>& arrays, const DimList& dims) {
  if (dims.size() != 2 || arrays[0].dtype() != Dtype::bool_) return {};
  const std::vector<std::int64_t> first = autograd::to_vector<std::int64_t>(slice(arrays[0], 0, 0, 1));
  const std::int64_t offset = std::count(first.begin(), first.end(), 1) - 1;
  for (const Array& a : arrays) {
    const std::vector<std::int64_t> v = autograd::to_vector<std::int64_t>(a);
    for (std::int64_t i = 0; i < a.shape(0); ++i)
      for (std::int64_t j = 0; j < a.shape(1); ++j)
        if (v[std::size_t(i * a.shape(1) + j)] != (j <= i + offset)) return {};
  }
  const std::string ones = node("Expand", {scalar(1, Dtype::int64), lengths(dims)});
  return node("Cast", {node("Trilu", {ones, scalar(double(offset), Dtype::int64)}, {attribute("upper", 0)})},
              {attribute("to", std::int64_t(DataType::bool_))});
}

}  // namespace nn::onnx::internal
