#include <catena/ndarray/routines/fft_plans.h>

#include <cstdio>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/ndarray/device/fft_plans.h>

namespace nd::fft {
namespace {

void check_limit(std::string_view op, std::int64_t limit) {
  catena::check<ValueError>(limit >= -1, op, "the limit is ", limit, ", must be at least 0, or -1 for no limit");
}

std::string of_most(std::int64_t limit) {
  return limit == internal::FftPlans::kNoLimit ? std::string("of any number") : catena::concat("of at most ", limit);
}

}  // namespace

std::int64_t PlanCache::get_size() const { return internal::fft_plans(device_).size(); }
void PlanCache::set_size(std::int64_t size) const {
  check_limit("set_size", size);
  internal::fft_plans(device_).set_size(size);
}
std::int64_t PlanCache::get_memsize() const { return internal::fft_plans(device_).bytes(); }
void PlanCache::set_memsize(std::int64_t bytes) const {
  check_limit("set_memsize", bytes);
  internal::fft_plans(device_).set_bytes(bytes);
}
std::int64_t PlanCache::get_curr_size() const { return internal::fft_plans(device_).count(); }
std::int64_t PlanCache::get_curr_memsize() const { return internal::fft_plans(device_).bytes_in_use(); }
void PlanCache::clear() const { internal::fft_plans(device_).clear(); }

std::string PlanCache::info() const {
  return catena::concat("plans of Fourier transforms on ", device_, ": ", get_curr_size(), " ", of_most(get_size()),
                        ", bytes: ", get_curr_memsize(), " ", of_most(get_memsize()), "\n",
                        internal::fft_plans(device_).lines());
}

void PlanCache::show_info() const {
  std::fputs(info().c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace nd::fft
