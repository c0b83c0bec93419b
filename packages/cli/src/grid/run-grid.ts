import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { isErrorCode, MutiraoError, type ErrorCode } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';
import { killGroup, startProcess } from '@mutirao/runtime/processes';

import type { CommandContext } from '../context.ts';
import { endLeftovers } from './leftovers.ts';
import { boundLogs } from './bound-logs.ts';
import { logPath } from './log-path.ts';
import { clusterName, embeddedManager, GridPlan, noManager, type GridSize } from './plan.ts';
import { findPage } from './page.ts';
import {
  claimHome,
  findGridRecord,
  findProcessSpace,
  gridRecordPath,
  isSupervised,
  type ClusterRecord,
  type GridRecord,
} from './record.ts';
import { removeOwnRecord, untilRecordLost } from './own-record.ts';
import { quoteEnd } from './start-failure.ts';
import { Supervisor, type Host, type ProcessPlan } from './supervisor.ts';

/** How long a process may take to end. */
const usualEndMax = 10_000;

/** How long a process may take until it listens. */
const readyMax = 30_000;

/**
 * Runs a grid until the context's signal fires, then stops all of it.
 *
 * @param onReady called once, when everything listens.
 * @throws {MutiraoError} MUT_ALREADY_RUNNING when the home folder has a grid, MUT_UNREACHABLE when a process does not
 * come up.
 */
export async function runGrid(
  context: CommandContext,
  size: GridSize,
  onReady: (grid: GridRecord) => void,
): Promise<void> {
  await withGrid(context, size, {
    endMax: usualEndMax,
    start: startAll,
    work: async (grid) => {
      onReady(grid);
      await Promise.race([untilAborted(context.signal), untilRecordLost(context.home, grid.pid, context)]);
      if (!context.signal.aborted)
        throw new MutiraoError(
          'MUT_HOME_UNUSABLE',
          `the home folder ${context.home} was removed, unmounted or taken by another grid; this grid stops`,
        );
    },
  });
}

/** What was started of a grid. */
type StartedGrid = Pick<GridRecord, 'broker' | 'clusters' | 'reservations' | 'page'>;

/** What a grid is for. */
export interface GridCourse {
  /** How long a process may take to end. */
  readonly endMax: number;
  /** Starts everything, each part as soon as what it dials is there. @returns undefined when it was interrupted. */
  start(starting: Starting): Promise<StartedGrid | undefined>;
  /** What is done with it, when everything listens; then it is stopped. */
  work(grid: GridRecord): Promise<void>;
}

/**
 * Runs a grid in the context's home folder for as long as `course.work` takes. @throws {MutiraoError} as `runGrid`, and
 * what `work` throws.
 */
export async function withGrid(context: CommandContext, size: GridSize, course: GridCourse): Promise<void> {
  const processSpace = findProcessSpace();
  let grid: GridRecord = {
    pid: process.pid,
    host: hostname(),
    ...(processSpace === undefined ? {} : { processSpace }),
    startedUnixMs: context.clock.now(),
    broker: '',
    clusters: [],
    machines: size.machines,
    processes: {},
  };
  await takeHome(context, grid);
  grid = findGridRecord(context.home) ?? grid;
  const supervisor = new Supervisor(liveHost(context.home, size), context.output);
  const save = (): void => {
    const { starting: _, ...known } = grid;
    const starting = supervisor.starting();
    grid = { ...known, processes: supervisor.processes(), ...(starting.length === 0 ? {} : { starting }) };
    writeAtomic(gridRecordPath(context.home), `${JSON.stringify(grid)}\n`);
  };
  supervisor.onChange = save;
  try {
    const found = await course.start({ context, size, supervisor });
    if (found !== undefined) {
      grid = { ...grid, ...found };
      save();
      await course.work(grid);
    }
  } finally {
    supervisor.onChange = () => undefined;
    await stopAll(supervisor, course.endMax);
    removeOwnRecord(context.home, grid.pid);
  }
}

async function takeHome(context: CommandContext, grid: GridRecord): Promise<void> {
  if (claimHome(context.home, grid)) return;
  const former = findGridRecord(context.home);
  if (former !== undefined && isSupervised(former)) {
    throw new MutiraoError(
      'MUT_ALREADY_RUNNING',
      `a grid already runs in ${context.home} (process ${former.pid} on ${former.host ?? 'this host'}); ` +
        '"mutirao down" stops it, --home names another folder',
    );
  }
  if (former !== undefined) await endLeftovers(context, former);
  rmSync(gridRecordPath(context.home), { force: true });
  if (!claimHome(context.home, grid))
    throw new MutiraoError('MUT_ALREADY_RUNNING', `another grid is just starting in ${context.home}`);
}

/** A grid that is being started. */
export interface Starting {
  readonly context: CommandContext;
  readonly size: GridSize;
  readonly supervisor: Supervisor;
}

async function startAll(starting: Starting): Promise<StartedGrid | undefined> {
  const {
    context: { home, signal },
    size,
  } = starting;
  const plan = new GridPlan(home, size);
  const page = size.hasPage === true ? startPage(starting, plan) : undefined;
  // Its failure is met at the end, unless another part fails before.
  page?.catch(() => undefined);
  const reservations = size.hasReservations === true ? await startPart(starting, plan.reservations('local')) : '';
  const clusters = Promise.all(
    size.clusters.map(async (processors, index): Promise<ClusterRecord> => {
      const name = clusterName(index);
      const cluster = await startPart(starting, plan.cluster(name, processors, reservations));
      return {
        name,
        processors,
        cluster,
        provider: await startPart(
          starting,
          plan.provider(name, embeddedManager(cluster, reservations === '' ? '' : name)),
        ),
      };
    }),
  );
  // Machines that were added in a former life are kept again, whatever this one starts on its own host.
  const hasKept = existsSync(join(home, 'providers', 'lab', 'machines.json'));
  const lab = size.machines === 0 && !hasKept ? undefined : startPart(starting, plan.provider('lab', noManager));
  const [foundClusters, foundLab] = await Promise.all([clusters, lab]);
  if (signal.aborted) return undefined;
  const providers = foundClusters.map(({ name, provider }) => ({ name, address: provider }));
  if (foundLab !== undefined) {
    providers.push({ name: 'lab', address: foundLab });
    for (let index = 1; index <= size.machines; index += 1)
      await startPart(starting, plan.agent(`lab/m${index}`, foundLab));
  }
  const broker = await startPart(starting, plan.broker(providers, reservations));
  requireSettings(starting);
  return signal.aborted ? undefined : { broker, clusters: foundClusters, ...given({ reservations, page: await page }) };
}

/** Whether all processes take their settings; the page says so itself. @throws {MutiraoError} MUT_BAD_CONFIG */
function requireSettings(starting: Starting): void {
  const refusing = starting.supervisor.findRefusing();
  if (refusing !== undefined && refusing !== 'web') throw describeFailure(starting, refusing);
}

/** The addresses that there are. */
function given(addresses: {
  readonly reservations: string;
  readonly page: string | undefined;
}): Pick<GridRecord, 'reservations' | 'page'> {
  return Object.fromEntries(Object.entries(addresses).filter(([, address]) => address !== undefined && address !== ''));
}

/**
 * Starts the page in parallel; the grid runs without it if it does not start. @throws {MutiraoError}
 * MUT_BAD_CONFIG for a setting that it does not have.
 */
async function startPage({ context, supervisor }: Starting, plan: GridPlan): Promise<string | undefined> {
  if ((await supervisor.start(plan.web(), readyMax)) === undefined) {
    if (context.signal.aborted || supervisor.isStopping) return undefined;
    const failure = describeFailure({ context, supervisor }, 'web');
    if (failure.code === 'MUT_BAD_CONFIG') throw failure;
    context.output.note(`The grid runs without the web page: ${failure.message}`);
    return undefined;
  }
  return findPage(context.home)?.url;
}

/** Starts a process and answers its address. @throws {MutiraoError} MUT_UNREACHABLE when it does not come up. */
export async function startPart({ context, supervisor }: Starting, plan: ProcessPlan): Promise<string> {
  if (context.signal.aborted) return '';
  const address = await supervisor.start(plan, readyMax);
  if (address === undefined && !context.signal.aborted) {
    throw describeFailure({ context, supervisor }, plan.name);
  }
  return address ?? '';
}

/**
 * The broker goes first, so that it journals no losses; clusters last, so that providers can release what they hold.
 */
async function stopAll(supervisor: Supervisor, endMax: number): Promise<void> {
  await supervisor.stop((name) => name === 'broker', endMax);
  await supervisor.stop((name) => name.startsWith('provider-') || name.startsWith('agent-'), endMax);
  await supervisor.stop(() => true, endMax);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener(
        'abort',
        () => {
          resolve();
        },
        { once: true },
      );
  });
}

/** Why a process does not listen: how it ended, or that it is slow. */
function describeFailure(
  { context, supervisor }: Pick<Starting, 'context' | 'supervisor'>,
  name: string,
): MutiraoError {
  const log = logPath(context.home, name);
  if (supervisor.starting().includes(name))
    return new MutiraoError(
      'MUT_UNREACHABLE',
      `${name} did not listen within ${readyMax / 1000} s; this host may be busy. Log: ${log}, ${quoteEnd(log)}`,
    );
  const { code, words } = findEnd(log);
  return new MutiraoError(code, `${name} did not start: ${words}`);
}

/** How a process that did not come up ended, by its log. */
function findEnd(path: string): { readonly code: ErrorCode; readonly words: string } {
  let lines: string[];
  try {
    lines = readFileSync(path, 'utf8').trim().split('\n');
  } catch {
    return { code: 'MUT_UNREACHABLE', words: `it wrote no log (${path})` };
  }
  const last = readLine(lines.at(-1) ?? '');
  if (last !== undefined) return { code: last.code, words: `${last.words.slice(0, 400)} (${path})` };
  const text = findComplaint(lines);
  return text === undefined
    ? { code: 'MUT_UNREACHABLE', words: `it ended. Log: ${path}, ${quoteEnd(path)}` }
    : { code: 'MUT_BAD_CONFIG', words: text.slice(0, 400) };
}

/**
 * What is wrong with a command line or a configuration comes as text: an error, perhaps the nearest name, and then what
 * to do.
 */
function findComplaint(lines: readonly string[]): string | undefined {
  const at = lines.findLastIndex((line) => /^(?:error: |mutirao \w+: )/.test(line));
  const [line = '', next = ''] = at < 0 ? [] : lines.slice(at, at + 2);
  return at < 0
    ? undefined
    : `${line.replace(/^(?:error: |mutirao \w+: )/, '')}${next.startsWith('(Did you mean') ? ` ${next}` : ''}`;
}

/** What a line of a log says; undefined for text. */
function readLine(line: string): { readonly code: ErrorCode; readonly words: string } | undefined {
  try {
    const { msg, code } = JSON.parse(line) as { msg?: unknown; code?: unknown };
    return {
      code: typeof code === 'string' && isErrorCode(code) ? code : 'MUT_UNREACHABLE',
      words: typeof msg === 'string' ? msg : line,
    };
  } catch {
    return undefined;
  }
}

/** Between two looks at how large the logs are. */
const logCheckInterval = 30_000;

/** An agent that an allocation starts knows the folder of debugging traces from the environment alone. */
function liveHost(home: string, { traces, isLeashed }: GridSize): Host {
  for (const folder of [join(home, 'logs'), ...(traces === undefined ? [] : [traces])])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  setInterval(() => {
    boundLogs(join(home, 'logs'));
  }, logCheckInterval).unref();
  boundLogs(join(home, 'logs'));
  const env = {
    ...process.env,
    MUTIRAO_HOME: home,
    ...(traces === undefined ? {} : { MUTIRAO_AGENT_TRACE: join(traces, 'agent-allocated.jsonl') }),
  };
  return {
    start: (name, [command = '', ...args], onExit) =>
      startProcess({
        command,
        args,
        env,
        leash: isLeashed === true,
        stderr: { kind: 'file', path: logPath(home, name) },
        onExit: ({ status }) => {
          onExit(status);
        },
      }).pid,
    signal: (pid, name) => {
      if (name === 'SIGKILL') killGroup(pid, name);
      else process.kill(pid, name);
    },
    now: () => performance.now(),
    sleep: async (durationMs) => {
      await delay(durationMs);
    },
  };
}
