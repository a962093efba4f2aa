#include <catena/training/extensions/snapshot_files.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/formats/npz.h>

namespace training::internal {

namespace fs = std::filesystem;

namespace {

// Removes the longest beginning that is a literal part of the pattern, up to its first field, from both; false if the
// name begins otherwise.
bool skip_literal(std::string_view& pattern, std::string_view& name) {
  while (!pattern.empty()) {
    const char c = pattern[0];
    const bool doubled = (c == '{' || c == '}') && pattern.size() > 1 && pattern[1] == c;
    if (c == '{' && !doubled) return true;
    if (name.empty() || name[0] != c) return false;
    name.remove_prefix(1);
    pattern.remove_prefix(doubled ? 2 : 1);
  }
  return name.empty();
}

bool may_be_of_a_number(char c) {
  return catena::is_ascii_digit(c) || std::string_view(" +-.e%").find(c) != std::string_view::npos;
}

// Compares texts with numbers in them: "iter_9" is before "iter_10".
bool naturally_before(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    return text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
  };
  while (!a.empty() && !b.empty()) {
    std::string_view of_a = digits(a), of_b = digits(b);
    if (of_a.empty() || of_b.empty()) {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
      continue;
    }
    a.remove_prefix(of_a.size());
    b.remove_prefix(of_b.size());
    of_a.remove_prefix(std::min(of_a.find_first_not_of('0'), of_a.size()));
    of_b.remove_prefix(std::min(of_b.find_first_not_of('0'), of_b.size()));
    if (of_a.size() != of_b.size()) return of_a.size() < of_b.size();
    if (of_a != of_b) return of_a < of_b;
  }
  return a.size() < b.size();
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view name, std::string_view out) {
  if (!skip_literal(pattern, name)) return false;
  if (pattern.empty()) return true;
  const std::size_t end = pattern.find('}');
  if (end == pattern.npos) return false;
  const std::string_view field = pattern.substr(1, end - 1), rest = pattern.substr(end + 1);
  if (field.substr(0, field.find(':')).ends_with(".out"))
    return name.starts_with(out) && matches_pattern(rest, name.substr(out.size()), out);
  for (std::size_t n = 1; n <= name.size() && may_be_of_a_number(name[n - 1]); ++n)
    if (matches_pattern(rest, name.substr(n), out)) return true;
  return false;
}

std::vector<std::string> files_of_pattern(const std::string& out, const std::string& pattern) {
  struct Found {
    fs::path path;
    fs::file_time_type time;
  };
  const fs::path whole = fs::path(out) / pattern;
  const std::string last = whole.filename().string();
  std::vector<Found> found;
  std::error_code error;
  for (fs::directory_iterator i(whole.parent_path().empty() ? "." : whole.parent_path(), error), end;
       !error && i != end; i.increment(error)) {
    std::error_code gone;  // another process may remove the file meanwhile
    if (!i->is_regular_file(gone) || !matches_pattern(last, i->path().filename().string(), out)) continue;
    const fs::file_time_type time = i->last_write_time(gone);
    if (!gone) found.push_back({whole.parent_path() / i->path().filename(), time});
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    if (a.time != b.time) return a.time > b.time;
    return naturally_before(b.path.filename().string(), a.path.filename().string());
  });
  std::vector<std::string> paths;
  for (const Found& f : found) paths.push_back(f.path.string());
  return paths;
}

void remove_older_files(const std::string& out, const std::string& pattern, std::int64_t n,
                        const std::string& written) {
  std::vector<std::string> files = files_of_pattern(out, pattern);
  // All of them are in one folder, of whose path there may be several spellings.
  std::erase_if(files, [name = fs::path(written).filename()](const fs::path& file) { return file.filename() == name; });
  for (std::size_t i = std::size_t(n - 1); i < files.size(); ++i) {
    std::error_code ignored;
    fs::remove(files[i], ignored);
  }
}

bool is_whole_npz(const std::string& path) {
  try {
    const catena::ZipReader zip("snapshot", path);
    std::vector<std::byte> piece(1 << 16);
    for (const catena::ZipMember& member : zip.members()) {
      const auto source = zip.open(member);
      while (source->read(piece.data(), piece.size()) == piece.size()) continue;
    }
    return true;
  } catch (const catena::Error&) {
    return false;
  }
}

}  // namespace training::internal
