// Discrete cosine and sine transforms, as in scipy.fft. (Not in ndarray/ndarray.h.)
//
//   nd::fft::dct(a)                             DCT-II along the last axis
//   nd::fft::idct(nd::fft::dct(a))              a
//   nd::fft::dct(a, {.type = 3, .norm = "ortho"})
//   nd::fft::dctn(image, {.norm = "ortho"})     along all axes
//
// With N numbers x[j], the types are
//   DCT-I    x[0] + (-1)^k x[N-1] + 2 sum_{0<j<N-1} x[j] cos(pi k j / (N - 1)), for N > 1
//   DCT-II   2 sum_j x[j] cos(pi k (2 j + 1) / 2 N)
//   DCT-III  x[0] + 2 sum_{j>0} x[j] cos(pi (2 k + 1) j / 2 N)
//   DCT-IV   2 sum_j x[j] cos(pi (2 k + 1)(2 j + 1) / 4 N)
//   DST-I    2 sum_j x[j] sin(pi (k + 1)(j + 1) / (N + 1))
//   DST-II   2 sum_j x[j] sin(pi (k + 1)(2 j + 1) / 2 N)
//   DST-III  (-1)^k x[N-1] + 2 sum_{j<N-1} x[j] sin(pi (2 k + 1)(j + 1) / 2 N)
//   DST-IV   2 sum_j x[j] sin(pi (2 k + 1)(2 j + 1) / 4 N)
// and the inverse of type 2 is type 3 and vice versa, the others are their own inverses, divided by 2 N (DCT-I: 2 (N -
// 1), DST-I: 2 (N + 1)). `norm` is "backward" (the inverse is divided), "ortho" (both by the root) or "forward".
// Complex numbers: the real and the imaginary parts are transformed. Precision: as in fft.h. Any length takes O(n log
// n) operations.
//
// ValueError for another type or norm, a length below 1 (DCT-I: 2), an axis out of range.
//
// Thread safety: may be called from any thread.
#pragma once

#include <catena/ndarray/routines/fft.h>

namespace nd::fft {

struct DctOptions {
  [[no_unique_address]] Named named = Named();
  int type = 2;
  std::optional<std::int64_t> n = {};  // numbers that are transformed: the first ones, or zeros behind; default: all
  int axis = -1;
  std::string_view norm = "backward";
  // Numbers at the ends are multiplied by sqrt(2) or divided by it so that the matrix of a type with the norm "ortho"
  // is orthogonal; default: true for that norm.
  std::optional<bool> orthogonalize = {};
};
struct DctnOptions {
  [[no_unique_address]] Named named = Named();
  int type = 2;
  std::optional<Shape> s = {};  // lengths along `axes`; -1: that of the array. Default: those of the array
  Axes axes = {};               // default: the last s.size() axes, or all
  std::string_view norm = "backward";
  std::optional<bool> orthogonalize = {};
};

// Along one axis. The result has the shape of `a`, with the length n along the axis.
CATENA_EXPORT Array dct(const Array& a, const DctOptions& options = {});
CATENA_EXPORT Array idct(const Array& a, const DctOptions& options = {});
CATENA_EXPORT Array dst(const Array& a, const DctOptions& options = {});
CATENA_EXPORT Array idst(const Array& a, const DctOptions& options = {});

// Along several axes. ValueError if `s` and `axes` have different lengths.
CATENA_EXPORT Array dctn(const Array& a, const DctnOptions& options = {});
CATENA_EXPORT Array idctn(const Array& a, const DctnOptions& options = {});
CATENA_EXPORT Array dstn(const Array& a, const DctnOptions& options = {});
CATENA_EXPORT Array idstn(const Array& a, const DctnOptions& options = {});

// With the type by place, followed by further options.
#define ND_OF_TYPE(name, Options)                                            \
  inline Array name(const Array& a, int type, const Options& options = {}) { \
    Options all = options;                                                   \
    all.type = type;                                                         \
    return name(a, all);                                                     \
  }
ND_OF_TYPE(dct, DctOptions)
ND_OF_TYPE(idct, DctOptions)
ND_OF_TYPE(dst, DctOptions)
ND_OF_TYPE(idst, DctOptions)
ND_OF_TYPE(dctn, DctnOptions)
ND_OF_TYPE(idctn, DctnOptions)
ND_OF_TYPE(dstn, DctnOptions)
ND_OF_TYPE(idstn, DctnOptions)
#undef ND_OF_TYPE

}  // namespace nd::fft
