// DLPack for variables: the same memory, without a copy.
//
//   Variable x = autograd::from_dlpack(exported);
//   DLManagedTensor* t = autograd::to_dlpack(x).release<DLManagedTensor>();
#pragma once

#include <utility>

#include <catena/autograd/ndarray_backend/torch_creation.h>
#include <catena/ndarray/routines/dlpack.h>

namespace autograd {

// The types, the ownership and the errors are those of nd::from_dlpack and nd::to_dlpack.
template <class T> Variable from_dlpack(T* exported) { return from_numpy(nd::from_dlpack(exported)); }
inline Variable from_dlpack(nd::DlpackTensor exported) { return from_numpy(nd::from_dlpack(std::move(exported))); }
inline nd::DlpackTensor to_dlpack(const Variable& x) { return nd::to_dlpack(nd::Array(x.data())); }
namespace utils::dlpack {
using autograd::from_dlpack, autograd::to_dlpack;
}

}  // namespace autograd
