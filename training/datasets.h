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
#include <catena/training/datasets/torch_images.h>
#include <catena/training/datasets/torch_vision.h>
#include <catena/training/datasets/zipped_images.h>

namespace training::datasets {

using training::ConcatenatedDataset, training::CsvDataset, training::DictDataset,
    training::get_cross_validation_datasets, training::get_cross_validation_datasets_random, training::ImageDataset,
    training::ImageFolder, training::LabeledImageDataset, training::LabeledZippedImageDataset,
    training::MultiZippedImageDataset, training::RecordDataset, training::split_dataset, training::split_dataset_n,
    training::split_dataset_n_random, training::split_dataset_random, training::SubDataset, training::TextDataset,
    training::TransformDataset, training::TupleDataset, training::ZippedImageDataset;

}  // namespace training::datasets
