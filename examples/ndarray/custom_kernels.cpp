// User-defined kernels, given as text: elementwise, reductions, CUDA source. All run on the GPU and on the CPU.
// prints: norms of rows: . 5[.]477226 +15[.]9687195
// prints: greatest of rows: .9 8. at .1 0.
// prints: smoothed: .0[.] 1[.] 1[.] 1[.] 2[.] 4[.].
// prints: the same array: true
#include <cmath>
#include <iostream>

#include <catena/ndarray/ndarray.h>

int main() {
  nd::random::seed(0);
  nd::Array x = nd::random::standard_normal({1 << 20}), y = nd::random::standard_normal({1 << 20});

  // One element in, one element out; T is the dtype of the arrays.
  auto squared_diff = nd::ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_diff");
  // The function of an element, the combination of two values, and the function of the result.
  auto l2norm = nd::ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm");
  std::cout << "norm of the squared differences: " << l2norm(squared_diff(x, y)).item<double>() << "\n";
  std::cout << "norms of rows: " << l2norm(nd::arange(10, {.dtype = nd::float32}).reshape(2, 5), {.axis = 1}) << "\n";

  // Several outputs; the accumulator is a struct: the greatest element of each row and its position.
  auto argmax = nd::ReductionKernel("T x", "T value, int64 index", "Best(x, _j / _out_ind.size())", "better(a, b)",
                                    "value = a.value; index = a.index", std::nullopt, "argmax_with_value",
                                    {.reduce_type = "Best", .preamble = R"(
struct Best {
  T value;
  long long index;
  __device__ Best() : value(0), index(-1) {}
  __device__ Best(T v, long long k) : value(v), index(k) {}
};
__device__ Best better(Best a, Best b) {
  if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
  return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
})"});
  auto [value, index] = argmax(nd::array({{3, 9, 4}, {8, 8, -1}}), {.axis = 1});
  std::cout << "greatest of rows: " << value << " at " << index << "\n";

  // A raw array is indexed by the kernel, here for a sum of neighbours.
  auto smooth =
      nd::ElementwiseKernel("raw T x", "T y", "y = (x[max(i - 1, 0LL)] + x[i] + x[min(i + 1, n - 1)]) / 3", "smooth");
  std::cout << "smoothed: " << smooth({nd::array({0., 0., 3., 0., 0., 6.})}, {.size = 6}) << "\n";

  // CUDA source: every thread counts one sample.
  nd::RawKernel histogram(R"(
extern "C" __global__ void histogram(const double* samples, int* bins, long long n) {
  const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  const int bin = int(floor(samples[k])) + 3;
  if (bin >= 0 && bin < 6) atomicAdd(&bins[bin], 1);
})",
                          "histogram");
  nd::Array bins = nd::zeros({6}, nd::int32);
  histogram((x.size() + 255) / 256, 256, {x, bins, x.size()});
  std::cout << "samples between -3 and 3: " << bins << "\n";

  // Caches the result of a function for each value of its arguments.
  auto window = nd::memoize([](int n) { return nd::sin(nd::arange(n) * (M_PI / n)); });
  std::cout << "the same array: " << std::boolalpha << (window(5).get() == window(5).get()) << "\n";
}
