#include <catena/nn/onnx/import_operator.h>

#include <algorithm>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/nn/onnx/import.h>
#include <catena/nn/onnx/tensor.h>

namespace nn::onnx {

namespace importing {

namespace {

std::vector<Operator> all_operators() {
  std::vector<Operator> all;
  for (const std::span<const Operator> some :
       {elementwise_operators(), comparison_operators(), shape_operators(), index_operators(), reduction_operators(),
        product_operators(), pooling_operators(), normalization_operators(), resize_operators(), recurrent_operators(),
        region_operators()})
    all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end(), [](const Operator& a, const Operator& b) { return a.name < b.name; });
  return all;
}
const std::vector<Operator>& operators() {
  static const std::vector<Operator> all = all_operators();
  return all;
}

}  // namespace

const Operator* find_operator(std::string_view name) noexcept {
  const std::vector<Operator>& all = operators();
  const auto found =
      std::lower_bound(all.begin(), all.end(), name, [](const Operator& o, std::string_view n) { return o.name < n; });
  return found == all.end() || found->name != name ? nullptr : &*found;
}

// ---- nodes ----
const Variable& OperatorCall::input(std::size_t i) const {
  if (!has(i)) refuse("its input ", i, " is left out");
  return inputs_[i];
}

Variables OperatorCall::inputs() const {
  Variables all;
  for (std::size_t i = 0; i < inputs_.size(); ++i) all.push_back(input(i));
  return all;
}

Integers OperatorCall::integers_of(std::size_t i) const {
  const Variable& x = input(i);
  if (is_floating(x)) refuse("its input ", i, " is ", x.dtype(), "; integers are needed");
  return autograd::to_vector<std::int64_t>(x.data());
}
std::vector<double> OperatorCall::numbers_of(std::size_t i) const {
  return autograd::to_vector<double>(input(i).data());
}

void OperatorCall::check_one_element(std::size_t i) const {
  if (input(i).size() != 1) refuse("its input ", i, " has the shape ", input(i).shape(), "; one number is needed");
}
std::int64_t OperatorCall::integer_of(std::size_t i) const { return check_one_element(i), integers_of(i)[0]; }
double OperatorCall::number_of(std::size_t i) const { return check_one_element(i), numbers_of(i)[0]; }

const Attribute* OperatorCall::typed(std::string_view name, Attribute::Type type) const {
  const Attribute* const a = node_.find(name);
  if (a != nullptr && a->type != type) refuse("its attribute ", name, " has another type than the operator's");
  return a;
}
std::int64_t OperatorCall::integer(std::string_view name) const {
  const Attribute* const a = typed(name, Attribute::Type::int_);
  if (a == nullptr) refuse("it lacks the attribute ", name);
  return a->i;
}
std::int64_t OperatorCall::integer(std::string_view name, std::int64_t otherwise) const {
  const Attribute* const a = typed(name, Attribute::Type::int_);
  return a == nullptr ? otherwise : a->i;
}
double OperatorCall::number(std::string_view name, double otherwise) const {
  const Attribute* const a = typed(name, Attribute::Type::float_);
  return a == nullptr ? otherwise : double(a->f);
}
std::string OperatorCall::text(std::string_view name, const std::string& otherwise) const {
  const Attribute* const a = typed(name, Attribute::Type::string);
  return a == nullptr ? otherwise : a->s;
}
Integers OperatorCall::integers(std::string_view name, const Integers& otherwise) const {
  const Attribute* const a = typed(name, Attribute::Type::ints);
  return a == nullptr ? otherwise : a->ints;
}
Integers OperatorCall::integers(std::string_view name, std::size_t i, std::int64_t since) const {
  if (opset_ < since) return integers(name);
  return has(i) ? integers_of(i) : Integers();
}
int OperatorCall::axis(std::int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) refuse("the axis ", axis, " is out of range for an array of rank ", rank);
  return int(axis < 0 ? axis + rank : axis);
}

// ---- helpers ----
Variable integers(const Integers& values, const Shape& shape) {
  return constant(autograd::from_host(values.data(), shape, Dtype::int64, autograd::Device{}));
}
Variable integers(const Integers& values) { return integers(values, {std::int64_t(values.size())}); }

Variable cast_to(const Variable& x, Dtype dtype) {
  if (x.dtype() == dtype) return x;
  if (is_floating(x) && catena::is_floating(dtype)) return autograd::cast(x, dtype);
  return constant(autograd::astype(x.data(), dtype));
}
Variable beside(const Variable& x, const Variable& other) {
  return x.device() == other.device() ? x : autograd::copy(x, other.device());
}
std::pair<Variable, Variable> on_one_device(const Variable& a, const Variable& b) {
  const Variable x = a.device() == autograd::Device{} ? beside(a, b) : a;
  return {x, beside(b, x)};
}
Shape shape_of(const Integers& lengths) {
  Shape shape;
  if (lengths.size() > std::size_t(catena::kMaxRank))
    throw catena::ValueError(catena::concat("a shape has ", lengths.size(), " axes, more than ", catena::kMaxRank));
  for (const std::int64_t n : lengths) shape.push_back(n);
  return shape;
}
Variable matrix_of(const Variable& x, int axis) {
  std::int64_t rows = 1, columns = 1;
  for (int k = 0; k < x.ndim(); ++k) (k < axis ? rows : columns) *= x.shape(k);
  return autograd::reshape(x, {rows, columns});
}

}  // namespace importing

std::vector<std::string> imported_operators() {
  std::vector<std::string> names;
  for (const importing::Operator& o : importing::operators()) names.emplace_back(o.name);
  return names;
}

}  // namespace nn::onnx
