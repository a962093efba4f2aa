// Random numbers for generated data. Internal to this folder.
#pragma once

#include <cstdint>

namespace training::datasets::internal {

// The sequence of random numbers for one example, at most 65536.
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t index) : seed_(seed), offset_(index << 16) {}
  double uniform(double low, double high);

 private:
  std::uint64_t seed_, offset_;
  std::int64_t next_ = 0;
};

}  // namespace training::datasets::internal
