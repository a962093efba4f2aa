// Folder training/datasets: the data sets of Catena, datasets of image files, download, caches and file formats. The
// Dataset interface, splits and batches are in training/dataset.h. This folder may use training, autograd and kernels.
// This file is its umbrella header, with the names of Chainer's module `datasets`.
#pragma once

#include <catena/training/dataset.h>
#include <catena/training/datasets/cache.h>
#include <catena/training/datasets/cifar.h>
#include <catena/training/datasets/csv_dataset.h>
#include <catena/training/datasets/image_dataset.h>
#include <catena/training/datasets/image_file.h>
#include <catena/training/datasets/image_folder.h>
#include <catena/training/datasets/list_config.h>
#include <catena/training/datasets/mnist.h>
#include <catena/training/datasets/packing.h>
#include <catena/training/datasets/ptb.h>
#include <catena/training/datasets/record_dataset.h>
#include <catena/training/datasets/svhn.h>
#include <catena/training/datasets/text_dataset.h>
#include <catena/training/datasets/zipped_images.h>

namespace training::datasets {

using training::ConcatenatedDataset;
using training::CsvDataset;
using training::DictDataset;
using training::get_cross_validation_datasets;
using training::get_cross_validation_datasets_random;
using training::ImageDataset;
using training::ImageFolder;
using training::LabeledImageDataset;
using training::LabeledZippedImageDataset;
using training::MultiZippedImageDataset;
using training::RecordDataset;
using training::split_dataset;
using training::split_dataset_n;
using training::split_dataset_n_random;
using training::split_dataset_random;
using training::SubDataset;
using training::TextDataset;
using training::TransformDataset;
using training::TupleDataset;
using training::ZippedImageDataset;

}  // namespace training::datasets
