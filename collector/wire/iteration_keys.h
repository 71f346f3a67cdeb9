/* Keys of integer arguments (wire::Arg) by which a recorder in the process says more of an open
 * scope of kind iteration; ingest acts on them. The prefix is Sonde's: under any other name an
 * argument is the program's own. In C, because the Python extension is. */
#pragma once

/* The iteration's number, 0 or more; those after it count on from there. */
#define SONDE_ITERATION_NUMBER "sonde.number"
/* 0: it did not come to its end (the program ended, an evaluation came), so it is no iteration but
 * a range. */
#define SONDE_ITERATION_COMPLETE "sonde.complete"
