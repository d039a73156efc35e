// The arguments of MPI_Alltoall, MPI_Alltoallv and their kin as an exchange.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/exchange_call.h"

namespace haichi::mpi {

/// Nothing where something is wrong, which is for the MPI library to say, or in place: there every
/// block that comes would overwrite one that has to go.
template <class Count>
std::optional<ExchangeCall> alltoall_call(const char* name, const void* sendbuf, Count sendcount,
                                          MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                                          MPI_Datatype recvtype) {
  if (sendbuf == MPI_IN_PLACE || sendcount < 0 || recvcount < 0) return std::nullopt;
  return ExchangeCall{
      name, {const_cast<void*>(sendbuf), {sendtype}, sendcount}, {recvbuf, {recvtype}, recvcount}};
}

/// The same, for a communicator of so many ranks, each with a datatype of its own.
template <class Count, class Displacement>
std::optional<ExchangeCall> alltoallw_call(const char* name, int ranks, const void* sendbuf,
                                           const Count* sendcounts, const Displacement* sdispls,
                                           const MPI_Datatype* sendtypes, void* recvbuf,
                                           const Count* recvcounts, const Displacement* rdispls,
                                           const MPI_Datatype* recvtypes) {
  if (sendbuf == MPI_IN_PLACE) return std::nullopt;
  ExchangeCall call{name,
                    {const_cast<void*>(sendbuf),
                     {sendtypes, sendtypes + ranks},
                     0,
                     {sendcounts, sendcounts + ranks},
                     {sdispls, sdispls + ranks}},
                    {recvbuf,
                     {recvtypes, recvtypes + ranks},
                     0,
                     {recvcounts, recvcounts + ranks},
                     {rdispls, rdispls + ranks}}};
  if (call.send.has_negative_count() || call.receive.has_negative_count()) return std::nullopt;
  return call;
}

/// The same, with one datatype for all.
template <class Count, class Displacement>
std::optional<ExchangeCall> alltoallv_call(const char* name, int ranks, const void* sendbuf,
                                           const Count* sendcounts, const Displacement* sdispls,
                                           MPI_Datatype sendtype, void* recvbuf,
                                           const Count* recvcounts, const Displacement* rdispls,
                                           MPI_Datatype recvtype) {
  if (sendbuf == MPI_IN_PLACE) return std::nullopt;
  ExchangeCall call{
      name,
      {const_cast<void*>(sendbuf),
       {sendtype},
       0,
       {sendcounts, sendcounts + ranks},
       {sdispls, sdispls + ranks}},
      {recvbuf, {recvtype}, 0, {recvcounts, recvcounts + ranks}, {rdispls, rdispls + ranks}}};
  if (call.send.has_negative_count() || call.receive.has_negative_count()) return std::nullopt;
  return call;
}

}  // namespace haichi::mpi
