#include <catena/tests/support/cuda_device/report.h>

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <sstream>
#include <vector>

namespace cuda_device {
namespace {

std::atomic<ReportMode> mode{ReportMode::abort};

struct Kept {
  std::mutex mutex;
  std::string text;
};
Kept& kept() {
  static Kept& k = *new Kept;
  return k;
}

// The file of an instruction, and its offset in the file.
struct Place {
  std::string file;
  std::uintptr_t offset = 0;
  std::string text() const {
    std::ostringstream out;
    out << file << "+0x" << std::hex << offset;
    return out.str();
  }
};
Place place_of(const void* instruction) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(instruction, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr)
    return {"?", reinterpret_cast<std::uintptr_t>(instruction)};
  Place place{map->l_name, reinterpret_cast<std::uintptr_t>(instruction) - map->l_addr};
  if (place.file.empty()) {  // the program itself
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
    place.file.assign(path, static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  }
  return place;
}

std::string output_of(const std::string& command) {
  std::string output;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (pipe == nullptr) return output;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe.get())) > 0;) output.append(buffer, n);
  return output;
}

// Returns "<function> at <file>:<line>" for each place in [first, last), all in one file, and for each function inlined
// there.
std::vector<std::string> describe(const Place* first, const Place* last) {
  std::ostringstream command;
  command << "addr2line -a -C -f -i -p -e '" << first->file << "'" << std::hex;
  for (const Place* p = first; p != last; ++p) command << " 0x" << p->offset;
  std::istringstream output(output_of(command.str() + " 2>/dev/null"));
  std::vector<std::string> lines;
  const Place* next = first;  // the first place without a line so far
  for (std::string line; std::getline(output, line);) {
    std::size_t text = line.find_first_not_of(' ');
    if (line.starts_with("0x") && next != last) {
      ++next;
      text = line.find(": ") + 2;
    } else if (const std::string inlined = "(inlined by) "; line.compare(text, inlined.size(), inlined) == 0) {
      text += inlined.size();
    }
    line = line.substr(text, line.find(" (discriminator") - text);
    if (line.ends_with(":?") || line.ends_with("?:0"))
      line = line.substr(0, line.find(" at ")) + " at " + (next - 1)->text();
    lines.push_back(std::move(line));
  }
  for (; next != last; ++next) lines.push_back("?? at " + next->text());
  return lines;
}

}  // namespace

void set_report_mode(ReportMode m) { mode = m; }
ReportMode report_mode() { return mode; }

void report(const std::string& text, bool survivable) {
  std::fprintf(stderr, "software cuda: %s\n", text.c_str());
  std::fflush(stderr);
  {
    const std::lock_guard lock(kept().mutex);
    kept().text = text;
  }
  if (mode == ReportMode::abort || !survivable) std::abort();
}

std::string last_report() {
  const std::lock_guard lock(kept().mutex);
  return kept().text;
}

std::string describe_stack(const void* from) {
  void* frames[64];
  const int count = backtrace(frames, std::size(frames));
  const auto found = std::find(frames, frames + count, from);
  const int first = found == frames + count ? 1 : static_cast<int>(found - frames);
  std::vector<Place> places;
  // All addresses except the interrupted instruction are return addresses, one byte after the call.
  for (int k = first; k < count; ++k)
    places.push_back(place_of(static_cast<char*>(frames[k]) - (frames[k] == from ? 0 : 1)));
  std::string text;
  for (auto it = places.begin(); it != places.end();) {
    const auto end = std::find_if(it, places.end(), [&](const Place& p) { return p.file != it->file; });
    for (const std::string& line : describe(&*it, &*it + (end - it))) text += "\n  in " + line;
    it = end;
  }
  return text;
}

}  // namespace cuda_device
