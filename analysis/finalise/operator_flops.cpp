#include "analysis/finalise/operator_flops.h"

#include "analysis/store/each_row.h"
#include "analysis/store/iteration_nesting.h"

#include <cstdint>
#include <unordered_map>

namespace sonde::store {
namespace {

// `shapes` is a JSON list of the inputs' shapes. a to d are the first four; a0 is the first size of
// the first. grad, input and weight are numbers of elements. A transposed convolution's weight
// begins with the channels of its input.
constexpr const char* kSql = R"(
CREATE TEMP TABLE flop_shape(name_id, shapes, flops, PRIMARY KEY(name_id, shapes)) WITHOUT ROWID;
INSERT INTO temp.flop_shape
WITH known(name_id, shapes, name) AS MATERIALIZED (
  SELECT DISTINCT s.name_id, a.value, n.text FROM arg a
  JOIN slice s ON s.id = a.owner_id AND s.kind = 'operator' JOIN string n ON n.id = s.name_id
  WHERE a.owner = 'slice' AND a.key_id = (SELECT id FROM string WHERE text = 'shapes')
    AND n.text GLOB 'aten::*' AND json_valid(a.value)),
side(name_id, shapes, name, a, b, c, d) AS (
  SELECT name_id, shapes, name, shapes -> 0, shapes -> 1, shapes -> 2, shapes -> 3 FROM known),
size(name_id, shapes, name, a0, a1, a2, a3, b0, b1, b2, b3, c1, c2, c3, d3, grad, input, weight, weight0) AS (
  SELECT name_id, shapes, name, a ->> 0, a ->> 1, a ->> 2, a ->> 3, b ->> 0, b ->> 1, b ->> 2, b ->> 3,
    c ->> 1, c ->> 2, c ->> 3, d ->> 3,
    1.0 * (a ->> 0) * (a ->> 1) * (a ->> 2) * ifnull(a ->> 3, 1) * ifnull(a ->> 4, 1),
    1.0 * (b ->> 0) * (b ->> 1) * (b ->> 2) * ifnull(b ->> 3, 1) * ifnull(b ->> 4, 1),
    1.0 * (c ->> 0) * (c ->> 1) * (c ->> 2) * ifnull(c ->> 3, 1) * ifnull(c ->> 4, 1), c ->> 0 FROM side)
SELECT name_id, shapes, CASE
  WHEN name = 'aten::mm' THEN 2.0 * a0 * a1 * b1
  WHEN name = 'aten::addmm' THEN 2.0 * b0 * b1 * c1
  WHEN name = 'aten::mv' THEN 2.0 * a0 * a1
  WHEN name = 'aten::addmv' THEN 2.0 * b0 * b1
  WHEN name = 'aten::bmm' THEN 2.0 * a0 * a1 * a2 * b2
  WHEN name = 'aten::baddbmm' THEN 2.0 * b0 * b1 * b2 * c2
  WHEN name = 'aten::convolution_backward' THEN 6.0 * CASE a1 WHEN weight0 THEN grad ELSE input END * weight / weight0
  WHEN name GLOB 'aten::_scaled_dot_product_*_attention*_backward*' THEN
    2.0 * b0 * b1 * b2 * c2 * (3.0 * b3 + 2.0 * d3)
  WHEN name GLOB 'aten::_scaled_dot_product_*_attention*' THEN
    2.0 * a0 * a1 * a2 * b2 * (a3 + c3)
  END AS flops FROM size WHERE flops > 0;
CREATE TEMP TABLE flop_iteration(process_id, start_ns, end_ns, id, PRIMARY KEY(process_id, start_ns, id)) WITHOUT ROWID;
INSERT INTO temp.flop_iteration SELECT process_id, start_ns, start_ns + dur_ns, id FROM iteration
WHERE dur_ns IS NOT NULL;
CREATE TEMP TABLE flop_total(id INTEGER PRIMARY KEY, flops REAL NOT NULL);
WITH counted(process_id, start_ns, flops) AS (
  SELECT t.process_id, s.start_ns, f.flops FROM arg a
  JOIN slice s ON s.id = a.owner_id AND s.kind = 'operator'
  JOIN temp.flop_shape f ON f.name_id = s.name_id AND f.shapes = a.value JOIN thread t ON t.id = s.thread_id
  WHERE a.owner = 'slice' AND a.key_id = (SELECT id FROM string WHERE text = 'shapes')),
placed(id, flops) AS (
  SELECT (SELECT i.id FROM temp.flop_iteration i WHERE i.process_id = c.process_id AND i.start_ns <= c.start_ns
    AND i.end_ns > c.start_ns ORDER BY i.start_ns DESC LIMIT 1), c.flops FROM counted c)
INSERT INTO temp.flop_total SELECT id, sum(flops) FROM placed WHERE id IS NOT NULL GROUP BY id;
DROP TABLE temp.flop_shape;
DROP TABLE temp.flop_iteration;
)";

using Flops = std::unordered_map<std::int64_t, double>;  // by the iteration's id

// Sums for iterations without the program's own number, including inner iterations.
Result<Flops> untoldFlops(const Database& trace) {
  SONDE_TRY_ASSIGN(const IterationHolders holders, readIterationHolders(trace));
  Flops untold;
  Flops within;
  const auto add = [&](const Statement& row) -> Result<void> {
    const std::int64_t id = row.integer(0);
    const auto parts = within.find(id);
    if (row.isNull(1) && row.isNull(2) && parts == within.end())
      return {};
    double flops = row.real(1);
    if (row.isNull(1)) {
      flops = row.real(2) + (parts == within.end() ? 0 : parts->second);
      untold.emplace(id, flops);
    }
    if (const auto holder = holders.find(id); holder != holders.end())
      within[holder->second] += flops;
    return {};
  };
  // Inner iterations come before the one around them.
  SONDE_TRY(forEachRow(trace,
                       "SELECT i.id, i.flops, t.flops FROM iteration i LEFT JOIN temp.flop_total t "
                       "ON t.id = i.id ORDER BY i.start_ns DESC, i.dur_ns, i.id DESC",
                       add));
  return untold;
}

}  // namespace

Result<void> countOperatorFlops(Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t any,
                   trace.queryInteger("SELECT EXISTS (SELECT 1 FROM string WHERE text = 'shapes') "
                                      "AND EXISTS (SELECT 1 FROM iteration WHERE flops IS NULL)"));
  if (any == 0)
    return {};
  SONDE_TRY(trace.exec(kSql));
  SONDE_TRY_ASSIGN(const Flops untold, untoldFlops(trace));
  SONDE_TRY(trace.exec("DROP TABLE temp.flop_total"));
  SONDE_TRY_ASSIGN(Statement set, trace.prepare("UPDATE iteration SET flops = ?1 WHERE id = ?2"));
  for (const auto& [id, flops] : untold)
    SONDE_TRY(set.bindAll(flops, id).run());
  return {};
}

}  // namespace sonde::store
