#include <catena/nn/function_set.h>

#include <algorithm>

#include <catena/kernels/base/warning.h>

namespace nn {

using catena::AttributeError;
using catena::check;
using catena::ValueError;

FunctionSet::FunctionSet(std::initializer_list<Part> parts) {
  catena::warn("DeprecationWarning", "FunctionSet is deprecated. Use Chain instead.");
  for (const Part& p : parts) set(p.name, p.link);
}

Link& FunctionSet::set(const std::string& name, internal::AnyLink link) {
  adopt(link.get(), name);
  const auto at = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.name == name; });
  if (at != parts_.end()) {
    at->link = std::move(link);
    return at->link.get();
  }
  check<AttributeError>(!name.empty() && name.find('/') == name.npos, "FunctionSet", "\"", name,
                        "\" cannot be the name of a link: names are parts of paths, not empty and without a slash");
  bool taken = false;  // the name belongs to a member added by add_link or add_param
  for (const auto& [key, child] : named_children()) taken |= key == name;
  for (const NamedParam& p : namedparams()) taken |= p.path.substr(1) == name;
  check<AttributeError>(!taken, "FunctionSet", "the set has a member named ", name, " already");
  return parts_.emplace_back(name, std::move(link)).link.get();
}

void FunctionSet::visit_declared(MemberVisitor& v) {
  for (Part& p : parts_) v.link(p.name, p.link.get());
}

std::vector<Array> FunctionSet::parameters() const {
  std::vector<Array> result;
  for (const Variable& p : params()) result.push_back(p.data());
  return result;
}

std::vector<Array> FunctionSet::gradients() const {
  std::vector<Array> result;
  for (const Variable& p : params()) result.push_back(p.grad());
  return result;
}

std::vector<Variable> FunctionSet::params_for(const char* op, const std::vector<Array>& arrays) const {
  std::vector<Variable> all = params();
  check<ValueError>(all.size() == arrays.size(), op, arrays.size(), " arrays were given for ", all.size(),
                    " parameters");
  return all;
}

void FunctionSet::set_parameters(const std::vector<Array>& arrays) {
  constexpr const char* op = "FunctionSet.set_parameters";
  std::vector<Variable> all = params_for(op, arrays);
  for (const Array& a : arrays) check<ValueError>(bool(a), op, "an array is null");
  for (std::size_t i = 0; i < all.size(); ++i) all[i].set_data(arrays[i]);
}

void FunctionSet::set_gradients(const std::vector<Array>& arrays) {
  std::vector<Variable> all = params_for("FunctionSet.set_gradients", arrays);
  std::vector<Array> before = gradients();
  for (std::size_t i = 0; i < all.size(); ++i) {
    try {
      all[i].set_grad(arrays[i]);
    } catch (...) {
      for (std::size_t k = 0; k < i; ++k) all[k].set_grad(before[k]);
      throw;
    }
  }
}

FunctionSet& FunctionSet::collect_parameters() {
  catena::warn("FutureWarning",
               "collect_parameters is deprecated. You can pass the FunctionSet itself to the optimizer's setup.");
  return *this;
}

void FunctionSet::copy_parameters_from(const std::vector<Array>& arrays) {
  constexpr const char* op = "FunctionSet.copy_parameters_from";
  const std::vector<Variable> all = params_for(op, arrays);
  for (std::size_t i = 0; i < all.size(); ++i) {
    check<ValueError>(bool(arrays[i]) && bool(all[i].data()), op, "array or parameter ", i, " is null");
    check<ValueError>(arrays[i].shape() == all[i].shape(), op, "array ", i, " has the shape ", arrays[i].shape(),
                      ", its parameter ", all[i].shape());
  }
  for (std::size_t i = 0; i < all.size(); ++i) autograd::copy_across(all[i].data(), arrays[i]);
}

}  // namespace nn
