// The mean of the images of a data set.
#pragma once

#include <cstdio>

#include <catena/catena.h>

inline nd::Array mean_image(const training::DatasetMixin& dataset) {
  std::printf("compute mean image\n");
  nd::Array sum;
  const auto n = dataset.size();
  for (std::int64_t i = 0; i < n; ++i) {
    // float64, because the sum of a million images has more digits than float32.
    const nd::Array image = dataset.get_example(i).values[0].astype(nd::float64);
    sum = i == 0 ? image : sum + image;
    std::fprintf(stderr, "%ld / %ld\r", long(i), long(n));
  }
  std::fprintf(stderr, "\n");
  return sum / n;
}
