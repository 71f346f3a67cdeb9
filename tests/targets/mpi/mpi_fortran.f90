! MPI from Fortran, of 1990 and of 2008: what C's functions get from both is the same.
subroutine classic(rank, ranks)
  use mpi
  implicit none
  integer, intent(in) :: rank, ranks
  integer :: error, data(8), around(6), request, ring, status(MPI_STATUS_SIZE)
  data = rank
  call MPI_Bcast(data, 8, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Irecv(data, 8, MPI_INTEGER, modulo(rank - 1, ranks), 11, MPI_COMM_WORLD, request, error)
  call MPI_Send(data, 4, MPI_INTEGER, modulo(rank + 1, ranks), 11, MPI_COMM_WORLD, error)
  call MPI_Wait(request, status, error)
  if (status(MPI_SOURCE) /= modulo(rank - 1, ranks)) call MPI_Abort(MPI_COMM_WORLD, 7, error)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ ranks /), (/ .true. /), .false., ring, error)
  call MPI_Neighbor_allgather(data, 3, MPI_INTEGER, around, 3, MPI_INTEGER, ring, error)
  call MPI_Comm_free(ring, error)
end subroutine

subroutine modern(rank, ranks)
  use mpi_f08
  implicit none
  integer, intent(in) :: rank, ranks
  double precision :: data(8), around(4)
  type(MPI_Comm) :: ring
  type(MPI_Request) :: request
  data = rank
  call MPI_Allreduce(MPI_IN_PLACE, data, 8, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Sendrecv_replace(data, 2, MPI_DOUBLE_PRECISION, modulo(rank + 1, ranks), 12, modulo(rank - 1, ranks), 12, &
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ ranks /), (/ .true. /), .false., ring)
  call MPI_Ineighbor_alltoall(data, 2, MPI_DOUBLE_PRECISION, around, 2, MPI_DOUBLE_PRECISION, ring, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Comm_free(ring)
end subroutine

program mpi_fortran
  use mpi
  implicit none
  integer :: error, rank, ranks
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call classic(rank, ranks)
  call modern(rank, ranks)
  call MPI_Finalize(error)
end program
