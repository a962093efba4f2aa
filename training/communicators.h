// Distributed training: communicators and transports. Not included by catena.h.
#pragma once

#include <catena/training/communicators/communicator.h>
#include <catena/training/communicators/socket_transport.h>
#include <catena/training/communicators/thread_transport.h>
#include <catena/training/communicators/torch_distributed.h>
#include <catena/training/communicators/transport.h>
