#include <catena/autograd/custom_function.h>

#include <catena/autograd/debug.h>
#include <catena/autograd/no_grad.h>

namespace autograd::internal {

std::string CustomNode::label() const { return class_name(type_); }

Arrays CustomNode::forward(const Arrays& in) {
  Variables inputs, outputs;
  for (const Array& a : in) inputs.push_back(Variable(a));
  {
    const no_grad scope;
    outputs = call_forward(context_, inputs);
  }
  Arrays out;
  for (const Variable& y : outputs) {
    catena::check<catena::TypeError>(bool(y), label(), "forward returned a Variable without a value");
    out.push_back(y.data());
  }
  produced_ = kinds_of(out);
  retain_saved(inputs, outputs);
  return out;
}

void CustomNode::retain_saved(const Variables& inputs, const Variables& outputs) {
  const auto position = [](const Variables& list, const Variable& v) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (v && list[i].is_same(v)) return int(i);
    return -1;
  };
  for (Variable& v : context_.saved_) {
    const int of_input = position(inputs, v), of_output = position(outputs, v);
    if (of_input >= 0) {
      places_.push_back({Place::Kind::input, of_input});
      retain_inputs({of_input});
    } else if (of_output >= 0) {
      places_.push_back({Place::Kind::output, of_output});
      retain_outputs({of_output});
    } else {
      places_.push_back({Place::Kind::value, -1});
      continue;
    }
    v = Variable();
  }
}

Context CustomNode::context_for(const Targets& targets) {
  Context context = context_;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto [kind, index] = places_[i];
    if (kind == Place::Kind::input) context.saved_[i] = retained_input(index);
    else if (kind == Place::Kind::output) context.saved_[i] = retained_output(index);
  }
  context.wanted_.assign(num_inputs(), false);
  for (const int target : targets) context.wanted_[std::size_t(target)] = true;
  return context;
}

Variables CustomNode::backward(const Targets& targets, const Variables& gy) {
  Context context = context_for(targets);
  const Variables all = call_backward(context, with_zeros(gy, produced_));
  catena::check<catena::ValueError>(all.size() == num_inputs(), label(), "backward returned ", all.size(),
                                    " gradients for ", num_inputs(), " inputs");
  Variables gradients;
  for (const int target : targets) gradients.push_back(all[std::size_t(target)]);
  return gradients;
}

}  // namespace autograd::internal
