// The members of Variable that write its elements or exchange its array.
#include <algorithm>
#include <cmath>

#include <catena/autograd/array.h>
#include <catena/autograd/variable_node.h>
#include <catena/autograd/view.h>
#include <catena/kernels/registry/bind.h>

namespace autograd {

using catena::check;
using catena::ValueError;

const Variable& Variable::replace_elements(const Variable& result, std::string_view op) const {
  const Array& to = writable(op);
  check<ValueError>(result.shape() == to.shape(), op, "the result has the shape ", result.shape(),
                    ", which is not that of the variable, ", to.shape());
  catena::check_output_cast(op, result.dtype(), to.dtype(), catena::Casting::same_kind);
  assign(to, result.data());
  return *this;
}
const Variable& Variable::replace_array(const Array& array, std::string_view op) const {
  writable(op);
  checked().data = array;
  return *this;
}

const Variable& Variable::apply_(const catena::Function<double(double)>& f) const {
  return map_(*this, [&f](double x, double) { return f(x); });
}
const Variable& Variable::map_(const Variable& other, const catena::Function<double(double, double)>& f) const {
  const Array& to = writable("map_");
  const Array& from = other.read_by("map_");
  std::vector<double> values = to_vector<double>(to);
  const std::vector<double> others = to_vector<double>(autograd::broadcast_to(from, to.shape()));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = f(values[k], others[k]);
  assign(to, autograd::array(values, to.shape(), to.device()));
  return *this;
}
double internal::geometric_rate(double p) {
  check<ValueError>(p > 0 && p < 1, "geometric_", "p is ", p, ", it must lie between 0 and 1");
  return -std::log1p(-p);
}

const Variable& Variable::squeeze_(const Axes& dim) const {
  return replace_array(autograd::squeeze(present(), dim), "squeeze_");
}
const Variable& Variable::unsqueeze_(int dim) const { return replace_array(expand_dims(present(), dim), "unsqueeze_"); }
const Variable& Variable::transpose_(int dim0, int dim1) const {
  return replace_array(autograd::swapaxes(present(), dim0, dim1), "transpose_");
}
const Variable& Variable::t_() const {
  check<ValueError>(ndim() <= 2, "t_", "the shape is ", shape(), ", the rank must be at most 2");
  return replace_array(autograd::transpose(present()), "t_");
}
const Variable& Variable::as_strided_(const Shape& shape, const Dims& strides, std::int64_t offset) const {
  // The differentiable function checks the layout.
  const Variable checked = Variable(data(), {.requires_grad = false}).as_strided(shape, strides, offset);
  const Array& from = present();
  if (!from.is_c_contiguous()) return replace_array(checked.data(), "as_strided_");
  Dims bytes = strides;
  for (std::int64_t& stride : bytes) stride *= element_size();
  return replace_array(internal::view_as(from, {shape, bytes, offset * element_size()}), "as_strided_");
}
const Variable& Variable::resize_(const Shape& shape) const {
  const Array& from = writable("resize_");
  const std::int64_t size = catena::checked_size(shape), kept = std::min(size, from.size());
  Array flat = autograd::reshape(autograd::contiguous(from), {from.size()});
  if (size > kept) {
    const Array longer = arrays::empty({size}, from.dtype(), from.device());
    assign(autograd::slice(longer, 0, 0, kept), flat);
    flat = longer;
  }
  return replace_array(autograd::reshape(autograd::slice(flat, 0, 0, size), shape), "resize_");
}
const Variable& Variable::set_(const Variable& source) const {
  const Array& from = source.read_by("set_");
  check<catena::TypeError>(from.dtype() == dtype(), "set_", "the source is ", from.dtype(), ", it must be ", dtype());
  return replace_array(from, "set_");
}
}  // namespace autograd
