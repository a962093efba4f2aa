// The string forms of Variable.
#include <cmath>
#include <ostream>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/text.h>

namespace autograd {
namespace {

std::string address(const void* p) { return "0x" + catena::hexadecimal_text(reinterpret_cast<std::uintptr_t>(p)); }

std::string statistics(const std::vector<double>& v) {
  double mean = 0, square = 0;
  for (const double x : v) mean += x;
  mean /= static_cast<double>(v.size());
  for (const double x : v) square += (x - mean) * (x - mean);
  const double std = std::sqrt(square / static_cast<double>(v.size()));
  return "mean=" + catena::fixed_text(mean, 8) + ", std=" + catena::fixed_text(std, 8);
}

}  // namespace

std::string internal::label_of(const Shape& shape, Dtype dtype) {
  if (shape.size() == 0) return std::string(catena::name_of(dtype));
  std::string text = "(";
  for (int i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "), " + std::string(catena::name_of(dtype));
}

std::string Variable::label() const { return internal::label_of(shape(), dtype()); }

std::string Variable::to_string() const {
  const std::string& n = name();
  return n.empty() ? "<var@" + address(node_).substr(2) + ">" : n;
}

std::string Variable::repr() const {
  const std::string& n = name();
  return n.empty() ? "<variable at " + address(node_) + ">" : "<variable " + n + ">";
}

std::string Variable::debug_print() const {
  std::string grad_text = "None";
  if (const Array g = grad()) {
    const std::vector<double> values = to_vector<double>(g);
    bool zero = true;
    for (const double v : values) zero &= v == 0;
    grad_text = zero ? "0" : statistics(values);
  }
  const std::string where = device().kind == Device::Kind::cpu ? "CPU" : catena::to_string(device());
  return catena::concat(repr(), "\n- device: ", where, "\n- volatile: ", volatile_flag(),
                        "\n- backend: ", data().backend().name(), "\n- shape: ", shape(), "\n- dtype: ", dtype(),
                        "\n- statistics: ", statistics(to_vector<double>(data())), "\n- grad: ", grad_text);
}

std::ostream& operator<<(std::ostream& out, const Variable& v) {
  if (!v) return out << "<null variable>";
  const std::string head = v.name().empty() ? "variable(" : "variable " + catena::printable(v.name()) + "(";
  if (!v.data()) return out << head << "no data yet)";
  // Further lines are aligned below the first one, as NumPy prints them.
  const std::string values = autograd::to_string(v.data());
  out << head;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out << values[i];
    if (values[i] == '\n' && values[i + 1] != '\n') out << std::string(head.size(), ' ');
  }
  return out << ')';
}

}  // namespace autograd
