import { existsSync } from 'node:fs';
import path from 'node:path';
import { invariant } from '@mutirao/core/shared';
import { makeFreshFolder } from '../files/fresh-folder.ts';
import { removeTree } from '../files/removal/remove-tree.ts';
import { findSaidSignal } from './exit.ts';
import { killGroup, killProcess } from './kill-group.ts';
import { makeFifos } from './make-fifos.ts';
import {
  Launcher,
  readStreams,
  type LauncherExit,
  type LaunchTask,
  type TaskExit,
  type TaskOutput,
  type TaskTail,
} from './launcher.ts';
import { Origins } from './origins.ts';
import type { ResidentProcess } from './proportional-memory.ts';
import { PipeStock } from './pipe-stock.ts';
import { readProcess, readProcesses, readUptime, type ProcessRow } from './process-table.ts';
import { runCommand } from './run-command.ts';
import { openStatusChannel, type StatusChannel } from './status-channel.ts';
import { listDescendants, listSubreaperPrefixes, type SubreaperPrefix } from './subreaper.ts';
import type { TaskAccount } from './task-account.ts';
import { findScopes, type TaskScope, type TaskScopes } from './task-scopes.ts';
import { launcherVariable, type Watchdog } from './watchdog.ts';

/** What a set of launchers is made of. */
export interface LaunchersOptions {
  /** Created again if it exists, and removed at the close; if that fails, another one next to it is used. */
  readonly folder: string;
  /** Tasks that run at once. */
  readonly width: number;
  /** Variables of every task, in addition to its own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly watchdog: Watchdog;
  /** /bin/sh when absent. */
  readonly shell?: string;
  /** Whether a host's way to make launchers subreapers is used; true when absent. */
  readonly usesSubreaper?: boolean;
  /** Whether launchers get scopes of the user manager where one answers; false when absent. */
  readonly usesScopes?: boolean;
  /** The account of tasks that have a script for it. */
  readonly account?: TaskAccount;
  /**
   * A task ended, and what it left behind has been ended before. The status is also -1 when the launcher could not be
   * started.
   */
  onEnded(slot: number, end: TaskEnd): void;
}

/** The end of a task, and what it wrote. */
export interface TaskEnd extends TaskExit, TaskOutput {}

/** What a slot's task holds, as sampled. */
export interface TaskUsage {
  readonly slot: number;
  /** Sum over `processes`: what several of them share is counted for each. */
  readonly residentBytes: number;
  readonly processes: readonly ResidentProcess[];
  readonly outputBytes: number;
  /** Processor time so far, in milliseconds, but for what has left the task's tree. */
  readonly processorMs: number;
}

/** How often pipes of young tasks are looked at: a pipe takes 64 KiB, and then its writer waits. */
const lookInterval = 10;
/**
 * Time that what a task left behind has to end, once it is killed; a process that waits for a disk may take for ever.
 */
const settleMax = 2000;
const settlePauseMax = 50;

/**
 * Starts tasks on numbered slots through resident shells, one per slot and a spare.
 *
 * All groups are guarded by the watchdog, so nothing runs on when we die. A slot whose launcher was killed goes on with
 * the spare.
 */
export class Launchers {
  private readonly options: LaunchersOptions;
  private readonly slots: Launcher[] = [];
  private readonly launchers: Launcher[] = [];
  private readonly slotOf: (number | undefined)[] = [];
  /** Groups that belong to tasks, in addition to those of their launchers. */
  private readonly adopted = new Map<number, Launcher>();
  private readonly status: StatusChannel;
  private readonly origins: Origins;
  private readonly host: LauncherHost;
  private lookTimer: NodeJS.Timeout | undefined;
  private spare: Launcher;
  /** What to add to `performance.now()` for the time since boot; too small rather than too large. */
  private bootOffset = readBootOffset();
  private sequence = 0;
  private rest = '';
  private closed = false;

  /** Use `open`. */
  private constructor(options: LaunchersOptions, status: StatusChannel, host: LauncherHost) {
    this.options = options;
    this.status = status;
    this.host = host;
    this.origins = new Origins(options.watchdog.mark);
    for (let slot = 0; slot < options.width; slot++) {
      this.slots.push(this.startLauncher());
      this.slotOf.push(slot);
    }
    this.spare = this.startLauncher();
  }

  /** Starts the shells. @throws Error when the folder or what belongs into it cannot be made. */
  static async open(options: LaunchersOptions): Promise<Launchers> {
    const folder = makeFreshFolder(options.folder);
    const fifos = Array.from({ length: options.width + 1 }, (_, index) => path.join(folder, `in-${index}`));
    makeFifos(fifos);
    const pipes = new PipeStock(folder, 2 * fifos.length);
    const [status, subreaper, scopes] = await Promise.all([
      openStatusChannel(folder),
      findSubreaper(options, pipes),
      options.usesScopes === true ? findScopes({ environment: options.environment }) : undefined,
    ]);
    const launchers = new Launchers({ ...options, folder }, status, {
      pipes,
      subreaper,
      scopes,
      account: options.account,
    });
    status.onText = (text) => {
      launchers.readStatus(text);
    };
    return launchers;
  }

  /** Starts a task on a slot that runs none. */
  launch(slot: number, task: LaunchTask): void {
    const launcher = this.at(slot);
    if (!launcher.isStarted) {
      launcher.start();
      this.guard(launcher);
    }
    // Before the line goes out: on a busy host the task may be well under way by the time that it has.
    launcher.launchedTicks = Math.floor((performance.now() + this.bootOffset) / 10);
    launcher.launch(++this.sequence, task);
    this.lookTimer ??= setTimeout(this.look, lookInterval);
  }

  /**
   * A new part of a slot's task begins, as of a process that takes one call after another: what it writes from now on is
   * the part's.
   */
  beginPart(slot: number, keptMax: number): void {
    this.at(slot).beginPart(keptMax);
    this.lookTimer ??= setTimeout(this.look, lookInterval);
  }

  /** What a slot's task has written since its last part began. The task goes on. */
  endPart(slot: number): TaskOutput {
    const launcher = this.at(slot);
    launcher.drain();
    return launcher.readOutput();
  }

  /** Sends a signal to all processes of a slot's task. */
  signal(slot: number, signal: 'SIGTERM' | 'SIGKILL'): void {
    this.at(slot).signal(signal);
  }

  /** What a process that belongs to a slot's task, and is not started by it, has to be started with. */
  getEnvironment(slot: number): Record<string, string> {
    return getEnvironment(this.options, this.at(slot).index);
  }

  /**
   * Counts a group, whose leader was just started, to the task that now runs on a slot: in what it holds, and in what
   * is killed when it has ended.
   */
  adopt(slot: number, pgid: number): void {
    this.adopted.set(pgid, this.at(slot));
    this.options.watchdog.guard(pgid);
  }

  /**
   * Kills what ended tasks left behind, in their groups or out of them, and samples what running tasks hold. Shells
   * that a task has stopped go on.
   *
   * What began before the task that now runs there, and is not the launcher, is left from an earlier one.
   */
  sweep(): TaskUsage[] {
    const processes = this.launchers.map((): ProcessRow[] => []);
    this.bootOffset = readBootOffset();
    for (const launcher of this.launchers) launcher.resume();
    for (const { row, launcher } of this.findProcesses()) {
      if (isLeftover(row, launcher)) killProcess(row.pid, 'SIGKILL');
      else processes[launcher.index]?.push(row);
    }
    return this.slots.flatMap((launcher, slot) =>
      launcher.sequence === 0 ? [] : [{ slot, ...getUsage(launcher, processes[launcher.index] ?? []) }],
    );
  }

  /**
   * Samples what a slot's task holds; undefined where no task runs, or what it started cannot be listed cheaply. Cost: a
   * few files for each of its processes.
   */
  sample(slot: number): TaskUsage | undefined {
    const launcher = this.at(slot);
    const { pgid } = launcher;
    if (pgid === undefined || launcher.sequence === 0 || !launcher.isSubreaper) return undefined;
    const rows = listDescendants(pgid).flatMap((pid) => readProcess(pid) ?? []);
    return { slot, ...getUsage(launcher, rows) };
  }

  /** Bytes that a slot's task has written to both streams so far. Cheap. */
  outputBytes(slot: number): number {
    return this.at(slot).outputBytes();
  }

  /** What a slot's task has written so far; undefined where none runs. */
  tail(slot: number): TaskTail | undefined {
    return this.at(slot).tail();
  }

  /** Kills everything and removes the folder. */
  close(): void {
    this.closed = true;
    clearTimeout(this.lookTimer);
    for (const pgid of this.adopted.keys()) {
      killGroup(pgid, 'SIGKILL');
      this.options.watchdog.release(pgid);
    }
    for (const launcher of this.launchers) {
      const { pgid, scope } = launcher;
      launcher.close();
      this.letGo(pgid, scope);
    }
    this.status.reader.destroy();
    this.status.writer.destroy();
    removeTree(this.options.folder);
  }

  private at(slot: number): Launcher {
    const launcher = this.slots[slot];
    invariant(launcher, `slot ${slot} is not one of ${this.slots.length}`);
    return launcher;
  }

  private startLauncher(): Launcher {
    const index = this.launchers.length;
    const launcher = new Launcher({
      index,
      shell: this.options.shell ?? '/bin/sh',
      folder: this.options.folder,
      environment: getEnvironment(this.options, index),
      status: this.status.writer,
      ...this.host,
      onExit: (gone, exit) => {
        this.replace(gone, exit);
      },
    });
    this.launchers.push(launcher);
    this.guard(launcher);
    return launcher;
  }

  /** All live processes that tasks have started, with their launchers. */
  private findProcesses(): { readonly row: ProcessRow; readonly launcher: Launcher }[] {
    const byGroup = new Map<number | undefined, Launcher>([
      ...this.adopted,
      ...this.launchers.map((launcher) => [launcher.pgid, launcher] as const),
    ]);
    const rows = readProcesses();
    const shells = new Map(this.launchers.flatMap(({ pgid, index }) => (pgid === undefined ? [] : [[pgid, index]])));
    const origins = this.origins.find(rows, shells);
    this.dropEmptyGroups(rows);
    return rows.flatMap((row) => {
      const launcher = byGroup.get(row.pgid) ?? this.launchers[origins.get(row.pid) ?? -1];
      return launcher === undefined || row.pid === launcher.pgid ? [] : [{ row, launcher }];
    });
  }

  /**
   * Kills what the last task of a launcher left behind, and returns whether there was anything. Processes of another
   * user, as by `sudo`, cannot be killed. Waiting for their end helps only if the task ran as that user.
   */
  private async killLeftovers(launcher: Launcher, shell: number | undefined): Promise<boolean> {
    const left = this.listLeftovers(launcher, shell);
    const foreign = left.filter((pid) => !killProcess(pid, 'SIGKILL'));
    if (!launcher.isOfAccount || foreign.length === 0) return foreign.length < left.length;
    await this.options.account?.kill(foreign, 'SIGKILL');
    return true;
  }

  /**
   * A shell that adopts orphans has all of them below it: a few files list them. The whole process table, which blocks
   * this process for tens of milliseconds, is read only where the shell was killed or cannot adopt.
   */
  private listLeftovers(launcher: Launcher, shell: number | undefined): readonly number[] {
    const below = launcher.pgid !== shell || this.hasAdopted(launcher) ? undefined : launcher.listLeft();
    return (
      below ??
      this.findProcesses()
        .filter((found) => found.launcher === launcher && isLeftover(found.row, launcher))
        .map(({ row }) => row.pid)
    );
  }

  /** Ends what a task left behind. Gives up after `settleMax`; until then the slot takes no other task. */
  private async endLeftovers(launcher: Launcher, shell: number | undefined): Promise<void> {
    const giveUpAt = performance.now() + settleMax;
    for (
      let pause = 1;
      !this.closed && (await this.killLeftovers(launcher, shell)) && performance.now() < giveUpAt;
      pause = Math.min(2 * pause, settlePauseMax)
    ) {
      await new Promise((resolve) => {
        setTimeout(resolve, pause);
      });
    }
  }

  /** A task's process has ended. */
  private end(slot: number, launcher: Launcher, exit: TaskExit): void {
    const isAll = launcher.drain();
    if (isAll && !this.hasAdopted(launcher)) this.options.onEnded(slot, describeEnd(exit, launcher.readOutput()));
    else void this.settle(slot, launcher, { ...exit, shell: launcher.pgid });
  }

  /**
   * Ends what a task left behind, then reports the task's end. What is written meanwhile is not the task's any more.
   * Its streams are not used again: the launcher may have another task meanwhile if it was killed.
   *
   * @param shell that ran the task; it may be gone.
   */
  private async settle(
    slot: number,
    launcher: Launcher,
    { shell, ...exit }: TaskExit & { readonly shell: number | undefined },
  ): Promise<void> {
    const streams = launcher.takeStreams();
    await this.endLeftovers(launcher, shell);
    if (!this.closed) this.options.onEnded(slot, describeEnd(exit, readStreams(streams)));
    for (const stream of streams ?? []) stream.close();
  }

  private hasAdopted(launcher: Launcher): boolean {
    return this.adopted.size > 0 && [...this.adopted.values()].includes(launcher);
  }

  private readonly look = (): void => {
    this.lookTimer = undefined;
    const now = performance.now();
    for (const launcher of this.slots) {
      if (launcher.sequence !== 0 && launcher.look(now)) this.lookTimer ??= setTimeout(this.look, lookInterval);
    }
  };

  /** The number of a group that is empty may be given again. */
  private dropEmptyGroups(rows: readonly ProcessRow[]): void {
    if (this.adopted.size === 0) return;
    const found = new Set(rows.map(({ pgid }) => pgid));
    for (const pgid of this.adopted.keys()) {
      if (found.has(pgid)) continue;
      this.adopted.delete(pgid);
      this.options.watchdog.release(pgid);
    }
  }

  private guard(launcher: Launcher): void {
    if (launcher.pgid === undefined) return;
    this.options.watchdog.guard(launcher.pgid);
    if (launcher.scope !== undefined) this.options.watchdog.guard(launcher.scope.folder);
  }

  private letGo(pgid: number | undefined, scope: TaskScope | undefined): void {
    if (pgid !== undefined) this.options.watchdog.release(pgid);
    if (scope !== undefined) this.options.watchdog.release(scope.folder);
  }

  /** The launcher of a slot is gone: the spare takes its place, and it becomes the spare. */
  private replace(gone: Launcher, exit: LauncherExit): void {
    if (this.closed) return;
    this.letGo(exit.pgid, exit.scope);
    const slot = this.slotOf[gone.index];
    const wasRunning = exit.sequence !== 0;
    if (slot !== undefined) {
      this.slots[slot] = this.spare;
      this.slotOf[this.spare.index] = slot;
      this.slotOf[gone.index] = undefined;
      this.spare = gone;
    }
    // A shell that nobody has killed may not be there: it is tried again when the next task needs it.
    if (exit.signal !== undefined) this.startAgain(gone);
    gone.drain();
    if (slot !== undefined && wasRunning)
      void this.settle(slot, gone, {
        status: exit.signal === undefined ? -1 : exit.status,
        signal: exit.signal,
        shell: exit.pgid,
      });
  }

  private startAgain(launcher: Launcher): void {
    try {
      launcher.start();
      this.guard(launcher);
    } catch {
      // Its files are gone and cannot be made: the task that needs it fails with the reason.
    }
  }

  private readStatus(chunk: string): void {
    const text = this.rest + chunk;
    const lines = text.split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      const [index, sequence, status] = line.split(' ');
      const launcher = this.launchers[Number(index)];
      // Its launcher was killed meanwhile.
      if (launcher === undefined || launcher.sequence !== Number(sequence)) continue;
      launcher.sequence = 0;
      const slot = this.slotOf[launcher.index];
      if (slot !== undefined) this.end(slot, launcher, withTime(launcher, launcher.readExit(Number(status))));
    }
  }
}

function getUsage(launcher: Launcher, processes: readonly ProcessRow[]): Omit<TaskUsage, 'slot'> {
  let residentBytes = 0;
  let processorMs = launcher.processorMs() ?? 0;
  for (const row of processes) {
    residentBytes += row.residentBytes;
    processorMs += row.processorMs + row.waitedMs;
  }
  return { processes, residentBytes, processorMs, outputBytes: launcher.outputBytes() };
}

function withTime(launcher: Launcher, exit: TaskExit): TaskExit {
  const processorMs = launcher.processorMs();
  return processorMs === undefined ? exit : { ...exit, processorMs };
}

/** What all launchers of a host have in common. */
interface LauncherHost {
  readonly pipes: PipeStock;
  readonly subreaper: SubreaperPrefix | undefined;
  readonly scopes: TaskScopes | undefined;
  readonly account: TaskAccount | undefined;
}

const probeTimeMax = 5000;

/** Finds out how launchers can be started here, and whether they can open pipes that have no name. */
async function findSubreaper(options: LaunchersOptions, pipes: PipeStock): Promise<SubreaperPrefix | undefined> {
  const probe = pipes.take();
  const script = `: >${probe.path}`;
  const candidates =
    options.usesSubreaper === false ? [] : listSubreaperPrefixes().filter(([program = '']) => existsSync(program));
  const env = getEnvironment(options, 0);
  try {
    for (const prefix of [...candidates, []]) {
      const [command = '', ...args] = [...prefix, options.shell ?? '/bin/sh', '-c', script];
      const { status } = await runCommand({ command, args, env, deadlineMs: probeTimeMax });
      if (status === 0) return prefix.length === 0 ? undefined : prefix;
    }
    pipes.keepNames();
    return undefined;
  } finally {
    pipes.release(probe);
  }
}

function getEnvironment({ environment, watchdog }: LaunchersOptions, index: number): Record<string, string> {
  return { ...environment, ...watchdog.environment, [launcherVariable]: String(index) };
}

/**
 * Both ticks are rounded down, and the launch's is at most what it was: what began in an earlier one is not the task's.
 */
function isLeftover(row: ProcessRow, launcher: Launcher): boolean {
  return launcher.sequence === 0 || row.startedTicks < launcher.launchedTicks;
}

function describeEnd({ status, signal, trouble, processorMs }: TaskExit, output: TaskOutput): TaskEnd {
  // A task that did not begin has written nothing; the output comes from the program that changes the account.
  const said = trouble === '' ? Buffer.from(output.standardError).toString().trim().slice(0, 300) : trouble;
  return {
    status,
    signal: signal ?? findSaidSignal(status, output.standardError),
    ...output,
    ...(said === undefined ? {} : { trouble: said }),
    ...(processorMs === undefined ? {} : { processorMs }),
  };
}

/** Measured again with each sweep, since only the time since boot goes on while a machine sleeps. */
function readBootOffset(): number {
  const uptime = readUptime() ?? 0;
  return uptime - performance.now();
}
