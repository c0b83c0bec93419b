import { statfs, statfsSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import {
  getSlot,
  noResult,
  type AgentInput,
  type HeldReplica,
  type ProcessResult,
  type Verdict,
} from '@mutirao/core/machines/agent';
import { describeBytes, type Bytes, type ReplicaId } from '@mutirao/core/shared';
import {
  Launchers,
  proportionalBytes,
  quoteWord,
  renderAssignments,
  startPiped,
  type LaunchersOptions,
  type LaunchTask,
  type PipedProcess,
  type StartPipedOptions,
  type TaskEnd,
  type TaskTail,
  type TaskUsage,
} from '@mutirao/runtime/processes';
import type { AccountTasks } from './account-tasks.ts';
import { ownHost, type HostFiles } from './capacity/host-files.ts';
import { MemoryShortages } from './capacity/memory-shortages.ts';
import { listProcessors, type Pinning } from './capacity/pinning.ts';
import { judgeForks } from './judge-forks.ts';
import type { GangTask } from './gang/gangs.ts';
import type { Playpens } from './playpens.ts';
import { Runners, type RunnerPlace } from './runners/runners.ts';
import type { Storages } from './storages.ts';
import type { RenderedTask, TaskRenderer } from './task-environment.ts';
import type { SandboxedTask, TaskSandboxes } from './task-sandboxes.ts';
import { TaskMeters, type MeasuredUsage } from './task-meters.ts';
import { getVerdict } from './verdict.ts';

/** What running tasks needs. */
export interface TaskRunnerOptions {
  /** For the pipes of resident runners. */
  readonly runnersFolder: string;
  readonly launchers: Omit<LaunchersOptions, 'onEnded'>;
  readonly playpens: Playpens;
  readonly renderer: TaskRenderer;
  readonly storages: Storages;
  readonly sandboxes: TaskSandboxes;
  /** Undefined where the system places tasks. */
  readonly pinning?: Pinning | undefined;
  /** Undefined where tasks run in the agent's own account. */
  readonly account?: AccountTasks;
  /** This host by default. */
  readonly host?: Pick<HostFiles, 'read'>;
  deliver(input: AgentInput): void;
}

/** Bytes that are kept of each of a task's two streams where its job sets no limit. */
const outputKept: Bytes = 512 * 1024;
/** A job's own limit decides what is kept, up to this: a report carries both streams, and a message takes 16 MiB. */
const outputKeptMax: Bytes = 4 * 1024 * 1024;
const sweepInterval = 1000;
/** Young tasks are looked for this often, and sampled once they are this old: shorter ones are not worth the cost. */
const sampleInterval = 100;
const sampleAge = 50;
/** A task can fill a disk within a second, so its output is looked at more often. */
const outputInterval = 50;
/** As a shell reports an end by SIGKILL. */
const killedStatus = 128 + constants.signals.SIGKILL;
/** Less than this on the disk of playpens is a full disk. */
const freeBytesMin = 256 * 1024;

/** Runs tasks on slots: starts, signals, watches what they hold, and reports their ends. */
export class TaskRunner {
  private readonly options: TaskRunnerOptions;
  private readonly launchers: Launchers;
  private readonly running: (HeldReplica | undefined)[] = [];
  /** By slot, the bytes that were free when its task was seen to run on a full disk. */
  private readonly shortOf: (Bytes | undefined)[] = [];
  private isAskingRoom = false;
  private readonly shortages: MemoryShortages;
  private readonly meters = new TaskMeters();
  /** The resident ones. */
  readonly runners: Runners;
  /** By slot, of tasks that have not been sampled yet, when they were launched. */
  private readonly unsampled = new Map<number, number>();
  private sampleTimer: NodeJS.Timeout | undefined;
  private sweepTimer: NodeJS.Timeout | undefined;
  private outputTimer: NodeJS.Timeout | undefined;
  private isBusy = false;

  /** Use `open`. */
  private constructor(options: TaskRunnerOptions, launchers: Launchers) {
    this.options = options;
    this.launchers = launchers;
    this.shortages = new MemoryShortages(options.host ?? ownHost);
    this.runners = this.makeRunners();
  }

  /** Starts the launchers. @throws Error of the file system. */
  static async open(options: TaskRunnerOptions): Promise<TaskRunner> {
    const launchers = await Launchers.open({
      ...options.launchers,
      onEnded: (slot, end) => {
        runner.finishProcess(slot, end);
      },
    });
    const runner = new TaskRunner(options, launchers);
    return runner;
  }

  /**
   * Starts a replica's task, in a fresh playpen unless inputs were put into one. @param gang what is different for a
   * member of a gang.
   */
  launch(replica: HeldReplica, gang?: GangTask): void {
    const slot = getSlot(replica);
    try {
      this.running[slot] = replica;
      this.shortOf[slot] = undefined;
      this.meters.begin(slot);
      if (replica.runner === undefined) this.launchProcess(slot, replica, gang);
      else this.runners.launch(replica);
      this.isBusy = true;
      if (this.sweepTimer === undefined) {
        this.shortages.look(performance.now());
        this.sweepTimer = setTimeout(this.sweep, sweepInterval);
      }
      this.unsampled.set(slot, performance.now());
      this.sampleTimer ??= setTimeout(this.sampleYoung, sampleInterval);
      if (replica.template.limits.outputMax > 0) this.outputTimer ??= setTimeout(this.checkOutputs, outputInterval);
    } catch (error) {
      this.running[slot] = undefined;
      this.report(replica, undefined, getVerdict(error, 'launching'));
    }
  }

  private launchProcess(slot: number, replica: HeldReplica, gang: GangTask | undefined): void {
    const { playpens, storages } = this.options;
    const playpen = replica.start.inputs.length > 0 ? playpens.getPath(slot) : playpens.prepare(slot);
    const storage = storages.getPath(replica.template.userId);
    this.launchers.launch(slot, { ...this.compose(replica, { playpen, storage }, gang), ...this.pin(replica) });
  }

  private makeRunners(): Runners {
    const { playpens, renderer, runnersFolder, sandboxes, storages } = this.options;
    return new Runners({
      folder: runnersFolder,
      playpens,
      variablesOf: (replica, playpen) =>
        renderer.callVariables(replica, { playpen, storage: storages.getPath(replica.template.userId) }),
      start: (replica, place) => {
        this.startResident(replica, place);
      },
      beginOutput: (replica) => {
        this.launchers.beginPart(getSlot(replica), getKeptMax(replica));
      },
      endOutput: (slot) => this.launchers.endPart(slot),
      kill: (slot) => {
        this.launchers.signal(slot, 'SIGKILL');
      },
      onCallEnded: (slot, end) => {
        this.finish(slot, end);
      },
      onIdleEnded: (slot) => {
        this.options.deliver({ kind: 'RunnerEnded', slot });
      },
      onLeft: (slot) => {
        sandboxes.release(slot);
      },
    });
  }

  /** The runner of a slot is a task of its launcher, for as long as it stays. */
  private startResident(replica: HeldReplica, { home, folder, redirections }: RunnerPlace): void {
    const { renderer, sandboxes, storages } = this.options;
    const { template, start } = replica;
    const storage = storages.getPath(template.userId);
    const own = { ...template, command: template.runner?.command ?? '' };
    const sandboxed = sandboxedTask(replica, { playpen: home, storage });
    const sandbox = sandboxes.lineFor({ ...sandboxed, start: folder });
    const slot = getSlot(replica);
    this.launchers.launch(slot, {
      folder,
      keptMax: getKeptMax(replica),
      leavesFiles: true,
      ...renderer.render({ ...replica, template: own, start: { ...start, value: '' } }, { playpen: folder, storage }),
      redirections,
      ...(sandbox === undefined ? {} : { sandbox }),
      ...this.pin(replica),
    });
  }

  private compose(replica: HeldReplica, folders: SandboxedTask['folders'], gang: GangTask | undefined): LaunchTask {
    const { renderer, sandboxes, account } = this.options;
    const { template, start } = replica;
    if (account !== undefined) {
      const slot = getSlot(replica);
      const rendered = renderer.render(replica, account.getFolders(slot, template.userId));
      return {
        folder: '/',
        keptMax: getKeptMax(replica),
        leavesFiles: start.outputs.length > 0,
        ...rendered,
        exports: 'IN_ACCOUNT=',
        account: account.scriptFor(slot, template.userId, rendered),
      };
    }
    // A line of a gang's own is the agent's, not the task's.
    const sandbox = gang?.line === undefined ? sandboxes.lineFor(sandboxedTask(replica, folders, gang)) : undefined;
    return {
      folder: template.workFolder?.path ?? folders.playpen,
      keptMax: getKeptMax(replica),
      leavesFiles: start.outputs.length > 0 || template.workFolder !== undefined,
      ...changeFor(gang, renderer.render(replica, folders)),
      ...(sandbox === undefined ? {} : { sandbox }),
    };
  }

  private pinApart(
    { slots }: HeldReplica,
    { command, args }: { readonly command: string; readonly args: readonly string[] },
  ): { readonly command: string; readonly args: readonly string[] } {
    const { pinning } = this.options;
    return pinning === undefined
      ? { command, args }
      : { command: pinning.program, args: ['-c', listProcessors(pinning, slots), command, ...args] };
  }

  private pin({ slots }: HeldReplica): Pick<LaunchTask, 'pin'> {
    const { pinning } = this.options;
    return pinning === undefined ? {} : { pin: `${quoteWord(pinning.program)} -cp ${listProcessors(pinning, slots)}` };
  }

  /**
   * Starts a process next to a replica's running task. Its usage counts to that task, and it does not outlive the task.
   *
   * @throws Error where it cannot be tried.
   */
  startBeside(
    replica: HeldReplica,
    variables: Readonly<Record<string, string>>,
    command: string,
    onClosed: StartPipedOptions['onClosed'],
  ): PipedProcess {
    const { playpens, renderer, storages, sandboxes } = this.options;
    const slot = getSlot(replica);
    const folders = { playpen: playpens.getPath(slot), storage: storages.getPath(replica.template.userId) };
    const env = this.launchers.getEnvironment(slot);
    const own = { ...renderer.variables(replica, folders), ...variables };
    const sandboxed = sandboxes.commandFor(sandboxedTask(replica, folders), command, { env, variables: own });
    const plain = sandboxed ?? { command: '/bin/sh', args: ['-c', command], env: { ...env, ...own } };
    const started = startPiped({
      ...plain,
      ...this.pinApart(replica, plain),
      isSandbox: sandboxed !== undefined,
      cwd: replica.template.workFolder?.path ?? folders.playpen,
      onClosed,
    });
    if (started.pid !== undefined) this.launchers.adopt(slot, started.pid);
    return started;
  }

  /** What a replica's task has written so far; undefined where it does not run. */
  tail(replicaId: ReplicaId): TaskTail | undefined {
    const slot = this.running.findIndex((replica) => replica?.start.replicaId === replicaId);
    return slot === -1 ? undefined : this.launchers.tail(slot);
  }

  /** Signals a replica's task, if it still runs. */
  signal(replica: HeldReplica, signal: 'SIGTERM' | 'SIGKILL'): void {
    const slot = getSlot(replica);
    if (this.running[slot] !== replica) return;
    this.runners.doom(slot);
    this.launchers.signal(slot, signal);
  }

  /** Kills everything. */
  close(): void {
    clearTimeout(this.sweepTimer);
    clearTimeout(this.sampleTimer);
    clearTimeout(this.outputTimer);
    this.runners.close();
    this.launchers.close();
  }

  private finishProcess(slot: number, end: TaskEnd): void {
    const resident = this.runners.finish(slot);
    // It was idle, or another process has its call.
    if (resident !== undefined && resident.replica === undefined) return;
    // Whatever it says as a process, its task has no answer.
    const isSilent = resident?.replica !== undefined && resident.fault === '' && end.status === 0;
    this.finish(slot, end, isSilent ? { fault: 'the runner ended without an answer' } : resident);
  }

  /** @param resident the runner that has ended with the task; left out for one that takes more. */
  private finish(slot: number, end: TaskEnd, resident?: { readonly fault: string }): void {
    const replica = this.running[slot];
    if (replica === undefined) return;
    this.running[slot] = undefined;
    this.unsampled.delete(slot);
    const processesMost = this.meters.getProcessesMost(slot);
    const usage = this.meters.finish(slot, end.processorMs);
    const measured = usage === undefined ? end : { ...end, usage };
    const verdict =
      resident !== undefined && resident.fault !== ''
        ? ({ outcome: 'failed', reason: 'MUT_COMMAND_FAILED', detail: resident.fault } as const)
        : this.judge(slot, replica, measured, processesMost);
    this.report(replica, measured, verdict, resident !== undefined);
    // A task that was ended may have left other processes behind.
    if (replica.verdict !== undefined) setImmediate(this.sweep);
  }

  /** What the machine knows of an end in addition to its status; undefined for nothing. */
  private judge(slot: number, { template }: HeldReplica, end: MeasuredEnd, processesMost: number): Verdict | undefined {
    if (end.status === 0) return undefined;
    if (end.status === -1) return this.judgeLaunch(slot, template.workFolder?.path, end.trouble);
    return this.judgeSpace(slot) ?? this.judgeMemory(end) ?? judgeForks(end, processesMost);
  }

  /** @param end undefined for a task that could not be launched. */
  private report(
    replica: HeldReplica,
    end: MeasuredEnd | undefined,
    verdict: Verdict | undefined,
    isRunnerGone = false,
  ): void {
    this.options.deliver({
      kind: 'ProcessEnded',
      replicaId: replica.start.replicaId,
      verdict,
      result: end === undefined ? noResult : findResult(end),
      ...(isRunnerGone ? { isRunnerGone } : {}),
    });
  }

  private judgeLaunch(slot: number, workFolder: string | undefined, trouble: string | undefined): Verdict {
    if (trouble !== undefined)
      return { outcome: 'broken', reason: 'MUT_LAUNCH_FAILED', detail: `the task could not be isolated: ${trouble}` };
    if (workFolder !== undefined)
      return {
        outcome: 'failed',
        reason: 'MUT_WORK_FOLDER',
        detail: `cannot work in the folder ${workFolder}: it is gone, or cannot be entered`,
      };
    return (
      this.judgeSpace(slot) ?? {
        outcome: 'broken',
        reason: 'MUT_LAUNCH_FAILED',
        detail: 'the playpen is gone or no shell could be started',
      }
    );
  }

  /**
   * A task that failed on a full disk says nothing about itself, also where it has removed since what found no room.
   */
  private judgeSpace(slot: number): Verdict | undefined {
    const free = this.shortOf[slot] ?? freeBytes(this.playpensFolder);
    return free < freeBytesMin
      ? { outcome: 'broken', reason: 'MUT_NO_SPACE', detail: `${free} bytes are free where playpens are` }
      : undefined;
  }

  /** A task that was ended by SIGKILL while the kernel killed something for lack of memory. */
  private judgeMemory({ status, usage }: MeasuredEnd): Verdict | undefined {
    if (status !== killedStatus || !this.shortages.isRecent(performance.now())) return undefined;
    const memoryPeakBytes = usage?.memoryPeak ?? 0;
    return {
      outcome: 'failed',
      reason: 'MUT_OUT_OF_MEMORY',
      detail: { code: 'memory-ran-out', ...(memoryPeakBytes === 0 ? {} : { memoryPeakBytes }) },
    };
  }

  /** Not a playpen's own path: where none could be made, nothing is there to be asked. */
  private get playpensFolder(): string {
    return path.dirname(this.options.playpens.getPath(0));
  }

  /** Checks the free space while tasks run. Not awaited: a file system that hangs must not hold up a sweep. */
  private askRoom(): void {
    if (this.isAskingRoom) return;
    this.isAskingRoom = true;
    const asked = [...this.running];
    statfs(this.playpensFolder, (error, room) => {
      this.isAskingRoom = false;
      const free = error === null ? room.bavail * room.bsize : Infinity;
      if (free >= freeBytesMin) return;
      for (const [slot, replica] of asked.entries())
        if (replica !== undefined && this.running[slot] === replica) this.shortOf[slot] = free;
    });
  }

  private readonly sweep = (): void => {
    clearTimeout(this.sweepTimer);
    this.askRoom();
    this.shortages.look(performance.now());
    for (const usage of this.launchers.sweep()) {
      this.checkMemory(usage);
      this.checkIdle(usage);
    }
    // Once more after the last task, for what it left.
    this.sweepTimer = this.isBusy ? setTimeout(this.sweep, sweepInterval) : undefined;
    this.isBusy = this.runners.areIdle || this.running.some((replica) => replica !== undefined);
  };

  /** Tasks that last for less than the interval of sweeps are sampled once, unless they are very short. */
  private readonly sampleYoung = (): void => {
    this.sampleTimer = undefined;
    const now = performance.now();
    for (const [slot, launchedAt] of this.unsampled) {
      if (now - launchedAt < sampleAge) continue;
      this.unsampled.delete(slot);
      const usage = this.launchers.sample(slot);
      if (usage !== undefined) this.checkMemory(usage);
    }
    if (this.unsampled.size > 0) this.sampleTimer = setTimeout(this.sampleYoung, sampleInterval);
  };

  private checkMemory(usage: TaskUsage): void {
    const replica = this.running[usage.slot];
    if (replica === undefined) return;
    const memoryMax = getMemoryLimit(replica.template);
    // Of a runner, peak and processor time are of all its calls.
    const bytes = this.meters.note(usage, memoryMax, replica.runner !== undefined);
    if (memoryMax > 0 && bytes > memoryMax)
      this.exceed(replica, 'MUT_MEMORY_MAX', describeExcess(this.meters.getPeak(usage.slot), replica.template));
  }

  /** An idle runner must leave memory to other tasks. */
  private checkIdle({ slot, residentBytes, processes }: TaskUsage): void {
    const memoryMax = this.runners.idleMemoryMaxOf(slot);
    if (memoryMax !== undefined && residentBytes > memoryMax && proportionalBytes(processes) > memoryMax)
      this.runners.evict(slot);
  }

  private readonly checkOutputs = (): void => {
    this.outputTimer = undefined;
    for (const [slot, replica] of this.running.entries()) {
      const outputMax = replica?.template.limits.outputMax ?? 0;
      if (replica === undefined || outputMax === 0) continue;
      this.outputTimer ??= setTimeout(this.checkOutputs, outputInterval);
      const written = this.launchers.outputBytes(slot);
      if (written > outputMax)
        this.exceed(
          replica,
          'MUT_OUTPUT_MAX',
          `${describeBytes(written)} of standard output and error, beyond the limit of ${describeBytes(outputMax)}`,
        );
    }
  };

  private exceed(replica: HeldReplica, reason: string, detail: string): void {
    this.options.deliver({ kind: 'LimitExceeded', replicaId: replica.start.replicaId, reason, detail });
  }
}

/** What a job limits its tasks to, or else what each asked for; 0 for no limit. */
function getMemoryLimit({ limits, resources }: HeldReplica['template']): Bytes {
  return limits.memoryMax > 0 ? limits.memoryMax : (resources?.memory ?? 0);
}

function describeExcess(peak: Bytes, template: HeldReplica['template']): string {
  const limit = describeBytes(getMemoryLimit(template));
  return template.limits.memoryMax > 0
    ? `memory peaked at ${describeBytes(peak)}, beyond the limit of ${limit} (--limit-memory)`
    : `memory peaked at ${describeBytes(peak)}, beyond the ${limit} that was set aside for it (see --memory)`;
}

function getKeptMax({
  template: {
    limits: { outputMax },
  },
}: HeldReplica): Bytes {
  return outputMax > 0 ? Math.min(outputMax, outputKeptMax) : outputKept;
}

/** How a task ended, with what it has used where that was measured. */
interface MeasuredEnd extends TaskEnd {
  readonly usage?: MeasuredUsage;
}

function findResult({
  status,
  signal,
  standardOutput,
  standardError,
  writtenBytes,
  isCut,
  usage,
}: MeasuredEnd): ProcessResult {
  return {
    exitStatus: Math.max(status, 0),
    signal,
    standardOutput,
    standardError,
    outputBytes: writtenBytes,
    outputTruncated: isCut,
    ...(usage === undefined ? {} : { usage }),
  };
}

function sandboxedTask(replica: HeldReplica, folders: SandboxedTask['folders'], gang?: GangTask): SandboxedTask {
  return {
    slot: getSlot(replica),
    template: replica.template,
    folders,
    ...(gang === undefined ? {} : { besides: gang.folders }),
  };
}

function changeFor(gang: GangTask | undefined, rendered: RenderedTask): RenderedTask {
  if (gang === undefined) return rendered;
  const { variables, line } = gang;
  if (line !== undefined) return { ...rendered, line, command: `/bin/sh -c ${quoteWord(line)}`, environment: '' };
  return { ...rendered, environment: `${rendered.environment} ${renderAssignments(variables)}` };
}

function freeBytes(folder: string): Bytes {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
