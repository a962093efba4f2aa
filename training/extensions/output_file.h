// Functions shared by extensions that write files. Internal to this folder.
#pragma once

#include <string>
#include <string_view>

#include <catena/training/trainer.h>

namespace training::internal {

// Throws an IOError if the file of that name in the trainer's folder cannot be written: its folder does not exist or is
// not writable, or the name is that of a folder. `name` may have fields in braces; if the name of its folder has
// fields, nothing is checked.
void check_output_file(std::string_view op, const Trainer& trainer, const std::string& name);

}  // namespace training::internal
