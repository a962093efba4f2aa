#include <catena/training/datasets/draw.h>

#include <catena/kernels/random.h>

namespace training::datasets::internal {

double Draw::uniform(double low, double high) {
  return low + (high - low) * catena::uniform_from_bits(catena::random_bits64(seed_, offset_, next_++));
}

}  // namespace training::datasets::internal
