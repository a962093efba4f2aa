#include <catena/autograd/debug.h>

#include <cxxabi.h>
#include <execinfo.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>

#include <catena/kernels/base/error.h>

namespace autograd {
namespace {

std::atomic<bool> warned_of_nan_loss{false};

std::string demangle(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace

void warn_of_nan_loss(double loss, std::string_view name) {
  if (!std::isnan(loss) || warned_of_nan_loss.exchange(true)) return;
  warn("RuntimeWarning", catena::concat(name,
                                        " is nan; the update makes parameters nan, too. autograd::set_debug(true) "
                                        "names the function that made the first nan"));
}

namespace internal {

std::string capture_stack() {
  constexpr int kFrames = 48, kOwn = 2;  // the two innermost frames are this function and its caller
  void* address[kFrames];
  const int n = backtrace(address, kFrames);
  const std::unique_ptr<char*, void (*)(void*)> symbols(backtrace_symbols(address, n), std::free);
  std::string text;
  for (int i = kOwn; symbols && i < n; ++i) {
    // A frame reads "module(mangled+0x12) [0x...]"; the name is demangled.
    const std::string frame = symbols.get()[i];
    const std::size_t open = frame.find('('), plus = frame.find('+', open);
    if (open != std::string::npos && plus != std::string::npos && plus > open + 1)
      text += "  " + frame.substr(0, open) + " " + demangle(frame.substr(open + 1, plus - open - 1).c_str()) + "\n";
    else text += "  " + frame + "\n";
  }
  return text;
}

std::string class_name(const std::type_info& type) {
  std::string name = demangle(type.name());
  // The last component outside template arguments: autograd::(anonymous namespace)::Exp -> Exp.
  std::size_t depth = 0, start = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    else if (name[i] == '>' || name[i] == ')') --depth;
    else if (name[i] == ':' && depth == 0) start = i + 1;
  }
  return name.substr(start);
}

}  // namespace internal
}  // namespace autograd
