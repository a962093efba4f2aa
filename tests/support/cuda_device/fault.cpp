#include <catena/tests/support/cuda_device/fault.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <vector>

#include <catena/tests/support/cuda_device/record.h>

namespace cuda_device {
namespace {

struct Planned {
  Entry entry;
  int calls_left;  // remaining calls before the failure
  Fault fault;
};

struct Plan {
  std::mutex mutex;
  std::vector<Planned> faults;
  std::atomic<bool> any{false};  // without a planned failure, calls need no lock

  Plan() {
    if (const char* text = std::getenv("CATENA_SOFTWARE_CUDA_FAIL"); text != nullptr && *text != '\0') read(text);
  }
  bool add(std::string_view name, int nth, Fault fault) {
    const std::optional<Entry> entry = find_entry(name);
    if (!entry || nth < 1) return false;
    faults.push_back({*entry, nth, fault});
    any = true;
    return true;
  }

 private:
  void read(std::string_view text) {
    while (!text.empty()) {
      const std::string_view one = text.substr(0, text.find(','));
      text.remove_prefix(std::min(text.size(), one.size() + 1));
      std::vector<std::string_view> parts;
      for (std::size_t at = 0; at <= one.size();) {
        const std::size_t end = std::min(one.find(':', at), one.size());
        parts.push_back(one.substr(at, end - at));
        at = end + 1;
      }
      const auto number = [](std::string_view digits) {
        int value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return error == std::errc() && end == digits.data() + digits.size() ? value : -1;
      };
      const bool sticky = parts.size() == 4 && parts[3] == "sticky";
      if ((parts.size() == 3 || sticky) && number(parts[2]) > 0 &&
          add(parts[0], number(parts[1]), {number(parts[2]), sticky}))
        continue;
      std::fprintf(stderr, "CATENA_SOFTWARE_CUDA_FAIL: '%.*s' is not <entry point>:<call>:<code>[:sticky]\n",
                   static_cast<int>(one.size()), one.data());
      std::abort();
    }
  }
};

Plan& plan() {
  static Plan& p = *new Plan;
  return p;
}

}  // namespace

bool arm_fault(const std::string& entry, int nth, int code, bool sticky) {
  const std::lock_guard lock(plan().mutex);
  return plan().add(entry, nth, {code, sticky});
}

void clear_faults() {
  const std::lock_guard lock(plan().mutex);
  plan().faults.clear();
  plan().any = false;
}

Fault begin_call(Entry entry) {
  count_call(entry);
  if (!plan().any) return {};
  const std::lock_guard lock(plan().mutex);
  Fault result;
  std::erase_if(plan().faults, [&](Planned& p) {
    if (p.entry != entry || (p.calls_left > 0 && --p.calls_left > 0)) return false;
    if (result.code == 0) result = p.fault;
    return !p.fault.sticky;
  });
  plan().any = !plan().faults.empty();
  return result;
}

}  // namespace cuda_device
