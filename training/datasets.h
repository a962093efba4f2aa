// Folder training/datasets: the data sets of Catena, datasets of image files, download, caches and file formats. The
// Dataset interface, splits and batches are in training/dataset.h. This folder may use training, autograd and kernels.
// This file is its umbrella header, with the names of Chainer's module `datasets`.
#pragma once

#include <catena/training/dataset.h>
#include <catena/training/datasets/cache.h>
#include <catena/training/datasets/cifar.h>
#include <catena/training/datasets/image_dataset.h>
#include <catena/training/datasets/image_file.h>
#include <catena/training/datasets/list_config.h>
#include <catena/training/datasets/mnist.h>
#include <catena/training/datasets/ptb.h>

namespace training::datasets {

using training::DictDataset;
using training::get_cross_validation_datasets;
using training::get_cross_validation_datasets_random;
using training::ImageDataset;
using training::LabeledImageDataset;
using training::split_dataset;
using training::split_dataset_n;
using training::split_dataset_n_random;
using training::split_dataset_random;
using training::SubDataset;
using training::TransformDataset;
using training::TupleDataset;

}  // namespace training::datasets
