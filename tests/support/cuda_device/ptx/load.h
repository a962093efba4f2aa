// Modules whose image is PTX.
#pragma once

#include <memory>

#include <catena/tests/support/cuda_device/module.h>

namespace cuda_device::ptx {

bool is_ptx(const char* image);
// Returns null if the text cannot be loaded, after reporting the error with its line.
std::unique_ptr<Module> load(const char* image);

// Runs a grid of a function of such a module. An error is reported and makes the current operation fail.
void run_grid(const Function& function, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes,
              void* const* parameters);

}  // namespace cuda_device::ptx
