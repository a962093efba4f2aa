// Pictures of the generator of the DCGAN example.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <catena/autograd/random_state.h>
#include <catena/catena.h>

#include "net.h"

// An extension that writes rows x cols pictures, always of the same random numbers, in one file of the folder
// dst/preview.
inline auto out_generated_image(Generator& gen, int rows, int cols, std::uint64_t seed, const std::string& dst) {
  const auto make_image = [&gen, rows, cols, seed, dst](training::Trainer& trainer) {
    const auto no_graph = autograd::no_backprop_mode();
    const autograd::RandomScope random(seed);  // the random numbers of the training are those without pictures
    const autograd::Variable z = gen.make_hidden(rows * cols);
    const autograd::Variable x = gen(z, true) * 255;
    const std::int64_t H = x.shape(2), W = x.shape(3);
    const autograd::Variable image =
        x.reshape(rows, cols, 3, H, W).transpose(2, 0, 3, 1, 4).reshape(3, rows * H, cols * W);

    const std::string preview_dir = dst + "/preview";
    std::filesystem::create_directories(preview_dir);
    training::datasets::write_image(
        preview_dir + training::format_trainer("/image{.updater.iteration:08}.png", trainer), image.data());
  };
  return training::make_extension(make_image, {.default_name = "make_image"});
}
