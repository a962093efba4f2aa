// The members of a layer that programs use in PyTorch, for the elements of containers. Internal to nn.
#pragma once

#include <utility>

#include <catena/nn/link.h>
#include <catena/nn/parameter_handle.h>

namespace nn::internal {

// The base of a class Of whose function layer() returns the link.
template <class Of> class CATENA_EXPORT LayerMembers {
 public:
  // Handles of the parameters W, gamma or weight and b, beta or bias of the link; null for those that it lacks.
  ParameterHandle weight, bias;

#define CATENA_MEMBER_OF_LAYER(member)                                             \
  template <class... A> decltype(auto) member(A&&... args) const {                 \
    return static_cast<const Of&>(*this).layer().member(std::forward<A>(args)...); \
  }
  CATENA_MEMBER_OF_LAYER(parameters)
  CATENA_MEMBER_OF_LAYER(named_parameters)
  CATENA_MEMBER_OF_LAYER(buffers)
  CATENA_MEMBER_OF_LAYER(named_buffers)
  CATENA_MEMBER_OF_LAYER(children)
  CATENA_MEMBER_OF_LAYER(named_children)
  CATENA_MEMBER_OF_LAYER(modules)
  CATENA_MEMBER_OF_LAYER(named_modules)
  CATENA_MEMBER_OF_LAYER(apply)
  CATENA_MEMBER_OF_LAYER(state_dict)
  CATENA_MEMBER_OF_LAYER(load_state_dict)
  CATENA_MEMBER_OF_LAYER(train)
  CATENA_MEMBER_OF_LAYER(eval)
  CATENA_MEMBER_OF_LAYER(training)
  CATENA_MEMBER_OF_LAYER(requires_grad_)
  CATENA_MEMBER_OF_LAYER(zero_grad)
  CATENA_MEMBER_OF_LAYER(to)
  CATENA_MEMBER_OF_LAYER(cpu)
  CATENA_MEMBER_OF_LAYER(cuda)
  CATENA_MEMBER_OF_LAYER(half)
  CATENA_MEMBER_OF_LAYER(bfloat16)
  CATENA_MEMBER_OF_LAYER(get_parameter)
  CATENA_MEMBER_OF_LAYER(get_buffer)
  CATENA_MEMBER_OF_LAYER(get_submodule)
  CATENA_MEMBER_OF_LAYER(register_forward_hook)
  CATENA_MEMBER_OF_LAYER(register_forward_pre_hook)
  CATENA_MEMBER_OF_LAYER(register_full_backward_hook)
  CATENA_MEMBER_OF_LAYER(register_full_backward_pre_hook)
  CATENA_MEMBER_OF_LAYER(register_backward_hook)
  // Chainer's.
  CATENA_MEMBER_OF_LAYER(name)
  CATENA_MEMBER_OF_LAYER(params)
  CATENA_MEMBER_OF_LAYER(namedparams)
  CATENA_MEMBER_OF_LAYER(param)
  CATENA_MEMBER_OF_LAYER(links)
  CATENA_MEMBER_OF_LAYER(namedlinks)
  CATENA_MEMBER_OF_LAYER(disable_update)
  CATENA_MEMBER_OF_LAYER(enable_update)
  CATENA_MEMBER_OF_LAYER(update_enabled)
  CATENA_MEMBER_OF_LAYER(to_device)
  CATENA_MEMBER_OF_LAYER(to_cpu)
  CATENA_MEMBER_OF_LAYER(to_gpu)
  CATENA_MEMBER_OF_LAYER(to_dtype)
  CATENA_MEMBER_OF_LAYER(device)
  CATENA_MEMBER_OF_LAYER(cleargrads)
  CATENA_MEMBER_OF_LAYER(count_params)
  CATENA_MEMBER_OF_LAYER(add_hook)
  CATENA_MEMBER_OF_LAYER(delete_hook)
  CATENA_MEMBER_OF_LAYER(is_training)
#undef CATENA_MEMBER_OF_LAYER
  // PyTorch's name of a call.
  template <class... V> Variable forward(const V&... args) const { return static_cast<const Of&>(*this)(args...); }
  LoadReport load_state_dict(const StateDict& state, const LoadOptions& options) const;

 protected:
  // Lets the handles refer to the parameters of a link; of a null pointer, to none.
  void refer_to(Link* link);
  void refer_as(const LayerMembers& o) noexcept;
};

}  // namespace nn::internal
