#include <catena/ndarray/cpu/lapack.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {

namespace {

// The operands of each matrix of a stack. BLAS rounds differently for matrices with another alignment, so if the
// matrices of a stack are not all aligned, they are copied to aligned memory and back.
class Operands {
 public:
  explicit Operands(const Factorize& call) : call_(call) {
    for (int o = 0; o < 4; ++o) {
      bytes_[at(o)] = stride_of_operand(call, o);
      copied_[at(o)] = call.count > 1 && bytes_[at(o)] % 64 != 0;
    }
  }
  std::size_t copies() const {
    std::size_t bytes = 0;
    for (int o = 0; o < 4; ++o) bytes += size_of_copy(o);
    return bytes;
  }
  // Calls run(operands) for matrix i; `memory` must hold the copies.
  template <class F> void with(std::int64_t i, std::byte* memory, F&& run) const {
    std::array<std::byte*, 4> operands = call_.operands;
    for (int o = 0; o < 4; memory += size_of_copy(o), ++o) {
      if (bytes_[at(o)] == 0) continue;
      operands[at(o)] += i * bytes_[at(o)];
      if (!copied_[at(o)]) continue;
      std::memcpy(memory, operands[at(o)], std::size_t(bytes_[at(o)]));
      operands[at(o)] = memory;
    }
    run(operands);
    for (int o = 0; o < 4; ++o)
      if (copied_[at(o)] && !is_only_read(call_, o))
        std::memcpy(call_.operands[at(o)] + i * bytes_[at(o)], operands[at(o)], std::size_t(bytes_[at(o)]));
  }

 private:
  static constexpr std::size_t at(int o) { return static_cast<std::size_t>(o); }
  std::size_t size_of_copy(int o) const { return copied_[at(o)] ? round_up_64(std::size_t(bytes_[at(o)])) : 0; }

  const Factorize& call_;
  std::array<std::int64_t, 4> bytes_ = {};
  std::array<bool, 4> copied_ = {};
};

}  // namespace

// Distributes the matrices over threads, each of which calls LAPACK with one thread: the result of a matrix depends
// neither on the number of threads nor on the other matrices.
void run(const Factorize& call) {
  const Lapack* const functions = lapack();
  catena::check<catena::RuntimeError>(functions != nullptr, call.name,
                                      "Catena was built without LAPACK: install OpenBLAS (on Debian and Ubuntu: "
                                      "apt-get install libopenblas-openmp-dev) and build it again");
  // The sizes of the work space for singular values and eigenvalues must also fit LAPACK's integers.
  const double m = static_cast<double>(call.rows), n = static_cast<double>(call.columns);
  const bool iterates =
      call.kind == Factorization::svd || call.kind == Factorization::eigh || call.kind == Factorization::eig;
  const double largest = std::max({m, n, static_cast<double>(call.other), iterates ? n * (6 * n + 2 * m + 100) : 0.0});
  catena::check<catena::ValueError>(largest <= INT_MAX, call.name, "a matrix of ", call.rows, " x ", call.columns,
                                    " is beyond LAPACK's integers");
  // A thread takes a group of small matrices that is worth waking it.
  constexpr double kLeast = 3e4;
  const double work = m * n * std::max(std::min(m, n), static_cast<double>(call.other));
  const auto grain = static_cast<std::int64_t>(kLeast / std::max(work, 1.0)) + 1;
  if (is_small_solve(call)) {
    catena::parallel_for(call.count, grain, [&](std::int64_t begin, std::int64_t end) {
      const Workspace memory(work_of_small_solve(call));
      for (std::int64_t i = begin; i < end; ++i)
        call.status[std::size_t(i)] = small_solve(call, call.operands[0] + i * stride_of_operand(call, 0),
                                                  call.operands[1] + i * stride_of_operand(call, 1), memory.data());
    });
    return;
  }
  const LapackWork work_of_one = functions->work_of(call);
  const Operands matrices(call);
  const std::size_t copies = matrices.copies();
  catena::parallel_for(call.count, grain, [&](std::int64_t begin, std::int64_t end) {
    const catena::SingleThreadedLibraries single;
    const Workspace memory(work_of_one.bytes + copies);
    for (std::int64_t i = begin; i < end; ++i)
      matrices.with(i, memory.data(), [&](const std::array<std::byte*, 4>& operands) {
        call.status[std::size_t(i)] = functions->factorize(call, operands, work_of_one, memory.data() + copies);
      });
  });
}

}  // namespace nd::cpu
