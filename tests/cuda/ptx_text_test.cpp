// The PTX of kernels has neither variables in memory for constants of headers, which
// each module would carry and the driver load, nor local memory, in which arrays lie that are indexed at run time.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/tests/support/cuda_device/driver_calls.h>
#include <catena/tests/support/cuda_device/manifest.h>

namespace {

using namespace cuda_device;

struct Found {
  std::vector<std::string> variables, local;  // declarations; routines
  std::size_t bytes = 0;
};

// The name of the routine whose head the line is, or nothing.
std::string routine_of(const std::string& line) {
  for (const std::string_view word : {".entry ", ".func "})
    if (const std::size_t at = line.find(word); at != line.npos) return line.substr(at + word.size());
  return {};
}

// The exceptions are libdevice's: the tables of the range reduction of sin, cos and tan, named __cudart_, and the
// product with one of them, of 7 words for float32 and 5 double words for float64.
void look_through(const std::string& ptx, Found& found) {
  found.bytes += ptx.size();
  std::istringstream lines(ptx);
  std::string routine, depot;
  std::size_t product = 0;
  const auto end_routine = [&] {
    const std::string size = depot.substr(depot.find('[') + 1);
    if (!depot.empty() && (product == 0 || std::stoul(size) != product)) found.local.push_back(routine + depot);
    depot.clear();
    product = 0;
  };
  for (std::string line; std::getline(lines, line);) {
    if (const std::string name = routine_of(line); !name.empty()) {
      end_routine();
      routine = name;
    }
    const bool variable = line.starts_with('.') && line.find(".global ") != line.npos;
    if (variable && line.find(" __cudart_") == line.npos) found.variables.push_back(line);
    if (line.find("__local_depot") != line.npos && line.find(".local ") != line.npos) depot = line;
    if (!variable && line.find("__cudart_i2opi_f") != line.npos) product = 7 * sizeof(std::uint32_t);
    if (!variable && line.find("__cudart_i2opi_d") != line.npos) product = 5 * sizeof(std::uint64_t);
  }
  end_routine();
}

}  // namespace

BOOST_AUTO_TEST_CASE(kernels_have_neither_variables_of_constants_nor_local_memory) {
  // Every fifth: of each row, dtype and form some.
  std::vector<nd::cuda::GeneratedKernel> all;
  std::size_t number = 0;
  for (nd::cuda::GeneratedKernel& kernel : manifest())
    if (number++ % 5 == 0) all.push_back(std::move(kernel));
  BOOST_TEST(all.size() > 400u);
  constexpr std::size_t kBatch = 64;
  Found found;
  for (std::size_t first = 0; first < all.size(); first += kBatch) {
    const auto batch = std::span(all).subspan(first, std::min(kBatch, all.size() - first));
    const nd::cuda::Module module =
        nd::cuda::compile({nd::cuda::batch_source(batch), batch[0].name, {}, capability(), {}});
    BOOST_TEST_REQUIRE(module.ptx);
    look_through(module.code, found);
  }
  std::cout << all.size() << " kernels, " << found.bytes << " bytes of PTX\n";
  for (const std::string& line : found.variables) BOOST_ERROR(line);
  for (const std::string& line : found.local) BOOST_ERROR(line);
}
