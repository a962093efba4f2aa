// Folders and files that only this user may write. Code is loaded from them, so other users must not be able to put
// code there. Folders have the mode 0700 and files 0600, whatever the umask is; 0755 and 0644 where all users may read
// them.
//
// Functions that return text return the reason of a failure, or an empty string: a cache that cannot be used is not an
// error. Thread safety: all functions may be called from any thread.
#pragma once

#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>

struct stat;

namespace nd::compile {

// True if only this user and root can have changed a file or folder: one of the two owns it, and neither its group nor
// others may write it.
bool is_private(const struct stat& status);

// Checks that the folder exists and is private. A symbolic link is followed if it belongs to this user or to root.
std::string check_private_folder(const std::string& path);
enum class Readers { owner, all };
// Creates the folder and missing folders above it, then checks it.
std::string make_private_folder(const std::string& path, Readers readers = Readers::owner);

// Writes a complete file or none: under a temporary name "<path>.tmp-XXXXXX", which is then renamed.
std::string write_private_file(const std::string& path, std::string_view content, Readers readers = Readers::owner);
// Writes directly to the path, in a folder that no other process reads.
std::string write_private_file_once(const std::string& path, std::string_view content);

// Returns the folder catena-<user id> in $TMPDIR, or in /tmp if TMPDIR is not the absolute path of a folder.
CATENA_EXPORT std::string private_temporary_folder();

// Returns the absolute path. Relative paths are relative to the working folder at the first call, so that a path keeps
// its meaning when the process changes its working folder.
std::string absolute(const std::string& path);

}  // namespace nd::compile
