// The simulator: whole logs, samples of grid jobs, decisions, and how time grows with the trace and with the queue.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  replayRequests,
  RequestPlan,
  ResourceReplay,
  type QueuePolicy,
} from '@mutirao/core/queue';
import { adaptiveHeuristic, type RequestFacts } from '@mutirao/core/requests';
import { Prng } from '@mutirao/core/shared';
import { parseSwf, listProcessors, selectRequests, type SwfRequest } from '@mutirao/formats';
import { LocalHistory, sampleJob } from '@mutirao/sim';
import { below, median, option, plain, report, type Figure } from './harness.ts';

const data = process.env['MUTIRAO_DATA'];
const reinsert = conservativeBackfilling('reinsert');
const startNow = conservativeBackfilling('start-now');
const queueMax = option('queue', 16_000);
const rounds = option('rounds', 5);

interface Log {
  readonly requests: readonly SwfRequest[];
  readonly processors: number;
}

function read(name: string): Log {
  const file = join(data ?? '', 'swf', `${name}.swf.gz`);
  const trace = parseSwf(gunzipSync(readFileSync(file)), file);
  const processors = listProcessors(trace) ?? 0;
  return { requests: selectRequests(trace.records, { processors }).requests, processors };
}

/** Milliseconds of this thread's processor time, so that a busy machine does not count. */
function timed(work: () => void): number {
  const { user, system } = process.cpuUsage();
  work();
  const spent = process.cpuUsage({ user, system });
  return (spent.user + spent.system) / 1000;
}

function wholeLog(name: string, most: number): Figure[] {
  const start = performance.now();
  const processorTime = timed(() => {
    const { requests, processors } = read(name);
    replayRequests(reinsert, processors, requests);
  });
  return [
    below(`${name}: reading and reinsert, cold`, (performance.now() - start) / 1000, 's', most),
    plain(`${name}: the same, processor time`, processorTime / 1000, 's'),
  ];
}

function samples(log: Log): Figure {
  const history = new LocalHistory({ policy: startNow, processors: log.processors, trace: log.requests });
  const scenario = {
    heuristic: adaptiveHeuristic,
    taskCount: 100,
    meanTaskTime: 1_000_000,
    heterogeneity: 1,
    requestsMax: 3,
    widthMax: 128,
    walltimeMax: 64_800_000,
  } as const;
  const count = 200;
  const time = timed(() => {
    for (let run = 0; run < count; run += 1) sampleJob(history, scenario, { seed: 'bench', run });
  });
  return below(`a grid job of 100 x 1000 s on SP2, mean of ${count}`, time / count, 'ms', 5);
}

function decision(): Figure {
  const prng = new Prng('decision');
  const plan = new RequestPlan(128, 0);
  for (let id = 0; id < 10_000; id += 1) {
    plan.add(id, 1 + prng.below(64), 1000 * (1 + prng.below(36_000)));
    plan.place(id, plan.findEarliestPlace(plan.getWaiting(id), 0));
  }
  const requests = [...plan.waiting.values()].map(({ id, width, walltime, startsAt = 0 }) => ({
    managerRequestId: String(id),
    userId: 'u',
    width,
    walltime,
    status: startsAt === 0 ? ('running' as const) : ('queued' as const),
    submittedAt: 0,
    startsAt: startsAt + 1000,
    endedAt: 0,
    endReason: '',
    clientRequestId: '',
  }));
  const facts: RequestFacts = {
    now: 1000,
    limits: { processors: 128, requestsMax: 6, widthMax: 128, walltimeMax: 64_800_000, walltimeGranularity: 1000 },
    listing: { at: 1000, processorsFree: plan.profile.freeAt(0), requests },
    pending: [],
    served: [],
    taskTimes: undefined,
    demand: { pendingTasks: 10_000, processors: 1, deadline: undefined },
  };
  adaptiveHeuristic.draft(facts);
  const times = Array.from({ length: 20 }, () =>
    timed(() => {
      adaptiveHeuristic.draft(facts);
    }),
  );
  return below('an adaptive decision on a queue of 10,000', median(times), 'ms', 10);
}

/** The log `count` times, one after the other. */
function repeated({ requests }: Log, count: number): SwfRequest[] {
  const span = (requests.at(-1)?.submittedAt ?? 0) + 1000;
  return Array.from({ length: count }, (_, index) =>
    requests.map((request) => ({ ...request, submittedAt: request.submittedAt + index * span })),
  ).flat();
}

function doublingTrace(log: Log): Figure {
  const times = [1, 2, 4].map((count) => {
    const trace = repeated(log, count);
    return Math.min(
      ...Array.from({ length: rounds }, () =>
        timed(() => {
          replayRequests(reinsert, log.processors, trace);
        }),
      ),
    );
  });
  return below(
    'doubling SP2 under reinsert: time grows',
    Math.max((times[1] ?? 0) / (times[0] ?? 1), (times[2] ?? 0) / (times[1] ?? 1)),
    'times',
    2.2,
  );
}

/** A resource with `waiting` requests in its queue, and a source of further requests. */
function crowded(policy: QueuePolicy, waiting: number): { resource: ResourceReplay; arrive(now: number): void } {
  const prng = new Prng('queue');
  const resource = new ResourceReplay(policy, new RequestPlan(128, 0));
  let id = 0;
  const arrive = (now: number): void => {
    const walltime = 1000 * (1 + prng.below(36_000));
    resource.submit(
      { id: id++, width: 1 + prng.below(64), walltime, runTime: Math.max(1, Math.round(walltime * prng.fraction())) },
      now,
    );
  };
  while (resource.plan.waiting.size < waiting) {
    arrive(0);
    resource.startDue(0);
  }
  return { resource, arrive };
}

/** Microseconds per event where each request that starts is followed by an arrival, so that the queue stays as long. */
function timePerEvent(policy: QueuePolicy, waiting: number, ends: number): number {
  const { resource, arrive } = crowded(policy, waiting);
  let events = 0;
  const time = timed(() => {
    for (let ended = 0; ended < ends; ) {
      const now = resource.nextInstant;
      for (let missing = waiting - resource.plan.waiting.size; missing > 0; missing -= 1, events += 1) arrive(now);
      const count = resource.endDue(now).length;
      ended += count;
      events += count;
      resource.startDue(now);
    }
  });
  return (1000 * time) / events;
}

function doublingQueue(policy: QueuePolicy, ends: number, most: number): Figure[] {
  timePerEvent(policy, 1000, ends);
  const sizes: number[] = [];
  for (let size = 1000; size <= queueMax; size *= 2) sizes.push(size);
  // The least of several: what disturbs a measurement on a busy machine only ever adds to it. All sizes in turn, so
  // that what lasts
  // for a while disturbs none of them more than another.
  const times = sizes.map(() => Infinity);
  for (let round = 0; round < 2 * rounds; round += 1) {
    sizes.forEach((size, index) => {
      times[index] = Math.min(times[index] ?? Infinity, timePerEvent(policy, size, ends));
    });
  }
  const growths = times.slice(1).map((time, index) => time / (times[index] ?? 1));
  return [
    below(`doubling the queue under ${policy.name}: time per event grows`, Math.max(...growths), 'times', most),
    ...sizes.map((size, index) => plain(`  ${policy.name}, ${size} waiting, per event`, times[index] ?? 0, 'us')),
  ];
}

if (data === undefined || !existsSync(join(data, 'swf'))) {
  console.error(
    'Set MUTIRAO_DATA to a folder that holds swf/NAME.swf.gz of the Parallel Workloads Archive ' +
      '(www.cs.huji.ac.il/labs/parallel/workload).',
  );
  process.exit(3);
}
const figures = [...wholeLog('SDSC-SP2-1998-4.2-cln', 1), ...wholeLog('SDSC-BLUE-2000-4.2-cln', 4)];
const sp2 = read('SDSC-SP2-1998-4.2-cln');
figures.push(samples(sp2), decision(), doublingTrace(sp2));
for (const policy of [firstComeFirstServed, easyBackfilling, startNow])
  figures.push(...doublingQueue(policy, 10_000, 1.3));
figures.push(...doublingQueue(reinsert, 100, 2.3));
report('simulator', figures);
