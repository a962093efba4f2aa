// The files of a snapshot extension: which ones there are, and which are removed. Internal to this folder and its
// tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/export.h>

namespace training::internal {

// True if `name` may come from the pattern of format_trainer, a field standing for a number: "snapshot_iter_12" for
// "snapshot_iter_{.updater.iteration}". {.out} stands for `out`.
CATENA_EXPORT bool matches_pattern(std::string_view pattern, std::string_view name, std::string_view out);

// Returns the paths of the regular files of the pattern in the folder `out`, the newest first: by the time of the last
// change, and where that is the same, by the numbers in their names.
CATENA_EXPORT std::vector<std::string> files_of_pattern(const std::string& out, const std::string& pattern);

// Removes all files of the pattern but `written`, which counts as the newest, and n - 1 others. Best effort: no errors.
CATENA_EXPORT void remove_older_files(const std::string& out, const std::string& pattern, std::int64_t n,
                                      const std::string& written);

// True if every member of the npz file has the checksum that the file states for it.
CATENA_EXPORT bool is_whole_npz(const std::string& path);

}  // namespace training::internal
