// Headers and names for the examples of the reference, and the list of the pages with examples.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/ndarray_backend/sparse.h>
#include <catena/catena.h>
#include <catena/ndarray/routines/benchmark.h>
#include <catena/ndarray/routines/cosine_transforms.h>
#include <catena/ndarray/routines/dlpack.h>
#include <catena/ndarray/routines/fft_plans.h>
#include <catena/ndarray/sparse/linalg.h>
#include <catena/ndarray/sparse/sparse.h>
#include <catena/ndarray/testing/assertions.h>
#include <catena/ndarray/testing/backends.h>
#include <catena/ndarray/testing/conditions.h>
#include <catena/ndarray/testing/data.h>
#include <catena/ndarray/testing/parameters.h>
#include <catena/nn/onnx/export.h>
#include <catena/nn/onnx/tensor.h>
#include <catena/training/communicators.h>
#include <catena/training/multi_node.h>

namespace examples {

struct Example {
  const char* title;
  void (*run)();
};

// A page registers itself.
struct Page {
  Page(const char* name, std::vector<Example> examples) { all().emplace(name, std::move(examples)); }
  static std::map<std::string, std::vector<Example>>& all() {
    static std::map<std::string, std::vector<Example>> pages;
    return pages;
  }
};

}  // namespace examples
