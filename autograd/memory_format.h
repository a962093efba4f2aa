// PyTorch's memory formats and layouts. Functions accept them without effect: new arrays have their elements in C
// order, and convolutions choose the order in which they compute.
#pragma once

namespace autograd {

// The orders of the axes in memory that torch.memory_format names.
enum class MemoryFormat : unsigned char { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
// The layout of dense arrays is the only one.
enum class Layout : unsigned char { Strided };
// PyTorch's and libtorch's names of the types and of their values.
using memory_format = MemoryFormat;
using layout = Layout;
inline constexpr MemoryFormat contiguous_format = MemoryFormat::Contiguous, preserve_format = MemoryFormat::Preserve,
                              channels_last = MemoryFormat::ChannelsLast,
                              channels_last_3d = MemoryFormat::ChannelsLast3d;
inline constexpr Layout strided = Layout::Strided, kStrided = strided;

}  // namespace autograd
