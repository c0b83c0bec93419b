import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { invariant } from '@mutirao/core/shared';
import { makeFreshFolder } from '../files/fresh-folder.ts';
import { removeTree } from '../files/removal/remove-tree.ts';
import { killGroup, killProcess } from './kill-group.ts';
import { makeFifos } from './make-fifos.ts';
import { Launcher, type LauncherExit, type LaunchTask, type TaskOutput } from './launcher.ts';
import { Origins } from './origins.ts';
import { readProcesses, readUptime, type ProcessRow } from './process-table.ts';
import { launcherVariable, type Watchdog } from './watchdog.ts';

/** What a set of launchers is made of. */
export interface LaunchersOptions {
  /** Made again, and removed at the close; another one beside it where that is not possible. */
  readonly folder: string;
  /** Tasks that run at once. */
  readonly width: number;
  /** Of every task, beside its own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly watchdog: Watchdog;
  /** /bin/sh when absent. */
  readonly shell?: string;
  /** A task ended, with the status that a shell reports; -1 when its folder could not be entered or the launcher not be started. */
  onEnded(slot: number, status: number): void;
}

/** What a slot's task holds, as sampled. */
export interface TaskUsage {
  readonly slot: number;
  readonly residentBytes: number;
  readonly outputBytes: number;
}

/**
 * Starts tasks on numbered slots through resident shells, one per slot and a spare.
 *
 * All groups are guarded by the watchdog, so nothing runs on when we die. A slot whose launcher was killed goes on with the spare.
 */
export class Launchers {
  private readonly options: LaunchersOptions;
  private readonly slots: Launcher[] = [];
  private readonly launchers: Launcher[] = [];
  private readonly slotOf: (number | undefined)[] = [];
  /** By slot: the launcher of its last task, whose output it has; another one serves the slot if that was killed. */
  private readonly lastLaunchers: Launcher[] = [];
  /** Groups beside those of the launchers that belong to their tasks. */
  private readonly adopted = new Map<number, Launcher>();
  private readonly status: StatusChannel;
  private readonly origins: Origins;
  private spare: Launcher;
  /** What to add to `performance.now()` for the time since boot; too small rather than too large. */
  private bootOffset = readBootOffset();
  private sequence = 0;
  private rest = '';
  private closed = false;

  /** Use `open`. */
  private constructor(options: LaunchersOptions, status: StatusChannel) {
    this.options = options;
    this.status = status;
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
    const status = await openStatusChannel(folder);
    const launchers = new Launchers({ ...options, folder }, status);
    status.onText = (text) => { launchers.readStatus(text); };
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
    this.lastLaunchers[slot] = launcher;
  }

  /** Sends a signal to all processes of a slot's task. */
  signal(slot: number, signal: 'SIGTERM' | 'SIGKILL'): void {
    this.at(slot).signal(signal);
  }

  /** What a process that belongs to a slot's task, and is not started by it, has to be started with. */
  environmentOf(slot: number): Record<string, string> {
    return environmentOf(this.options, this.at(slot).index);
  }

  /** Counts a group, whose leader was just started, to the task that now runs on a slot: in what it holds, and in what is killed when it has ended. */
  adopt(slot: number, pgid: number): void {
    this.adopted.set(pgid, this.at(slot));
    this.options.watchdog.guard(pgid);
  }

  /** What the task that ended last on a slot wrote; to be read before the next starts there. */
  readOutput(slot: number, bytesMax: number): TaskOutput {
    return (this.lastLaunchers[slot] ?? this.at(slot)).readOutput(bytesMax);
  }

  /**
   * Kills what ended tasks left behind, in their groups or out of them, and samples what running tasks hold.
   *
   * What began before the task that now runs there, and is not the launcher, is left from an earlier one.
   */
  sweep(): TaskUsage[] {
    const byGroup = new Map<number | undefined, Launcher>([...this.adopted, ...this.launchers.map((launcher) => [launcher.pgid, launcher] as const)]);
    const resident = new Array<number>(this.launchers.length).fill(0);
    this.bootOffset = readBootOffset();
    const rows = readProcesses();
    const origins = this.origins.find(rows);
    this.dropEmptyGroups(rows);
    for (const row of rows) {
      const launcher = byGroup.get(row.pgid) ?? this.launchers[origins.get(row.pid) ?? -1];
      if (launcher === undefined || row.pid === launcher.pgid) continue;
      if (isLeftover(row, launcher)) killProcess(row.pid, 'SIGKILL');
      else resident[launcher.index] = (resident[launcher.index] ?? 0) + row.residentBytes;
    }
    return this.slots.flatMap((launcher, slot) => (
      launcher.sequence === 0 ? [] : [{ slot, residentBytes: resident[launcher.index] ?? 0, outputBytes: launcher.outputBytes() }]));
  }

  /** Bytes that a slot's task has written to both streams so far. Cheap. */
  outputBytes(slot: number): number {
    return this.at(slot).outputBytes();
  }

  /** Kills everything and removes the folder. */
  close(): void {
    this.closed = true;
    for (const pgid of this.adopted.keys()) {
      killGroup(pgid, 'SIGKILL');
      this.options.watchdog.release(pgid);
    }
    for (const launcher of this.launchers) {
      const { pgid } = launcher;
      launcher.close();
      if (pgid !== undefined) this.options.watchdog.release(pgid);
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
      index, shell: this.options.shell ?? '/bin/sh', folder: this.options.folder, environment: environmentOf(this.options, index), status: this.status.writer,
      onExit: (gone, exit) => { this.replace(gone, exit); },
    });
    this.launchers.push(launcher);
    this.guard(launcher);
    return launcher;
  }

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
    if (launcher.pgid !== undefined) this.options.watchdog.guard(launcher.pgid);
  }

  /** The launcher of a slot is gone: the spare takes its place, and it becomes the spare. */
  private replace(gone: Launcher, exit: LauncherExit): void {
    if (this.closed) return;
    if (exit.pgid !== undefined) this.options.watchdog.release(exit.pgid);
    const slot = this.slotOf[gone.index];
    const wasRunning = exit.sequence !== 0;
    if (slot !== undefined) {
      this.slots[slot] = this.spare;
      this.slotOf[this.spare.index] = slot;
      this.slotOf[gone.index] = undefined;
      this.spare = gone;
    }
    // A shell that cannot be started is tried again when the next task needs it.
    if (exit.pgid !== undefined) this.startAgain(gone);
    if (slot !== undefined && wasRunning) this.options.onEnded(slot, exit.pgid === undefined ? -1 : exit.status);
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
      if (launcher === undefined || launcher.sequence !== Number(sequence)) continue; // Its launcher was killed meanwhile.
      launcher.sequence = 0;
      const slot = this.slotOf[launcher.index];
      if (slot !== undefined) this.options.onEnded(slot, Number(status));
    }
  }
}

function environmentOf({ environment, watchdog }: LaunchersOptions, index: number): Record<string, string> {
  return { ...environment, ...watchdog.environment, [launcherVariable]: String(index) };
}

/** A pair of connected sockets: shells write to one as their standard output, all to the same, and we read from the other. */
interface StatusChannel {
  readonly reader: Socket;
  readonly writer: Socket;
  onText: (text: string) => void;
}

/** Node makes no pipes of its own accord; one connection to ourselves does as well, and is read without a stream's overhead. */
async function openStatusChannel(folder: string): Promise<StatusChannel> {
  // The kernel takes 107 bytes for the path of a socket; a folder may have a longer one, but its descriptor has not.
  const place = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await connectToSelf(`/proc/self/fd/${place}/status`);
  } finally {
    closeSync(place);
  }
}

async function connectToSelf(file: string): Promise<StatusChannel> {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer({ pauseOnConnect: true }, accepted.resolve);
  server.once('error', accepted.reject);
  server.listen(file);
  const readText = (count: number, bytes: Uint8Array): boolean => {
    channel.onText(Buffer.from(bytes.buffer, bytes.byteOffset, count).toString('latin1'));
    return true;
  };
  await once(server, 'listening');
  const reader = connect({ path: file, onread: { buffer: new Uint8Array(16 * 1024), callback: readText } });
  reader.once('error', accepted.reject);
  const channel: StatusChannel = { reader, writer: await accepted.promise, onText: () => undefined };
  server.close(); // Removes the file at once, while the folder's descriptor leads there.
  return channel;
}

/** Both ticks are rounded down, and the launch's is at most what it was: what began in an earlier one is not the task's. */
function isLeftover(row: ProcessRow, launcher: Launcher): boolean {
  return launcher.sequence === 0 || row.startedTicks < launcher.launchedTicks;
}

/** Measured again with each sweep, since only the time since boot goes on while a machine sleeps. */
function readBootOffset(): number {
  const uptime = readUptime() ?? 0;
  return uptime - performance.now();
}
