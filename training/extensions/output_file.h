// Shared by the extensions that write files. Internal to this folder.
#pragma once

#include <string>
#include <string_view>

#include <catena/training/trainer.h>

namespace training::internal {

// IOError when the file of that name in the trainer's folder cannot be written: its folder is not there, is not
// writable, or a folder has its name. `name` may have fields in braces; a folder whose name has some is not looked at.
void check_output_file(std::string_view op, const Trainer& trainer, const std::string& name);

}  // namespace training::internal
