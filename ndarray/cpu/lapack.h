// LAPACK behind two functions on one matrix. OpenBLAS brings it, so its functions are in that library's module
// (modules/lapack.cpp, the only file that calls them). lapack.cpp runs them on all the matrices of a call.
#pragma once

#include <array>
#include <cstddef>

#include <catena/ndarray/device/factorize.h>

namespace nd::cpu {

// The memory that one matrix of a call needs besides its operands: elements of the dtype, real numbers of its
// precision, and integers, in this order, each from an address that is a multiple of 64 on.
struct LapackWork {
  int elements = 0, reals = 0, integers = 0;
  std::size_t bytes = 0;
};

struct Lapack {
  LapackWork (*work_of)(const Factorize& call);
  // The factorization of one matrix with the given operands; `memory` is aligned to 64 bytes. Returns the status.
  int (*factorize)(const Factorize& call, const std::array<std::byte*, 4>& operands, const LapackWork& work,
                   std::byte* memory);
};
// Solutions for a few unknowns, for which LAPACK takes several times as long: float32 and float64 only.
CATENA_EXPORT bool is_small_solve(const Factorize& call);
std::size_t work_of_small_solve(const Factorize& call);  // bytes, aligned to 64
int small_solve(const Factorize& call, std::byte* a, std::byte* b, std::byte* work);

// Null if Catena was built without OpenBLAS. Loads its module.
CATENA_EXPORT const Lapack* lapack();

}  // namespace nd::cpu
