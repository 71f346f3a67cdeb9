#include "analysis/finalise/backward_links.h"

namespace sonde::store {

Result<void> linkBackward(Database& trace) {
  SONDE_TRY_ASSIGN(
      const std::int64_t any,
      trace.queryInteger("SELECT EXISTS (SELECT 1 FROM string WHERE text = 'backward_of')"));
  if (any == 0)
    return {};
  return trace.exec(
      "CREATE TEMP TABLE maker(process_id, node, slice_id, PRIMARY KEY(process_id, node)) "
      "WITHOUT ROWID;"
      "INSERT OR REPLACE INTO temp.maker SELECT t.process_id, a.value, s.id FROM arg a "
      "JOIN slice s ON s.id = a.owner_id JOIN thread t ON t.id = s.thread_id "
      "WHERE a.owner = 'slice' AND a.key_id = (SELECT id FROM string WHERE text = 'autograd_node') "
      "ORDER BY s.start_ns, s.depth;"
      "INSERT INTO link SELECT 'fwdbwd', 'slice', m.slice_id, 'slice', s.id FROM arg a "
      "JOIN slice s ON s.id = a.owner_id JOIN thread t ON t.id = s.thread_id "
      "JOIN temp.maker m ON m.process_id = t.process_id AND m.node = a.value "
      "WHERE a.owner = 'slice' AND a.key_id = (SELECT id FROM string WHERE text = 'backward_of');"
      "DROP TABLE temp.maker;");
}

}  // namespace sonde::store
