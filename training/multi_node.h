// Folder training/multi_node: training by the ranks of a communicator (ChainerMN's functions): optimizers, data,
// evaluation, files, batch normalization, iterators and functions between ranks. Communicators are in
// training/communicators, updaters of several devices of one process in training/parallel. This folder may use
// training, training/communicators, training/extensions, nn and autograd. This file is its umbrella header.
#pragma once

#include <catena/training/communicators/communicator.h>
#include <catena/training/multi_node/batch_normalization.h>
#include <catena/training/multi_node/early_stopping.h>
#include <catena/training/multi_node/evaluator.h>
#include <catena/training/multi_node/functions.h>
#include <catena/training/multi_node/iterators.h>
#include <catena/training/multi_node/multi_node_optimizer.h>
#include <catena/training/multi_node/persistent.h>
#include <catena/training/multi_node/scatter_dataset.h>
#include <catena/training/multi_node/snapshot.h>
