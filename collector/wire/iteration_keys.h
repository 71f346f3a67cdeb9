/* Keys of integer arguments (wire::Arg) with which a recorder inside the process adds facts to an
 * open scope of kind iteration. Ingest acts on them. The prefix is reserved for Sonde. An argument
 * under any other name belongs to the program. The file is C because the Python extension is. */
#pragma once

/* The iteration's number, 0 or more; the next iterations count on from there. */
#define SONDE_ITERATION_NUMBER "sonde.number"
/* 0: the iteration did not finish (the program ended, or an evaluation began), so it is stored as a
 * range. */
#define SONDE_ITERATION_COMPLETE "sonde.complete"
