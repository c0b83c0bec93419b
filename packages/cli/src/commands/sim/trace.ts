import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { replayRequests, type ReplayedRequest } from '@mutirao/core/queue';
import type { SwfRequest } from '@mutirao/formats';
import { measureTrace, scaleSubmissions, slowdownThreshold, type TraceMetrics } from '@mutirao/sim';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { renderPairs } from '../../output/table.ts';
import { tell } from '../../output/tell.ts';
import { showDuration } from '../../output/units.ts';
import { readFraction, readWhole, secondsOf } from '../../simulation/numbers.ts';
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
}

export function define(command: Command, act: Act): void {
  command
    .argument('<file>', 'a log in the Standard Workload Format, gzipped or not')
    .option('--policy <name>', 'fcfs, easy or conservative', 'conservative')
    .option('--variant <name>', 'what conservative backfilling does after an early end: start-now (default) or reinsert')
    .option('--procs <count>', 'processors of the machine (default: what the log says)')
    .option('--load-factor <number>', 'multiplies submission times, so that less is more load', '1')
    .option('--kill', 'end a request at its requested time (default: its walltime is its run time, if that is longer)')
    .option('--starts <file>', 'write job_id,submit,start,end in whole seconds of every request')
    .action((file: string, options: TraceOptions) => act((context) => Promise.resolve(simulateTrace(context, file, options))));
}

/** Replays a log on a simulated machine. */
export function simulateTrace(context: CommandContext, file: string, options: TraceOptions): ExitStatus {
  const policy = findPolicy(options.policy, options.variant);
  const processors = options.procs === undefined ? undefined : readWhole('--procs', options.procs, { min: 1, max: processorsMax });
  const factor = readFraction('--load-factor', options.loadFactor, { min: 0.001, max: 1000 });
  const read = readTrace({ file, path: resolve(context.directory, file), processors, killsAtRequestedTime: options.kill === true });
  context.output.note(describeTrace(read));
  const requests = scaleSubmissions(read.requests, factor);
  const results = replayRequests(policy, read.processors, requests);
  if (options.starts !== undefined) writeStarts(resolve(context.directory, options.starts), requests, results);
  const metrics = measureTrace(requests.map((request, index) => ({ ...request, startedAt: (results[index] as ReplayedRequest).startedAt })), read.processors);
  tell(context.output, {
    json: () => documentOf(read, policy.name, factor, metrics),
    table: () => tableOf(policy.name, metrics),
    quiet: () => [],
  });
  return 0;
}

function writeStarts(path: string, requests: readonly SwfRequest[], results: readonly ReplayedRequest[]): void {
  const rows = requests.map(({ jobId, submittedAt, runTime }, index) => {
    const { startedAt } = results[index] as ReplayedRequest;
    return [jobId, ...[submittedAt, startedAt, startedAt + runTime].map((at) => Math.floor(at / 1000))].join(',');
  });
  try {
    writeFileSync(path, `job_id,submit,start,end\n${rows.join('\n')}\n`);
  } catch (error) {
    throw new MutiraoError('MUT_BAD_REQUEST', `cannot write ${path}: ${(error as Error).message}`, { cause: error });
  }
}

function documentOf(read: TraceFile, policy: string, loadFactor: number, metrics: TraceMetrics): JsonOf<typeof shapes.trace_replay> {
  return {
    trace: traceJson(read), policy, load_factor: loadFactor, offered_load: metrics.offeredLoad, utilisation: metrics.utilisation,
    mean_wait_s: secondsOf(metrics.meanWait), wait_s_max: secondsOf(metrics.waitMax), mean_bounded_slowdown: metrics.meanBoundedSlowdown,
    bounded_slowdown_threshold_s: secondsOf(slowdownThreshold), makespan_s: secondsOf(metrics.makespan),
  };
}

function tableOf(policy: string, metrics: TraceMetrics): string[] {
  return renderPairs([
    ['policy', policy],
    ['offered load', `${(100 * metrics.offeredLoad).toFixed(1)} %`],
    ['utilisation', `${(100 * metrics.utilisation).toFixed(1)} %`],
    ['mean wait', showDuration(metrics.meanWait)],
    ['longest wait', showDuration(metrics.waitMax)],
    ['mean bounded slowdown', `${metrics.meanBoundedSlowdown.toFixed(2)} (threshold ${showDuration(slowdownThreshold)})`],
    ['makespan', showDuration(metrics.makespan)],
  ]);
}
