// Functions between ranks, through which gradients flow back (ChainerMN's functions): for models whose parts are on
// several ranks.
//
//   // rank 0                                             // rank 1
//   auto h = first_part(x);                               auto h = functions::recv(comm, 0);
//   auto sent = functions::send(h, comm, 1);              auto loss = nn::softmax_cross_entropy(second_part(h), t);
//   sent.backward();                                      loss.backward();
//
// The result of send(), and that of gather() on ranks other than the root, is a delegate: a float32 number, 0, that
// stands for the communication in the graph of its rank. backward() of the delegate takes part in the backward pass of
// the other rank; pseudo_connect() makes a delegate an input of a later function, so that one backward() is enough.
//
// Every rank that took part in a call takes part in its backward pass, whether its inputs need gradients or not: each
// calls backward() from results that depend on the call, in the same mode (enable_backprop). Several calls between the
// same ranks run backward in the order of their graphs; pseudo_connect() determines it where the graphs do not.
// autograd::grad() reaches a call only if it lies on a path to the variables asked for.
//
// allreduce, allgather and alltoall can be differentiated any number of times; the second derivative of the other
// functions is a NotImplementedError. Integer arrays have no gradient, and the delegate of one has no graph. Errors are
// those of the communicator; ValueError for a root or a rank that is not there. Arguments of a collective function that
// are wrong on one rank, such as a list on two devices, are an error on all ranks.
#pragma once

#include <optional>

#include <catena/autograd/variable.h>
#include <catena/training/multi_node/ranks.h>

namespace training::functions {

using autograd::Variable;
using autograd::Variables;

// Sends x, of any shape and dtype, to a rank that calls recv(). Returns the delegate.
CATENA_EXPORT Variable send(const Variable& x, AnyCommunicator comm, int rank);
// Returns what another rank sends. `delegate`: a variable, such as the result of an earlier send(), that is to come
// before this call in the graph; its gradient is zero.
CATENA_EXPORT Variable recv(AnyCommunicator comm, int rank, const Variable& delegate = {});
// Returns `actual`, depending also on the delegate, whose gradient is zero.
CATENA_EXPORT Variable pseudo_connect(const Variable& delegate, const Variable& actual);
CATENA_EXPORT Variables pseudo_connect(const Variable& delegate, const Variables& actual);

// The x of the root, on all ranks; its gradient is the sum of those of all ranks. On the other ranks x is none, or a
// delegate, as of recv().
CATENA_EXPORT Variable bcast(AnyCommunicator comm, const Variable& x = {}, int root = 0);
// On the root the x of all ranks, by rank; on the others the delegate alone. Shapes may differ.
CATENA_EXPORT Variables gather(AnyCommunicator comm, const Variable& x, int root = 0);
// The entry of the root's list for this rank. On the other ranks the list is empty, or has delegates. ValueError on all
// ranks unless the root's list has one entry per rank.
CATENA_EXPORT Variable scatter(AnyCommunicator comm, const Variables& xs = {}, int root = 0);
// Entry r of the result comes from rank r, and xs[r] goes there. ValueError unless there is one entry per rank.
CATENA_EXPORT Variables alltoall(AnyCommunicator comm, const Variables& xs);
// The x of all ranks, by rank, on all ranks. The gradient of x is the sum of those of all ranks.
CATENA_EXPORT Variables allgather(AnyCommunicator comm, const Variable& x);
// The sum of the x of all ranks, of one shape and dtype, on all ranks. The gradient of x is the sum of those of all
// ranks.
CATENA_EXPORT Variable allreduce(AnyCommunicator comm, const Variable& x);

}  // namespace training::functions
