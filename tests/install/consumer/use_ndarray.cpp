// Arrays alone: something is computed, and an exception thrown inside the library is caught here. Then products that
// are large enough for oneDNN and OpenBLAS; which of them and of their run times this process has loaded is printed
// before and after.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <catena/ndarray/ndarray.h>

static void print_libraries(const char* when) {
  std::set<std::string> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    for (const char* name : {"dnnl", "openblas", "OpenCL", "gfortran", "quadmath", "gomp"})
      if (line.find(std::string("/lib") + name) != std::string::npos) found.insert(name);
  std::printf("%s:", when);
  for (const std::string& name : found) std::printf(" %s", name.c_str());
  std::printf("\n");
  std::fflush(stdout);
}

int main() {
  const nd::Array x = nd::arange(12).reshape({3, 4});
  std::ostringstream text;
  text << x(nd::Slice(1, 3), 0);
  if (nd::sum(x * x + 1).item<double>() != 518 || text.str() != "[4 8]") return 1;
  try {
    static_cast<void>(x.flags()["NOSUCH"]);
    return 2;
  } catch (const catena::KeyError& error) {
    std::printf("caught: %s\n", error.what());
  }
  const nd::Array small = x.astype(nd::float32);
  if (nd::matmul(small, small.T())(1, 2).item<double>() != 214) return 3;
  print_libraries("at first");
  if (chdir("/") != 0) return 4;  // what the linker found by a relative path is found from everywhere
  for (const nd::Dtype dtype : {nd::float32, nd::float64}) {
    const nd::Array a = nd::arange(200 * 200, {.dtype = dtype}).reshape({200, 200}) % 7;
    const nd::Array b = nd::eye(200, {.dtype = dtype}) * 2;
    if (!nd::all(nd::matmul(a, b) == a + a).item<bool>()) return 5;
  }
  print_libraries("after large products");
  return 0;
}
