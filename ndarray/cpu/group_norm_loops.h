// The loops over one group of channels. Internal to group_norm.cpp.
#pragma once

#include <cstdint>

namespace nd::cpu {

// The fewest positions of a channel: at least a vector.
inline constexpr std::int64_t kFewestPositions = 16;

// For T float and double: C channels at P positions each, one after the other.
template <class T> struct ChannelGroup {
  const T* x;
  const T* gamma;  // one per channel
  std::int64_t channels, positions;
};
// mean = origin + center, scale = 1 / sqrt(var + eps)
template <class T> struct GroupStatistics { T origin, center, scale; };

template <class T> GroupStatistics<T> group_statistics(const ChannelGroup<T>& g, T eps);
template <class T>
void write_group(const ChannelGroup<T>& g, const T* beta, const GroupStatistics<T>& statistics, T* y);
// Writes, per channel, the sums of gy xhat and of gy over the positions.
template <class T>
void group_sums(const ChannelGroup<T>& g, const T* gy, const GroupStatistics<T>& statistics, T* ggamma, T* gbeta);
// Writes gx from these sums.
template <class T>
void write_group_gradient(const ChannelGroup<T>& g, const T* gy, const GroupStatistics<T>& statistics, const T* ggamma,
                          const T* gbeta, T* gx);

}  // namespace nd::cpu
