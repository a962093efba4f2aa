// LAPACK behind two functions on one matrix. It is part of OpenBLAS, so only that library's module (modules/lapack.cpp)
// calls it. lapack.cpp calls the two functions for all the matrices of a call.
#pragma once

#include <array>
#include <cstddef>

#include <catena/kernels/registry/factorize.h>

namespace nd::cpu {

using catena::bound::Factorization;
using catena::bound::Factorize;

// The work memory for one matrix of a call: elements of the dtype, real numbers of its precision, and integers, in this
// order, each aligned to 64 bytes.
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
// Solutions of small systems, for which LAPACK is slow: float32 and float64 only.
CATENA_EXPORT bool is_small_solve(const Factorize& call);
std::size_t work_of_small_solve(const Factorize& call);  // bytes, aligned to 64
int small_solve(const Factorize& call, std::byte* a, std::byte* b, std::byte* work);

// Returns null if Catena was built without OpenBLAS. Loads its module.
CATENA_EXPORT const Lapack* lapack();

}  // namespace nd::cpu
