// The bound calls on the CPU, one function for each kind; CpuBackend::execute chooses among them. The work is complete
// when a function returns. Internal to ndarray/cpu.
#pragma once

#include <catena/kernels/registry/call.h>

namespace nd::cpu {

void run(const catena::bound::Elementwise& call);
void run(const catena::bound::Reduce& call);
void run(const catena::bound::RowWise& call);
void run(const catena::bound::RowWiseAndSums& call);
void run(const catena::bound::Scan& call);
void run(const catena::call::MultiTensor& call);
void run(const catena::bound::Gather& call);
void run(const catena::bound::Scatter& call);
void run(const catena::bound::CheckIndices& call);
void run(const catena::bound::Sort& call);
void run(const catena::bound::Join& call);
void run(const catena::bound::CountPieces& call);
void run(const catena::bound::Nonzero& call);
void run(const catena::bound::Matmul& call);
void run(const catena::bound::Random& call);
void run(const catena::bound::Factorize& call);
void run(const catena::bound::Fft& call);
void run(const catena::bound::Compress& call);

}  // namespace nd::cpu
