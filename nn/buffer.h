// Buffer: an array of a model that is saved with it but not trained, as in PyTorch.
//
//   struct Scale : nn::Module {
//     nn::Parameter gamma{autograd::arrays::full({3}, 2.0)};
//     nn::Buffer mean{autograd::arrays::ones({3})};
//     NN_MEMBERS(gamma, mean)
//     Variable forward(const Variable& x) { return (x - mean) * gamma; }
//   };
#pragma once

#include <concepts>
#include <type_traits>

#include <catena/autograd/operators.h>
#include <catena/nn/link.h>

namespace nn {
class Buffer;
}

// A buffer is an argument of functions that take arrays or constants.
template <> struct autograd::foreign_array<nn::Buffer> {
  static Array from(const nn::Buffer& buffer);
  static nn::Buffer to(const Array& array);
};

namespace nn {

// A Persistent that is an operand of functions and can be assigned from their results, whose graph it does not keep.
class Buffer : public Persistent {
 public:
  Buffer() = default;
  Buffer(const Array& a) : Persistent(a) {}
  template <autograd::PlainVariable V> Buffer(const V& v) : Persistent(v.data()) {}
  template <autograd::ForeignArray T>
  requires(!std::same_as<T, Buffer>) Buffer(const T& a) : Persistent(Array(a)) {}
  const Array& data() const noexcept { return array(); }
  const Shape& shape() const { return array().shape(); }
};

}  // namespace nn

inline autograd::Array autograd::foreign_array<nn::Buffer>::from(const nn::Buffer& buffer) { return buffer.array(); }
inline nn::Buffer autograd::foreign_array<nn::Buffer>::to(const Array& array) { return nn::Buffer(array); }

namespace nn {

#define CATENA_BUFFER_OPERATOR(op)                                                                         \
  template <std::same_as<Buffer> B, class N>                                                               \
  requires(std::is_arithmetic_v<N>) Variable operator op(const B& a, N b) { return Variable(a) op b; }     \
  template <class N, std::same_as<Buffer> B>                                                               \
  requires(std::is_arithmetic_v<N>) Variable operator op(N a, const B& b) { return a op Variable(b); }     \
  template <std::same_as<Buffer> A, std::same_as<Buffer> B> Variable operator op(const A& a, const B& b) { \
    return Variable(a) op Variable(b);                                                                     \
  }
// Arithmetic with numbers and between buffers; that with variables is the variables'. These are templates, so that no
// array is converted to a buffer for them.
CATENA_BUFFER_OPERATOR(+)
CATENA_BUFFER_OPERATOR(-)
CATENA_BUFFER_OPERATOR(*)
CATENA_BUFFER_OPERATOR(/)
#undef CATENA_BUFFER_OPERATOR

}  // namespace nn
