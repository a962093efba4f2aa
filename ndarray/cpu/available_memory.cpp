#include <catena/ndarray/cpu/available_memory.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

#include <catena/kernels/base/descriptors.h>

namespace nd::cpu {
namespace {

std::optional<std::size_t> number_in(std::string_view text) {
  const std::size_t first = text.find_first_of("0123456789");
  std::size_t value = 0;
  if (first == text.npos) return {};
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// Returns the number on the first line of a file that begins with `key`.
std::optional<std::size_t> read_number(const std::string& file, std::string_view key = "") {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key)) return number_in(std::string_view(line).substr(key.size()));
  return {};
}

struct GroupFiles {
  const char *limit, *usage, *reclaimable;
};
constexpr GroupFiles kVersion2 = {"/memory.max", "/memory.current", "inactive_file "};
constexpr GroupFiles kVersion1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file "};

// Applies the limit of one control group. Without a limit, its file has the word "max", or in version 1 a number larger
// than any memory.
void apply_limit(MachineMemory& memory, const std::string& folder, const GroupFiles& files) {
  const std::optional<std::size_t> limit = read_number(folder + files.limit);
  const std::optional<std::size_t> usage = read_number(folder + files.usage);
  if (!limit || !usage) return;
  const std::size_t reclaimable = read_number(folder + "/memory.stat", files.reclaimable).value_or(0);
  const std::size_t used = *usage - std::min(*usage, reclaimable);
  memory.total = std::min(memory.total, *limit);
  memory.available = std::min(memory.available, *limit - std::min(*limit, used));
}

// Applies the limits of a control group and of all groups that contain it. Inside a container, the path may be the path
// on the host, while the container's own group is mounted as the root.
void apply_limits(MachineMemory& memory, const std::string& mount, std::string group, const GroupFiles& files) {
  for (;;) {
    apply_limit(memory, mount + group, files);
    if (group.empty() || group == "/") return;
    group.resize(group.rfind('/'));
  }
}

}  // namespace

MachineMemory machine_memory(const std::string& root) {
  catena::reserve_standard_descriptors();
  constexpr std::size_t kKilobyte = 1024;
  const std::string table = root + "proc/meminfo";
  const auto total = read_number(table, "MemTotal:"), available = read_number(table, "MemAvailable:");
  if (!total || !available) return {};
  MachineMemory memory{(*available + read_number(table, "SwapFree:").value_or(0)) * kKilobyte,
                       (*total + read_number(table, "SwapTotal:").value_or(0)) * kKilobyte};
  // Lines "0::/group" of version 2, and "4:cpu,memory:/group" of version 1.
  std::ifstream groups(root + "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t names = line.find(':'), path = names == line.npos ? line.npos : line.find(':', names + 1);
    if (path == line.npos || path + 1 >= line.size() || line[path + 1] != '/') continue;
    const std::string controllers = "," + line.substr(names + 1, path - names - 1) + ",", group = line.substr(path + 1);
    if (controllers == ",,") apply_limits(memory, root + "sys/fs/cgroup", group, kVersion2);
    else if (controllers.find(",memory,") != controllers.npos)
      apply_limits(memory, root + "sys/fs/cgroup/memory", group, kVersion1);
  }
  return memory;
}

}  // namespace nd::cpu
