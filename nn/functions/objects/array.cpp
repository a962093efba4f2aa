#include <catena/nn/functions/objects/array.h>

#include <catena/autograd/functions/math.h>
#include <catena/nn/functions/objects/arguments.h>

namespace nn::functions {

namespace {

Variable transposed(const Variable& x, const Dims& axes) { return axes.empty() ? transpose(x) : transpose(x, axes); }

}  // namespace

Broadcast::Broadcast()
    : FunctionObjectOf("Broadcast", {1, many}, node, [](const Variables& x) { return broadcast(x); }) {}
BroadcastTo::BroadcastTo(const Shape& shape)
    : FunctionObjectOf("BroadcastTo", {1}, node, [=](const Variables& x) { return broadcast_to(x[0], shape); }) {}
Cast::Cast(Dtype typ) : FunctionObjectOf("Cast", {1}, node, [=](const Variables& x) { return cast(x[0], typ); }) {}
Concat::Concat(int axis)
    : FunctionObjectOf("Concat", {1, many}, node, [=](const Variables& x) { return concat(x, axis); }) {}
Copy::Copy(int out_device)
    : FunctionObjectOf("Copy", {1}, node, [=](const Variables& x) { return copy(x[0], out_device); }) {}
Depth2Space::Depth2Space(int r)
    : FunctionObjectOf("Depth2Space", {1}, composed, [=](const Variables& x) { return depth2space(x[0], r); }) {}
Dstack::Dstack() : FunctionObjectOf("Dstack", {1, many}, composed, [](const Variables& x) { return dstack(x); }) {}
ExpandDims::ExpandDims(int axis)
    : FunctionObjectOf("ExpandDims", {1}, node, [=](const Variables& x) { return expand_dims(x[0], axis); }) {}
GetItem::GetItem(const std::vector<IndexItem>& slices)
    : FunctionObjectOf("GetItem", {1}, node, [=](const Variables& x) { return get_item(x[0], slices); }) {}
Hstack::Hstack() : FunctionObjectOf("Hstack", {1, many}, composed, [](const Variables& x) { return hstack(x); }) {}
Im2Col::Im2Col(Pair ksize, Pair stride, Pair pad, bool cover_all, Pair dilate)
    : FunctionObjectOf("Im2Col", {1}, node,
                       [=](const Variables& x) { return im2col(x[0], ksize, stride, pad, cover_all, dilate); }) {}
Pad::Pad(const PadSides<std::int64_t>& pad_width, const std::string& mode, const PadOptions& keywords)
    : FunctionObjectOf("Pad", {1}, node, [=](const Variables& x) { return pad(x[0], pad_width, mode, keywords); }) {}
PadSequence::PadSequence(std::optional<std::int64_t> length, const Scalar& padding)
    : FunctionObjectOf("PadSequence", {1, many}, node,
                       [=](const Variables& x) { return pad_sequence(x, length, padding); }) {}
Permutate::Permutate(int axis, bool inv)
    : FunctionObjectOf("Permutate", {2}, node, [=](const Variables& x) { return permutate(x[0], x[1], axis, inv); }) {}
Reshape::Reshape(const Shape& shape)
    : FunctionObjectOf("Reshape", {1}, node, [=](const Variables& x) { return reshape(x[0], shape); }) {}
ResizeImages::ResizeImages(Pair output_shape)
    : FunctionObjectOf("ResizeImages", {1}, composed,
                       [=](const Variables& x) { return resize_images(x[0], output_shape); }) {}
Rollaxis::Rollaxis(int axis, int start)
    : FunctionObjectOf("Rollaxis", {1}, node, [=](const Variables& x) { return rollaxis(x[0], axis, start); }) {}
Space2Depth::Space2Depth(int r)
    : FunctionObjectOf("Space2Depth", {1}, composed, [=](const Variables& x) { return space2depth(x[0], r); }) {}
SpatialTransformerGrid::SpatialTransformerGrid(Pair output_shape, bool use_cudnn)
    : FunctionObjectOf("SpatialTransformerGrid", {1}, composed, [=](const Variables& x) {
        return spatial_transformer_grid(x[0], output_shape, {if_false(use_cudnn)});
      }) {}
SpatialTransformerSampler::SpatialTransformerSampler(bool use_cudnn)
    : FunctionObjectOf("SpatialTransformerSampler", {2}, composed, [=](const Variables& x) {
        return spatial_transformer_sampler(x[0], x[1], {if_false(use_cudnn)});
      }) {}
SplitAxis::SplitAxis(const Sections& indices_or_sections, int axis)
    : FunctionObjectOf("SplitAxis", {1}, node,
                       [=](const Variables& x) { return split_axis(x[0], indices_or_sections, axis); }) {}
Squeeze::Squeeze(const Axes& axis)
    : FunctionObjectOf("Squeeze", {1}, node, [=](const Variables& x) { return squeeze(x[0], axis); }) {}
Swapaxes::Swapaxes(int axis1, int axis2)
    : FunctionObjectOf("Swapaxes", {1}, node, [=](const Variables& x) { return swapaxes(x[0], axis1, axis2); }) {}
Tile::Tile(const Dims& reps)
    : FunctionObjectOf("Tile", {1}, composed, [=](const Variables& x) { return tile(x[0], reps); }) {}
Transpose::Transpose(const Dims& axes)
    : FunctionObjectOf("Transpose", {1}, node, [=](const Variables& x) { return transposed(x[0], axes); }) {}
TransposeSequence::TransposeSequence()
    : FunctionObjectOf("TransposeSequence", {0, many}, composed,
                       [](const Variables& x) { return transpose_sequence(x); }) {}
Vstack::Vstack() : FunctionObjectOf("Vstack", {1, many}, composed, [](const Variables& x) { return vstack(x); }) {}
Where::Where() : FunctionObjectOf("Where", {3}, node, [](const Variables& x) { return where(x[0], x[1], x[2]); }) {}

}  // namespace nn::functions
