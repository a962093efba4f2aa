// Arrays as kernels receive them: address, size, shape and strides as one value that is passed to a RawKernel.
//
//   const nd::RawKernel add(std::string(nd::carray_code) + R"(
//     extern "C" __global__ void add(CArray<float, 2> x, CArray<float, 2> y, CIndexer<2> at) {
//       at.set(blockIdx.x * (long long)blockDim.x + threadIdx.x);
//       if (at.linear < at.size()) y[at.get()] += x[at.get()];
//     })", "add");
//   add.linear_launch(x.size(), {x.cstruct<float, 2>(), y.cstruct<float, 2>(), nd::CIndexer<2>(x.shape())});
//
// The arrays must exist until the kernel has run, and must be on the device that runs it.
#pragma once

#include <cstdint>

#include <catena/ndarray/core/array.h>

namespace nd {

// Strides are in bytes. For rank 0, `shape` and `strides` have one unused element.
template <class E, int N> struct CArray {
  E* data;
  std::int64_t size;
  std::int64_t shape[std::size_t(N > 0 ? N : 1)];
  std::int64_t strides[std::size_t(N > 0 ? N : 1)];
};

// Positions in C order of an array of rank N.
template <int N> struct CIndexer {
  // ValueError if the rank of `shape` is not N.
  explicit CIndexer(const Shape& lengths) : size(catena::size_of(lengths)) {
    catena::check<ValueError>(lengths.size() == N, "CIndexer", "the shape ", lengths, " has another rank than ", N);
    for (int axis = 0; axis < N; ++axis) shape[axis] = lengths[axis];
  }
  std::int64_t size;
  std::int64_t linear = 0;
  std::int64_t shape[std::size_t(N > 0 ? N : 1)] = {};
  std::int64_t position[std::size_t(N > 0 ? N : 1)] = {};
};

// Defines both classes in the text of a kernel. Members there: x.size(), x.shape()[axis], x.strides()[axis], x[k] with
// a position in C order, x[position] with an array of one position per axis. at.set(k) sets an indexer to a position in
// C order; at.get() returns its position along every axis.
inline constexpr const char* carray_code = R"(
template <class E, int N> class CArray {
 public:
  __device__ long long size() const { return size_; }
  __device__ const long long* shape() const { return shape_; }
  __device__ const long long* strides() const { return strides_; }
  __device__ E& operator[](const long long* position) const {
    char* p = (char*)data_;
    for (int axis = 0; axis < N; ++axis) p += position[axis] * strides_[axis];
    return *(E*)p;
  }
  __device__ E& operator[](long long k) const {
    char* p = (char*)data_;
    for (int axis = N - 1; axis >= 0; --axis) {
      p += k % shape_[axis] * strides_[axis];
      k /= shape_[axis];
    }
    return *(E*)p;
  }
 private:
  E* data_;
  long long size_;
  long long shape_[N > 0 ? N : 1];
  long long strides_[N > 0 ? N : 1];
};
template <int N> class CIndexer {
 public:
  __device__ long long size() const { return size_; }
  __device__ void set(long long k) {
    linear = k;
    for (int axis = N - 1; axis >= 0; --axis) {
      position_[axis] = k % shape_[axis];
      k /= shape_[axis];
    }
  }
  __device__ const long long* get() const { return position_; }
 private:
  long long size_;
 public:
  long long linear;
 private:
  long long shape_[N > 0 ? N : 1];
  long long position_[N > 0 ? N : 1];
};
)";

template <class E, int N> CArray<E, N> Array::cstruct() const {
  catena::check<ValueError>(ndim() == N, "cstruct", "the array has rank ", ndim(), ", the struct is for rank ", N);
  CArray<E, N> c{data<E>(), size(), {}, {}};
  for (int axis = 0; axis < N; ++axis) {
    c.shape[axis] = shape()[axis];
    c.strides[axis] = strides()[axis];
  }
  return c;
}

}  // namespace nd
