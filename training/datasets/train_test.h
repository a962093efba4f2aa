// The two parts of a data set.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include <catena/training/dataset.h>

namespace training::datasets {

// auto [train, test] = training::datasets::get_cifar10();
struct TrainTest {
  DatasetPtr train, test;
  std::string origin;  // "real (<folder>)" or "generated"
};
template <std::size_t I> DatasetPtr get(const TrainTest& parts) {
  if constexpr (I == 0) return parts.train;
  else return parts.test;
}

}  // namespace training::datasets

template <> struct std::tuple_size<training::datasets::TrainTest> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I> struct std::tuple_element<I, training::datasets::TrainTest> {
  using type = training::DatasetPtr;
};
