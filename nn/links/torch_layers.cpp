#include <catena/nn/links/torch_layers.h>

namespace nn {

AvgPool2d::AvgPool2d(const Pool2dArguments& a)
    : AvgPool2d(a.kernel_size, AvgPool2dOptions{.stride = a.stride, .padding = a.padding}) {
  catena::check<catena::ValueError>(!a.ceil_mode, "AvgPool2d", "ceil_mode is true, which only MaxPool2d has");
}

Variable MaxPool2d::operator()(const Variable& x) const {
  const Pair stride = options.stride.value_or(kernel), pad = options.padding;
  const Variable y =
      max_pooling_2d(x, kernel, MaxPoolingOptions{.stride = stride, .pad = pad, .cover_all = options.ceil_mode});
  // Chainer's windows of cover_all may begin beyond x and the padding before it.
  const auto kept = [](std::int64_t windows, std::int64_t length, int step, int padding) {
    return (windows - 1) * step >= length + padding ? windows - 1 : windows;
  };
  const std::int64_t rows = kept(y.shape(2), x.shape(2), stride.y, pad.y),
                     columns = kept(y.shape(3), x.shape(3), stride.x, pad.x);
  if (rows == y.shape(2) && columns == y.shape(3)) return y;
  return y(catena::ellipsis, catena::Slice(0, rows), catena::Slice(0, columns));
}

}  // namespace nn
