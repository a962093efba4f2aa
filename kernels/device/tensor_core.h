// Instructions of a warp on tiles of 16-bit floats: products of matrices on tensor cores, loads of tiles from shared
// memory, and copies from global to shared memory that do not wait (compute capability 8.0 and later). All lanes of the
// warp take part. Compiled for the host, shuffles do the same.
//
// A lane holds parts of matrices (PTX ISA, "Matrix Fragments for mma.m16n8k16"). With g = lane / 4 and t = lane % 4:
//   a (16 x 16): a[0] row g, a[1] row g + 8, of columns 2 t and 2 t + 1; a[2] and a[3] the same of columns 2 t + 8 and
//                2 t + 9
//   b (16 x 8): b[0] rows 2 t and 2 t + 1, b[1] rows 2 t + 8 and 2 t + 9, of column g
//   d (16 x 8): d[0] and d[1] columns 2 t and 2 t + 1 of row g, d[2] and d[3] those of row g + 8
// The lower half of a word is the element with the lower index.
#pragma once

#include <catena/kernels/device/group.h>
#include <catena/kernels/device/half_pair.h>

namespace catena::device {

#if CATENA_DEVICE
using SharedAddress = uint32_t;
ND_FN SharedAddress shared_address(const void* p) {
  uint32_t at;
  asm("{ .reg .b64 s; cvta.to.shared.u64 s, %1; cvt.u32.u64 %0, s; }" : "=r"(at) : "l"(p));
  return at;
}
#else
using SharedAddress = uint64_t;
ND_FN SharedAddress shared_address(const void* p) { return reinterpret_cast<uint64_t>(p); }
// The value of another lane.
template <class V> ND_FN V of_lane(V v, int lane) { return __shfl_sync(0xffffffffu, v, lane); }
#endif

// ---- numbers ------------------------------------------------------------------------------------
// 2 to the power of x with an error of 2 units in the last place; subnormal results are 0.
ND_FN float approximate_exp2(float x) {
#if CATENA_DEVICE
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return ::exp2f(x);
#endif
}

// ---- products -----------------------------------------------------------------------------------
// d += a b. Products are exact; the rounding of their sum is that of the device.
template <class T>
ND_FN void multiply_tiles(float& d0, float& d1, float& d2, float& d3, const uint32_t (&a)[4], uint32_t b0,
                          uint32_t b1) {
#if CATENA_DEVICE
  if constexpr (is_same<T, float16>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  const int lane = int(threadIdx.x) % kWarp, row = lane / 4, column = lane % 4 * 2;
  const auto element = [](uint64_t words, int k) { return float(T::from_bits(uint16_t(words >> 16 * k))); };
  const uint64_t left = a[0] | uint64_t(a[2]) << 32, left_below = a[1] | uint64_t(a[3]) << 32,
                 right = b0 | uint64_t(b1) << 32;
  double sum[2][2] = {};
  for (int t = 0; t < 4; ++t) {
    const uint64_t x[2] = {of_lane(left, row * 4 + t), of_lane(left_below, row * 4 + t)},
                   y[2] = {of_lane(right, column * 4 + t), of_lane(right, (column + 1) * 4 + t)};
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) sum[i][j] += double(element(x[i], k)) * double(element(y[j], k));
  }
  d0 = float(d0 + sum[0][0]), d1 = float(d1 + sum[0][1]), d2 = float(d2 + sum[1][0]), d3 = float(d3 + sum[1][1]);
#endif
}

// ---- tiles in shared memory ---------------------------------------------------------------------
// Loads four matrices of 8 x 8 elements; lane 8 m + r passes the address of row r of matrix m, aligned to 16 bytes.
// Each lane gets of every matrix the elements 2 t and 2 t + 1 of row g, or of column g if Transposed. Offset bytes are
// added to the addresses.
template <bool Transposed, int Offset = 0> ND_FN void load_matrices(uint32_t (&to)[4], SharedAddress row) {
#if CATENA_DEVICE
  if constexpr (Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4 + %5];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row), "n"(Offset)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4 + %5];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row), "n"(Offset)
                 : "memory");
#else
  const int lane = int(threadIdx.x) % kWarp, g = lane / 4, t = lane % 4;
  const auto half_of = [](uint64_t from, int k) { return uint32_t(reinterpret_cast<const uint16_t*>(from)[k]); };
  for (int m = 0; m < 4; ++m) {
    if constexpr (Transposed) {
      const uint64_t first = of_lane(row, 8 * m + 2 * t) + Offset, second = of_lane(row, 8 * m + 2 * t + 1) + Offset;
      to[m] = half_of(first, g) | half_of(second, g) << 16;
    } else {
      const uint64_t first = of_lane(row, 8 * m + g) + Offset;
      to[m] = half_of(first, 2 * t) | half_of(first, 2 * t + 1) << 16;
    }
  }
#endif
}

// Begins to copy 8 or 16 bytes from global to shared memory, or to set them to 0. Both addresses are multiples of
// Bytes.
template <int Bytes> ND_FN void copy_later(SharedAddress to, const void* from, bool exists) {
#if CATENA_DEVICE
  if constexpr (Bytes == 16)
    asm volatile("{ .reg .b64 g; cvta.to.global.u64 g, %1; cp.async.cg.shared.global [%0], [g], 16, %2; }"
                 :
                 : "r"(to), "l"(from), "r"(exists ? 16 : 0)
                 : "memory");
  else
    asm volatile("{ .reg .b64 g; cvta.to.global.u64 g, %1; cp.async.ca.shared.global [%0], [g], 8, %2; }"
                 :
                 : "r"(to), "l"(from), "r"(exists ? 8 : 0)
                 : "memory");
#else
  if (exists) memcpy(reinterpret_cast<void*>(to), from, Bytes);
  else memset(reinterpret_cast<void*>(to), 0, Bytes);
#endif
}
// Waits until the copies of this thread are made. Other threads see them after a barrier.
ND_FN void wait_for_copies() {
#if CATENA_DEVICE
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

}  // namespace catena::device
