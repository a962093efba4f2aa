#include <catena/ndarray/cpu/kernel_scan.h>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/embedded.h>
#include <catena/ndarray/user_kernel/text_scanner.h>

namespace nd::cpu {

std::string registration(std::string_view kernel, std::string_view suffix) {
  const std::string name = suffix.empty() ? std::to_string(catena::fnv1a(kernel)) : std::string(suffix);
  return catena::concat(" static catena::user::Registered<(", kernel, ")> _registered_", name, "(\"", kernel, "\");\n");
}

std::string with_registrations(std::string_view code) {
  std::string text;
  std::size_t copied = 0;
  bool is_template = false;
  for (internal::TextScanner scan(code); !scan.done(); scan.next()) {
    const std::string_view token = scan.token();
    if (token == "template") is_template = true;
    if (token == ";" || token == "{" || token == "}") is_template = false;
    if (token != "__global__") continue;
    const std::string_view name = internal::scan_kernel(scan).name;
    if (!name.empty() && !is_template) {
      text += code.substr(copied, scan.end() - copied);
      std::string definition = registration(name, name);
      definition.pop_back();
      text += definition;
      copied = scan.end();
    }
    is_template = false;
  }
  text += code.substr(copied);
  return text;
}

}  // namespace nd::cpu
