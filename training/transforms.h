// Folder training/transforms: changes of images and batches before training: crops, flips, sizes, colours, mixtures.
// Datasets are in training/dataset.h and training/datasets. This folder may use training, nn, autograd and kernels.
// This file is its umbrella header, with the names of torchvision's module `transforms`.
#pragma once

#include <catena/training/transforms/color.h>
#include <catena/training/transforms/conversion.h>
#include <catena/training/transforms/functional.h>
#include <catena/training/transforms/geometry.h>
#include <catena/training/transforms/mixing.h>
#include <catena/training/transforms/of_variables.h>
#include <catena/training/transforms/random_geometry.h>
#include <catena/training/transforms/transform.h>
