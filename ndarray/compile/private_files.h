// Folders and files that only this user may write. Code is loaded from them, so the code of another user must not get
// there. Folders have the mode 0700 and files 0600, whatever the umask is.
//
// Functions that return text give the reason of a failure, empty if there is none: a cache that cannot be used is not
// an error. Thread safety: all functions may be called from any thread.
#pragma once

#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>

struct stat;

namespace nd::compile {

// Whether only this user and root can have determined what a file or folder contains: one of the two owns it, and
// neither its group nor others may write it.
bool is_private(const struct stat& status);

// The folder exists and is private. A symbolic link is followed if it belongs to this user or to root.
std::string check_private_folder(const std::string& path);
// Makes the folder and those above it that are missing, then checks it.
std::string make_private_folder(const std::string& path);

// A complete file or none: written under a temporary name "<path>.tmp-XXXXXX", then renamed.
std::string write_private_file(const std::string& path, std::string_view content);
// Writes directly: for a folder that no other process reads.
std::string write_private_file_once(const std::string& path, std::string_view content);

// $TMPDIR, if it is the absolute path of a folder, else /tmp; and the folder catena-<user id> in it.
CATENA_EXPORT std::string private_temporary_folder();

// The path from the root. Relative ones are relative to the folder in which the process was at the first call, so that
// a path means one place although the process changes its folder.
std::string absolute(const std::string& path);

}  // namespace nd::compile
