import { resolve } from 'node:path';
import type { Command } from 'commander';

import {
  replayByScores,
  replayRequests,
  usualLeadMax,
  type QueuePolicy,
  type ReplayedRequest,
} from '@mutirao/core/queue';
import type { SwfRequest } from '@mutirao/formats';
import { measureTrace, scaleSubmissions, slowdownThreshold, type TraceMetrics } from '@mutirao/sim';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { renderPairs } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration } from '../../output/units.ts';
import { writeNamed } from '../../output/write-named.ts';
import { readFraction, readWhole, findSeconds } from '../../simulation/numbers.ts';
import { findPolicy } from '../../simulation/policies.ts';
import { describeTrace, processorsMax, readTrace, traceJson, type TraceFile } from '../../simulation/read-trace.ts';

/** What `sim trace` takes. */
export interface TraceOptions {
  readonly policy: string;
  readonly variant?: string;
  readonly procs?: string;
  readonly loadFactor: string;
  readonly starts?: string;
  readonly kill?: true;
  readonly bucWeight?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<file>', 'a log in the Standard Workload Format (SWF), may be gzipped')
    .option('--policy <name>', 'queue policy: fcfs, easy or conservative', 'conservative')
    .option(
      '--variant <name>',
      'conservative backfilling after an early end: start-now or reinsert (default: start-now)',
    )
    .option('--procs <count>', 'processors of the machine (default: as the log says)')
    .option('--load-factor <number>', 'multiply submission times; below 1 means more load', '1')
    .option('--kill', 'end a request at its requested time (default: extend the walltime to the run time)')
    .option(
      '--buc-weight <seconds>',
      "order the queue by users' scores (BUC); a point of score counts as 0.8 of this much waiting",
    )
    .option('--starts <file>', 'write job_id,submit,start,end of every request, in whole seconds')
    .action((file: string, options: TraceOptions) =>
      act((context) => Promise.resolve(simulateTrace(context, file, options))),
    );
}

/** Replays a log on a simulated machine. */
export function simulateTrace(context: CommandContext, file: string, options: TraceOptions): ExitStatus {
  const policy = findPolicy(options.policy, options.variant);
  const processors =
    options.procs === undefined ? undefined : readWhole('--procs', options.procs, { min: 1, max: processorsMax });
  const factor = readFraction('--load-factor', options.loadFactor, { min: 0.001, max: 1000 });
  const read = readTrace({
    file,
    path: resolve(context.directory, file),
    processors,
    killsAtRequestedTime: options.kill === true,
  });
  context.output.note(describeTrace(read));
  const requests = scaleSubmissions(read.requests, factor);
  const weight = options.bucWeight === undefined ? undefined : readWeight(options.bucWeight);
  const results =
    weight === undefined
      ? replayRequests(policy, read.processors, requests)
      : replayScored(policy, weight, read.processors, requests);
  const name = weight === undefined ? policy.name : `${policy.name} by scores, K = ${weight}`;
  if (options.starts !== undefined) writeStarts(resolve(context.directory, options.starts), requests, results);
  const metrics = measureTrace(
    requests.map((request, index) => ({ ...request, startedAt: (results[index] as ReplayedRequest).startedAt })),
    read.processors,
  );
  printResult(context.output, {
    json: () => getDocument(read, name, factor, metrics),
    table: () => getTable(name, metrics),
    quiet: () => [],
  });
  return 0;
}

/** @throws {MutiraoError} MUT_BAD_REQUEST for a weight of nothing. */
function readWeight(text: string): number {
  return readWhole('--buc-weight', text, { min: 1, max: 1_000_000 });
}

/**
 * With the bound on leads that a cluster has. A request without a requested time counts as one that used its walltime.
 */
function replayScored(
  policy: QueuePolicy,
  weight: number,
  processors: number,
  requests: readonly SwfRequest[],
): readonly ReplayedRequest[] {
  const trace = requests.map((request) => ({ ...request, userId: String(request.userId) }));
  return replayByScores(policy, { weight, leadMax: usualLeadMax(weight) }, processors, trace).requests;
}

function writeStarts(path: string, requests: readonly SwfRequest[], results: readonly ReplayedRequest[]): void {
  const rows = requests.map(({ jobId, submittedAt, runTime }, index) => {
    const { startedAt } = results[index] as ReplayedRequest;
    return [jobId, ...[submittedAt, startedAt, startedAt + runTime].map((at) => Math.floor(at / 1000))].join(',');
  });
  writeNamed(path, `job_id,submit,start,end\n${rows.join('\n')}\n`);
}

function getDocument(
  read: TraceFile,
  policy: string,
  loadFactor: number,
  metrics: TraceMetrics,
): JsonOf<typeof shapes.trace_replay> {
  return {
    trace: traceJson(read),
    policy,
    load_factor: loadFactor,
    offered_load: metrics.offeredLoad,
    utilisation: metrics.utilisation,
    mean_wait_s: findSeconds(metrics.meanWait),
    wait_s_max: findSeconds(metrics.waitMax),
    mean_bounded_slowdown: metrics.meanBoundedSlowdown,
    bounded_slowdown_threshold_s: findSeconds(slowdownThreshold),
    makespan_s: findSeconds(metrics.makespan),
  };
}

function getTable(policy: string, metrics: TraceMetrics): string[] {
  return renderPairs([
    ['policy', policy],
    ['offered load', `${(100 * metrics.offeredLoad).toFixed(1)} %`],
    ['utilisation', `${(100 * metrics.utilisation).toFixed(1)} %`],
    ['mean wait', showDuration(metrics.meanWait)],
    ['longest wait', showDuration(metrics.waitMax)],
    [
      'mean bounded slowdown',
      `${metrics.meanBoundedSlowdown.toFixed(2)} (threshold ${showDuration(slowdownThreshold)})`,
    ],
    ['makespan', showDuration(metrics.makespan)],
  ]);
}
