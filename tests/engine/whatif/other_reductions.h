// Simulated data-parallel jobs whose buckets are reduced in another way. Ends the program on
// errors.
#pragma once

#include "analysis/engine/whatif/gradients/averaging.h"
#include "tests/jobsim/workloads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sonde::test {

// Calls `change(op, group, thread, bucket)` for each reduction of a bucket, by its number on the
// thread.
template <typename Change>
void forEachBucket(jobsim::Job& job, const jobsim::DataParallel& of, Change change) {
  for (jobsim::Thread& thread : job.threads) {
    std::int64_t bucket = 0;
    for (jobsim::Op& op : thread.program) {
      auto* launched = std::get_if<jobsim::LaunchCollective>(&op);
      auto* met = std::get_if<jobsim::Meet>(&op);
      if (launched != nullptr && launched->bytes == of.bucketBytes)
        change(op, launched->group, thread, bucket++);
      else if (met != nullptr && met->bytes == of.bucketBytes)
        change(op, met->group, thread, bucket++);
    }
  }
}

inline int groupOfPlaces(jobsim::Job& job, const std::vector<std::size_t>& places) {
  jobsim::Group made{.name = "average", .ranks = {}, .link = job.groups.front().link};
  for (const std::size_t place : places) {
    made.name += "-" + std::to_string(place);
    made.ranks.push_back(static_cast<int>(place));
  }
  for (std::size_t i = 0; i < job.groups.size(); ++i)
    if (job.groups[i].name == made.name)
      return static_cast<int>(i);
  job.groups.push_back(made);
  return static_cast<int>(job.groups.size() - 1);
}

// By the groups of each iteration in place of all ranks.
inline jobsim::Job grouped(jobsim::Job job, const jobsim::DataParallel& of, std::int64_t size) {
  forEachBucket(
      job,
      of,
      [&](const jobsim::Op&, int& group, const jobsim::Thread& thread, std::int64_t bucket) {
        const std::int64_t iteration = bucket / of.buckets;
        for (const auto& places : engine::whatif::averagingGroups(of.ranks, size, iteration))
          if (std::find(places.begin(), places.end(), thread.rank) != places.end())
            group = groupOfPlaces(job, places);
      });
  return job;
}

// By each rank alone, which takes as long as a group of this size.
inline jobsim::Job withoutWaits(jobsim::Job job,
                                const jobsim::DataParallel& of,
                                std::int64_t size) {
  jobsim::Group group = job.groups.front();
  group.ranks.resize(static_cast<std::size_t>(size));
  const jobsim::Ns ns = transferNs(group, jobsim::Collective::Allreduce, of.bucketBytes);
  forEachBucket(job, of, [&](jobsim::Op& op, int&, const jobsim::Thread&, std::int64_t) {
    if (const auto* launched = std::get_if<jobsim::LaunchCollective>(&op))
      op = jobsim::Launch{"average", launched->callNs, launched->stream, ns};
    else
      op = jobsim::Sleep{"average", ns};
  });
  return job;
}

// By all ranks, in this time.
inline jobsim::Job reducedIn(jobsim::Job job, const jobsim::DataParallel& of, double ns) {
  jobsim::Group group = job.groups.front();
  group.name = "other";
  group.link = {.latencyNs = static_cast<jobsim::Ns>(ns / 2 / (of.ranks - 1)), .bytesPerUs = 0};
  job.groups.push_back(group);
  forEachBucket(job, of, [&](const jobsim::Op&, int& to, const jobsim::Thread&, std::int64_t) {
    to = static_cast<int>(job.groups.size() - 1);
  });
  return job;
}

}  // namespace sonde::test
