#include <catena/autograd/ndarray_backend/list_config.h>

#include <catena/autograd/config.h>
#include <catena/autograd/ndarray_backend/cudnn/extension.h>
#include <catena/autograd/ndarray_backend/cudnn/library.h>
#include <catena/kernels/base/error.h>

namespace autograd::internal {
namespace {

std::string cudnn_library() {
  if (cudnn_is_disabled()) return "not looked for: CHAINER_CUDNN is 0";
  const cudnn::Library& library = cudnn::library();
  return catena::concat(library.version, ", ", library.path);
}
std::string cudnn_use() { return cudnn_is_disabled() ? "disabled" : "used where it is found"; }
std::string type_checks() { return config().type_check ? "on" : "off"; }
std::string debug_mode() { return config().debug ? "on" : "off"; }

}  // namespace

void list_config(catena::internal::ConfigList& list) {
  list.add("libraries", "cuDNN", cudnn_library);
  list.add_variable("CHAINER_CUDNN", cudnn_use);
  list.add_variable("CUDNN_PATH");
  list.add_variable("CHAINER_TYPE_CHECK", type_checks);
  list.add_variable("CHAINER_DEBUG", debug_mode);
}

}  // namespace autograd::internal
