// Runs jobs of 100 tasks among the local users of a log, live on an embedded cluster and in the simulator. Measures the
// difference of their turnarounds, and how soon the first task starts if processors are free. (costa2005, section 5.2:
// 115 s longer on average, 55 s of it before the first task.)
// Each job has a window of the log, scaled down in time and width, on an empty cluster of its own; a few run side by
// side. At most 6 minutes.
// With `--manager slurm` on a real Slurm on this host (Debian's slurm-wlm and munge), which has an order of its own and
// walltimes of whole minutes.
import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { conservativeBackfilling } from '@mutirao/core/queue';
import { findHeuristic, heuristicDefaults } from '@mutirao/core/requests';
import { Prng } from '@mutirao/core/shared';
import { parseSwf, listProcessors, selectRequests } from '@mutirao/formats';
import { EmbeddedCluster, SlurmManager, type ResourceManager } from '@mutirao/managers';
import { drawTaskTimes, runGrid, SimulatedResource, summarize } from '@mutirao/sim';
import { Grid, SlurmGrid, SlurmServer, taskGroup } from '@mutirao/testkit';
import { below, median, option, plain, report, within } from './harness.ts';

/** A request of a local user; instants count from the beginning of the window. */
interface Local {
  readonly submittedAt: number;
  readonly width: number;
  readonly walltime: number;
  readonly runTime: number;
}

/** One job and the load of its cluster. */
interface Setting {
  readonly name: string;
  readonly heuristic: string;
  readonly locals: readonly Local[];
  readonly taskTimes: readonly number[];
}

/** What came of it; times count from the submission. */
interface Outcome {
  readonly turnaround: number;
  readonly firstStart: number;
}

const isSlurm = process.argv.includes('slurm');
const processors = option('processors', 8);
const jobCount = option('jobs', isSlurm ? 3 : 8);
const parallel = option('parallel', isSlurm ? 1 : 2);
const meanTaskTime = option('task-ms', 2000);
/** Offered by the local users, in percent. */
const load = option('load', 60) / 100;
/** How many times faster than in the log: there a task would last 1000 s. */
const speed = 1_000_000 / meanTaskTime;
const [taskCount, requestsMax, granularity] = [100, 2, isSlurm ? 60_000 : 100];
const walltimeMax = Math.max(1, Math.floor((18 * 3_600_000) / speed / granularity)) * granularity;
/** Local users submit from this time before the job on. */
const warmUp = 10_000;
/** Windows in which the job would take longer are left out, so that the benchmark ends within 6 minutes. */
const turnaroundMax = 65_000;
/** Local requests before the end of the job; windows with fewer are left out too. */
const localsMin = 5;
const limits = { processors, requestsMax, widthMax: processors, walltimeMax, walltimeGranularity: granularity };

const upTo = (time: number): number => Math.ceil(time / granularity) * granularity;

/** The log with times and widths scaled, and submissions spread so that the load is as wanted. */
function readLocals(file: string): Local[] {
  const trace = parseSwf(gunzipSync(readFileSync(file)), file);
  const machine = listProcessors(trace) ?? 128;
  const requests = selectRequests(trace.records, { processors: machine })
    .requests.map(({ submittedAt, width, walltime, runTime }) => {
      const scaledRun = Math.max(50, Math.round(runTime / speed));
      // What a process needs to start and end must not make it overrun its walltime.
      return {
        submittedAt,
        width: Math.max(1, Math.round((width * processors) / machine)),
        runTime: scaledRun,
        walltime: Math.min(walltimeMax, upTo(Math.max(scaledRun + 1000, walltime / speed))),
      };
    })
    .filter(({ runTime, walltime }) => runTime + 500 < walltime);
  const first = requests[0]?.submittedAt ?? 0;
  const span = (requests.at(-1)?.submittedAt ?? 0) - first;
  const work = requests.reduce((sum, { width, runTime }) => sum + width * runTime, 0);
  const stretch = work / (load * processors * span);
  return requests.map((request) => ({ ...request, submittedAt: Math.round((request.submittedAt - first) * stretch) }));
}

function simulate({ heuristic, locals, taskTimes }: Setting): Outcome {
  const found = findHeuristic(heuristic);
  if (found === undefined) throw new Error(`there is no heuristic ${heuristic}`);
  // A simulated machine begins with its first local request.
  const trace = [{ submittedAt: 0, width: 1, walltime: granularity, runTime: 1 }, ...locals];
  const [job] = runGrid(
    [new SimulatedResource({ policy: conservativeBackfilling('start-now'), processors, trace })],
    [
      {
        submittedAt: warmUp,
        taskTimes,
        picks: new Prng('picks'),
        heuristic: found,
        limits: [limits],
        conduct: 'provider',
        options: { ...heuristicDefaults, defaultTime: meanTaskTime },
      },
    ],
  );
  const starts = (job?.requests ?? []).flatMap(({ startedAt }) => (startedAt === undefined ? [] : [startedAt]));
  return { turnaround: (job?.finishedAt ?? NaN) - warmUp, firstStart: Math.min(...starts) - warmUp };
}

/**
 * Draws windows of the log until there are enough; static and adaptive in turn, tasks of equal and of unlike times in
 * turn.
 */
function drawSettings(all: readonly Local[]): Setting[] {
  const rng = new Prng(`windows ${option('seed', 1)}`);
  const last = all.at(-1)?.submittedAt ?? 0;
  const settings: Setting[] = [];
  for (let number = 0; settings.length < jobCount; number += 1) {
    const from = rng.below(Math.max(1, last - warmUp - 2 * turnaroundMax));
    const locals = all
      .filter(({ submittedAt }) => submittedAt >= from && submittedAt < from + warmUp + 2 * turnaroundMax)
      .map((request) => ({ ...request, submittedAt: request.submittedAt - from }));
    const heterogeneity = settings.length % 4 < 2 ? 1 : 2;
    const setting = {
      name: `window ${number}`,
      heuristic: settings.length % 2 === 0 ? 'static' : 'adaptive',
      locals,
      taskTimes: drawTaskTimes({ taskCount, meanTaskTime, heterogeneity }, rng.fork(`tasks ${number}`)),
    };
    const { turnaround } = simulate(setting);
    if (
      turnaround <= turnaroundMax &&
      locals.filter(({ submittedAt }) => submittedAt < warmUp + turnaround).length >= localsMin
    )
      settings.push(setting);
  }
  return settings;
}

/**
 * Submits each local request at its instant, for a user of its own, until the signal fires. @returns how late the
 * latest was.
 */
async function playLocals(
  manager: ResourceManager,
  locals: readonly Local[],
  { start, signal }: { start: number; signal: AbortSignal },
): Promise<number> {
  let latest = 0;
  for (const [index, { submittedAt, width, walltime, runTime }] of locals.entries()) {
    await sleep(Math.max(0, start + submittedAt - Date.now()), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    await manager.allocate({
      command: ['/bin/sleep', String(runTime / 1000)],
      environment: {},
      workingDirectory: '',
      userId: `local${index}`,
      width,
      walltime,
      clientRequestId: `local${index}`,
    });
    latest = Math.max(latest, Date.now() - start - submittedAt);
  }
  return latest;
}

/** A grid, the manager of its cluster for the local users, and what ends both. */
interface Site {
  readonly grid: Grid;
  readonly manager: ResourceManager;
  stop(): Promise<void>;
}

async function openEmbedded(heuristic: string): Promise<Site> {
  const grid = await Grid.start({
    clusters: [processors],
    clusterArgs: [
      '--requests-max',
      String(requestsMax),
      '--walltime-max',
      `${walltimeMax}ms`,
      '--walltime-granularity',
      `${granularity}ms`,
    ],
    providerArgs: ['--heuristic', heuristic, '--default-task-time', `${meanTaskTime}ms`],
  });
  const manager = new EmbeddedCluster({
    address: grid.clusters[0]?.address ?? '',
    token: readFileSync(join(grid.home, 'token'), 'utf8').trim(),
  });
  return { grid, manager, stop: () => grid.stop() };
}

async function openSlurm(heuristic: string): Promise<Site> {
  const slurm = await SlurmServer.start({ nodes: Math.ceil(processors / 8) });
  const site = await SlurmGrid.start(
    slurm,
    '--heuristic',
    heuristic,
    '--default-task-time',
    `${meanTaskTime}ms`,
    '--requests-max',
    String(requestsMax),
    '--walltime-max',
    `${walltimeMax}ms`,
  );
  const manager = new SlurmManager({
    user: userInfo().username,
    partition: '',
    flags: [],
    requestsMax: 1000,
    walltimeMax: 0,
    logFolder: join(slurm.folder, 'locals'),
    deadlineMs: 20_000,
    environment: { ...process.env, ...slurm.environment },
    now: () => Date.now(),
  });
  return {
    grid: site.grid,
    manager,
    stop: async () => {
      await site.stop();
      await slurm.stop();
    },
  };
}

async function runLive({ name, heuristic, locals, taskTimes }: Setting): Promise<Outcome> {
  const { grid, manager, stop } = await (isSlurm ? openSlurm(heuristic) : openEmbedded(heuristic));
  const over = new AbortController();
  try {
    const start = Date.now() + 200;
    const played = playLocals(manager, locals, { start, signal: over.signal });
    await sleep(Math.max(0, start + warmUp - Date.now()));
    const seconds = taskTimes.map((time) => String(time / 1000));
    const jobId = await grid.client.submit(
      [taskGroup('sleep {}', taskCount, { values: { $case: 'list', value: { values: seconds } } })],
      { replicasMax: 1 },
    );
    const job = await grid.client.waitEnded(jobId, 3 * turnaroundMax);
    over.abort();
    const late = await played;
    if (job.finishedCount !== taskCount) throw new Error(`${job.finishedCount} of ${taskCount} tasks finished`);
    const starts = (await grid.client.tasks(jobId))
      .flatMap(({ replicas }) => replicas.map(({ startedUnixMs }) => startedUnixMs))
      .filter((at) => at > 0);
    if (late > 200) console.error(`  ${name}: a local request was submitted ${late} ms late`);
    return { turnaround: job.endedUnixMs - job.submittedUnixMs, firstStart: Math.min(...starts) - job.submittedUnixMs };
  } finally {
    over.abort();
    manager.close();
    await stop();
  }
}

const log = join(process.env['MUTIRAO_DATA'] ?? '', 'swf', 'SDSC-SP2-1998-4.2-cln.swf.gz');
if (process.env['MUTIRAO_DATA'] === undefined || !existsSync(log)) {
  console.error(
    `MUT_DATA_MISSING ${log} is not there; expected MUTIRAO_DATA to name a folder with swf/, as of the Parallel ` +
      'Workloads Archive',
  );
  process.exit(3);
}
const settings = drawSettings(readLocals(log));
const differences: number[] = [];
const firstStarts: number[] = [];
const longer: number[] = [];
for (let from = 0; from < settings.length; from += parallel) {
  await Promise.all(
    settings.slice(from, from + parallel).map(async (setting) => {
      const simulated = simulate(setting);
      const live = await runLive(setting);
      differences.push((100 * (live.turnaround - simulated.turnaround)) / simulated.turnaround);
      longer.push(live.turnaround - simulated.turnaround);
      // The cluster had processors for the first request at once.
      if (simulated.firstStart === 0) firstStarts.push(live.firstStart / 1000);
      console.error(
        `  ${setting.name}, ${setting.heuristic}: simulated ${simulated.turnaround} ms, live ${live.turnaround} ` +
          `ms; first task after ${live.firstStart} ms (${simulated.firstStart} ms)`,
      );
    }),
  );
}
const { mean, halfInterval } = summarize(differences);
const named =
  `turnaround of ${jobCount} jobs of ${taskCount} tasks of ${meanTaskTime / 1000} s, live over simulated: mean ` +
  'difference';
const free = `submission to first task, ${firstStarts.length} jobs that found processors free: median`;
report(isSlurm ? 'live on Slurm against simulated' : 'live against simulated', [
  isSlurm ? plain(named, mean, '%') : within(named, mean, '%', 3),
  plain('95% interval of that mean, +-', halfInterval, '%'),
  plain('median difference', median(differences), '%'),
  plain('least difference', Math.min(...differences), '%'),
  plain('greatest difference', Math.max(...differences), '%'),
  plain('mean difference in time', summarize(longer).mean / 1000, 's'),
  ...(firstStarts.length === 0
    ? []
    : [
        below(free, median(firstStarts), 's', isSlurm ? 2 : 0.3),
        plain('the same, longest', Math.max(...firstStarts), 's'),
      ]),
]);
