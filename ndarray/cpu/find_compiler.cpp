#include <catena/ndarray/cpu/find_compiler.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/compile/private_files.h>

extern char** environ;

namespace nd::cpu {
namespace {

namespace fs = std::filesystem;
using catena::concat;

constexpr std::string_view kStandardFolders = "/usr/local/bin:/usr/bin:/bin";

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string search_path() {
  const char* path = std::getenv("PATH");
  return path != nullptr && *path != '\0' ? concat(path, ":", kStandardFolders) : std::string(kStandardFolders);
}

bool is_program(const std::string& path) {
  std::error_code error;
  return ::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, error);
}

// Returns the path of a program, or an empty string if there is none. Relative folders of the PATH are not searched.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const std::string path = compile::absolute(name);
    return is_program(path) ? path : std::string();
  }
  for (const std::string& folder : split(search_path(), ':'))
    if (folder.starts_with('/') && is_program(folder + "/" + name)) return folder + "/" + name;
  return {};
}

// Splits a command into words. Its program is the longest beginning that is the name of one, because paths may contain
// spaces.
std::vector<std::string> command_of(const std::string& text) {
  for (std::size_t end = text.size(); end != std::string::npos && end > 0; end = text.rfind(' ', end - 1)) {
    const std::string program = find_program(text.substr(0, end));
    if (program.empty()) continue;
    std::vector<std::string> command = split(std::string_view(text).substr(end), ' ');
    command.insert(command.begin(), program);
    return command;
  }
  return {};
}

const char* set_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

Compiler find_compiler(std::string_view what) {
  std::vector<std::string> candidates = {"c++", "g++", "clang++", CATENA_BUILD_COMPILER};
  if (const char* cxx = set_variable("CXX")) candidates.insert(candidates.begin(), cxx);
  if (const char* own = set_variable("CATENA_HOST_COMPILER")) candidates = {own};
  std::string tried;
  for (const std::string& candidate : candidates) {
    tried += (tried.empty() ? "" : ", ") + candidate;
    std::vector<std::string> command = command_of(candidate);
    struct stat status {};
    if (command.empty() || ::stat(command[0].c_str(), &status) != 0) continue;
    std::error_code error;  // if there is an error, the path itself is the identity
    const fs::path program = fs::canonical(command[0], error);
    std::string identity = (error ? command[0] : program.string()) + ' ' + std::to_string(status.st_size) + ' ' +
                           std::to_string(status.st_mtim.tv_sec) + '.' + std::to_string(status.st_mtim.tv_nsec);
    return {std::move(command), std::move(identity)};
  }
  throw catena::RuntimeError(
      concat(what, ": kernels given as text need a C++ compiler on the CPU, and there is none (tried: ", tried,
             "); CATENA_HOST_COMPILER names one"));
}

std::vector<std::string> compiler_environment(const Compiler& compiler, const std::string& folder) {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    if (name != "PATH" && name != "TMPDIR" && name != "LC_ALL" && name != "LANGUAGE") variables.emplace_back(text);
  }
  variables.push_back(concat("PATH=", search_path(), ":", fs::path(compiler.command[0]).parent_path().string()));
  variables.push_back("TMPDIR=" + folder);
  variables.push_back("LC_ALL=C");
  return variables;
}

}  // namespace nd::cpu
