#include "gui/trace/trace_reader.h"

#include "analysis/model/words.h"
#include "gui/trace/qtext.h"
#include "gui/trace/reader_details.h"
#include "gui/trace/reader_skeleton.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::gui {
namespace {

// On the job's clock.
std::vector<engine::correction::CostSpan> costsOf(const engine::correction::Timeline& times,
                                                  const HostClock& clock,
                                                  const WindowRequest& request) {
  auto costs =
      engine::correction::costSpans(times,
                                    clock.toHost(request.beginNs),
                                    clock.toHost(request.endNs),
                                    std::max<std::int64_t>(std::llround(request.nsPerPixel), 1));
  for (engine::correction::CostSpan& span : costs) {
    span.beginNs = clock.toJob(span.beginNs);
    span.endNs = clock.toJob(span.endNs);
  }
  return costs;
}

}  // namespace

Result<Skeleton> TraceReader::open(const QStringList& paths, const OpeningWatch& watch) {
  SONDE_TRY_ASSIGN(auto opened, openForViewing(paths, watch));
  SONDE_TRY_ASSIGN(auto read, readSkeleton(opened.database));
  texts_.clear();
  counters_.clear();
  collectives_.clear();
  communication_.reset();
  trackOf_.clear();
  hitsOf_.clear();
  trace_ = std::move(opened);
  read.skeleton.opening = skeleton_.opening + 1;
  skeleton_ = std::move(read.skeleton);
  clocks_ = std::move(read.clocks);
  skeleton_.file = QString::fromStdString(trace_->database.path().string());
  skeleton_.unfinished = trace_->unfinished;
  for (int track = 0; track < static_cast<int>(skeleton_.tracks.size()); ++track) {
    const TrackInfo& info = skeleton_.tracks[static_cast<std::size_t>(track)];
    trackOf_.insert({static_cast<int>(info.owner), info.id}, track);
  }
  return skeleton_;
}

const HostClock& TraceReader::clockOf(int track) const {
  const int process = skeleton_.tracks.at(static_cast<std::size_t>(track)).process;
  return clocks_.at(static_cast<std::size_t>(process));
}

const engine::correction::Timeline& TraceReader::timesOf(int track,
                                                         const WindowRequest& request) const {
  static const engine::correction::Timeline kAsRecorded;
  const TrackInfo& info = skeleton_.tracks.at(static_cast<std::size_t>(track));
  if (request.correction != nullptr && info.owner == Owner::Thread)
    return request.correction->timesOfThread(info.id);
  if (request.correction != nullptr && info.owner == Owner::Stream)
    return request.correction->timesOfStream(info.id);
  return kAsRecorded;
}

int TraceReader::trackOf(Owner owner, std::int64_t id) const {
  return trackOf_.value({static_cast<int>(owner), id}, -1);
}

Result<QString> TraceReader::text(std::uint32_t stringId) {
  const auto kept = texts_.constFind(stringId);
  if (kept != texts_.constEnd())
    return *kept;
  SONDE_TRY_ASSIGN(auto query, database().prepare("SELECT text FROM string WHERE id = ?1"));
  query.bindAll(stringId);
  SONDE_TRY_ASSIGN(const bool row, query.step());
  const std::string_view read = row ? query.text(0) : std::string_view("(unnamed)");
  return *texts_.insert(stringId, qtext(read));
}

Result<bool> TraceReader::isCollective(std::uint32_t nameId) {
  const auto kept = collectives_.constFind(nameId);
  if (kept != collectives_.constEnd())
    return *kept;
  SONDE_TRY_ASSIGN(const QString name, text(nameId));
  if (!communication_) {
    SONDE_TRY_ASSIGN(communication_, store::CommunicationKernels::read(database()));
  }
  return *collectives_.insert(nameId, communication_->holds(name.toStdString()));
}

Result<void> TraceReader::read(LineQuery& query,
                               int track,
                               const Line& line,
                               const WindowRequest& request,
                               const LineQuery::Visit& visit) {
  const TrackInfo& info = skeleton_.tracks.at(static_cast<std::size_t>(track));
  if (info.owner != Owner::Stream)
    return query.read(info, line, clockOf(track), request, visit);
  Result<void> named;
  SONDE_TRY(query.read(info, line, clockOf(track), request, [&](const Block& read) {
    Block block = read;
    if (block.kind == Kind::Kernel && named) {
      const auto collective = isCollective(block.nameId);
      if (!collective)
        named = collective.error();
      else if (*collective)
        block.kind = Kind::CollectiveKernel;
    }
    visit(block);
  }));
  return named;
}

Result<void> TraceReader::readTrack(LineQuery& query,
                                    int track,
                                    const WindowRequest& request,
                                    const LineQuery::Visit& visit,
                                    std::int64_t deepest) {
  for (const Line& line : skeleton_.tracks.at(static_cast<std::size_t>(track)).lines) {
    if (line.depth > deepest)
      continue;
    SONDE_TRY(read(query, track, line, request, visit));
    if (query.cancelled())
      return cancelled();
  }
  return {};
}

Result<WindowReply> TraceReader::window(const WindowRequest& request,
                                        const Cancellation& cancellation) {
  WindowReply reply;
  reply.request = request;
  LineQuery query(database(), cancellation);
  for (const int at : request.tracks) {
    const TrackInfo& track = skeleton_.tracks.at(static_cast<std::size_t>(at));
    TrackBlocks blocks{at, {}, {}};
    if (track.counter) {
      SONDE_TRY_ASSIGN(blocks.curve,
                       counters_.read(database(), track, clockOf(at), request, cancellation));
      reply.tracks.push_back(std::move(blocks));
      continue;
    }
    SONDE_TRY(
        readTrack(query, at, request, [&](const Block& block) { blocks.blocks.push_back(block); }));
    blocks.costs = costsOf(timesOf(at, request), clockOf(at), request);
    if (track.owner != Owner::Thread)  // packed rows come mixed
      std::stable_sort(blocks.blocks.begin(),
                       blocks.blocks.end(),
                       [](const Block& a, const Block& b) { return a.row < b.row; });
    for (const Block& block : blocks.blocks) {
      if (block.nameId == 0 || reply.names.contains(block.nameId))
        continue;
      SONDE_TRY_ASSIGN(auto name, text(block.nameId));
      reply.names.insert(block.nameId, std::move(name));
    }
    reply.tracks.push_back(std::move(blocks));
  }
  return reply;
}

Result<EventDetails> TraceReader::details(const EventRef& event) {
  EventDetails details;
  SONDE_TRY_ASSIGN(details.event, found(event));
  SONDE_TRY_ASSIGN(details.arrows, launches(event));
  SONDE_TRY_ASSIGN(details.sections,
                   readDetails(database(), skeleton_, details.event, details.arrows));
  SONDE_TRY(addLinks(details));
  return details;
}

}  // namespace sonde::gui
