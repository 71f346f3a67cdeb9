// A tool of MPI's profiling interface between the program and MPI: it delays the return of MPI_Wait
// as the program wishes.
#include <mpi.h>

void (*gBeforeReturn)(void);

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const int result = PMPI_Wait(request, status);
  if (gBeforeReturn != 0)
    gBeforeReturn();
  return result;
}
