import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { getSlot, type HeldReplica } from '@mutirao/core/machines/agent';
import { runnerProtocolVersion, type InputFile } from '@mutirao/core/messages';
import { describeError, type Bytes, type Duration } from '@mutirao/core/shared';
import { fsPath, removeTree, removeTreeLater, resolveInside } from '@mutirao/runtime/files';
import type { TaskEnd, TaskOutput } from '@mutirao/runtime/processes';
import type { ContentCache } from '../content-cache.ts';
import { shorten } from '../find-outputs.ts';
import type { Playpens } from '../playpens.ts';
import { classifyInputError, stageIn, type ReplicaFolders } from '../stage-in.ts';
import type { RunnerFrame } from './frames.ts';
import { RunnerChannel } from './runner-channel.ts';

/** What runners need from those who start their processes. */
export interface RunnersOptions {
  /** For their pipes; made if it is absent. */
  readonly folder: string;
  readonly playpens: Playpens;
  /** The variables that a call has for itself. */
  variablesOf(replica: HeldReplica, playpen: string): Readonly<Record<string, string>>;
  /** Starts a runner's process on the slot of its first task. @throws Error where it cannot be tried. */
  start(replica: HeldReplica, place: RunnerPlace): void;
  /** A call begins: what the process writes from now on is the call's. */
  beginOutput(replica: HeldReplica): void;
  /** What the process wrote since then. */
  endOutput(slot: number): TaskOutput;
  kill(slot: number): void;
  /** A call has ended, and its runner waits for the next. */
  onCallEnded(slot: number, end: TaskEnd): void;
  /** A runner without a call has ended, or ends now, and nobody had asked it to. */
  onIdleEnded(slot: number): void;
  /** A runner's process is gone, and so is what it had. */
  onLeft(slot: number): void;
}

/** Where a runner's process starts. */
export interface RunnerPlace {
  /** Holds the folders of its calls, and their inputs. */
  readonly home: string;
  /** Of its first call; it starts there. */
  readonly folder: string;
  readonly redirections: string;
}

/** A runner, from the staging of its first call to the removal of its files. */
interface Resident {
  /** All that it holds; the first names it. */
  readonly slots: readonly number[];
  /** Whether memory, GPUs or other amounts are set aside for it. */
  readonly hasResources: boolean;
  /** Most memory that it may hold while it is idle. */
  readonly idleMemoryMax: Bytes;
  readonly home: string;
  /** Of the call that runs, or ran last. */
  folder: string;
  callCount: number;
  /** Inputs that are in its home, by their names there, and their sizes; the oldest first. */
  readonly inputs: Map<string, Bytes>;
  /** Open while its process lives. */
  channel: RunnerChannel | undefined;
  isReady: boolean;
  /** A call has been prepared and not sent yet: its files stay, also without a process. */
  isStaged: boolean;
  /** The call that runs. */
  replica: HeldReplica | undefined;
  /** Its process has read that call. */
  hasBegun: boolean;
  /** Its process has ended a call before. */
  hasServed: boolean;
  /** It was signalled, or sent something other than a frame: its answers no longer count. */
  isDoomed: boolean;
  /** Why its call is broken, where it is. */
  fault: string;
  /** Set once it must end; resolves when it has. */
  ending: PromiseWithResolvers<undefined> | undefined;
}

/** Inputs of earlier calls that a runner keeps, in bytes and as a number. */
const inputBytesMax: Bytes = 1024 * 1024 * 1024;
const inputCountMax = 1000;
/** Most memory of an idle runner for which none was set aside. */
const idleMemoryMax: Bytes = 2 * 1024 * 1024 * 1024;
/** Between the end of its frames and a kill. */
const endGrace: Duration = 1000;

/** Resident processes that take tasks as frames, one per slot at most. */
export class Runners {
  readonly #options: RunnersOptions;
  readonly #residents = new Map<number, Resident>();
  #channelCount = 0;
  #isClosed = false;

  constructor(options: RunnersOptions) {
    this.#options = options;
    removeTree(options.folder);
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  }

  /**
   * Resolves when nothing is left of the runners that must end and may hold what a replica was given: a processor, or
   * memory, GPUs and the like; undefined where there are none. The core gives those back when it ends a runner.
   */
  whenFree({ slots, assignment }: Pick<HeldReplica, 'slots' | 'assignment'>): Promise<unknown> | undefined {
    const ends: Promise<undefined>[] = [];
    for (const one of this.#residents.values()) {
      if (one.ending === undefined) continue;
      if ((assignment !== undefined && one.hasResources) || one.slots.some((slot) => slots.includes(slot)))
        ends.push(one.ending.promise);
    }
    return ends.length === 0 ? undefined : Promise.all(ends);
  }

  /** The folder of a slot's call; undefined where no runner has the slot. */
  folderOf(slot: number): string | undefined {
    return this.#residents.get(slot)?.folder;
  }

  /**
   * Puts a call's inputs in place: links to files in the runner's home, which stay for later calls. @throws as `stageIn`
   * does.
   */
  async stage(replica: HeldReplica, storage: string, cache: ContentCache): Promise<ReplicaFolders> {
    const resident = this.#prepare(replica);
    const folders = { playpen: resident.folder, storage };
    const own = replica.start.inputs.filter(({ root }) => root === 'playpen');
    for (const input of own) {
      try {
        await this.#link(resident, input, cache);
      } catch (error) {
        throw classifyInputError(error, `input "${shorten(input.path)}"`);
      }
    }
    const others = replica.start.inputs.filter(({ root }) => root !== 'playpen');
    if (others.length > 0) await stageIn({ ...replica, start: { ...replica.start, inputs: others } }, folders, cache);
    this.#forgetInputs(resident, new Set(own.map(nameOfInput)));
    return folders;
  }

  /** Gives a task to the runner on its slot, which is started where it does not run. @throws Error. */
  launch(replica: HeldReplica): void {
    const slot = getSlot(replica);
    const resident = replica.start.inputs.length > 0 ? this.#residents.get(slot) : this.#prepare(replica);
    if (resident === undefined) throw new Error(`slot ${slot} has no runner`);
    resident.isStaged = false;
    this.#call(slot, resident, replica);
  }

  #call(slot: number, resident: Resident, replica: HeldReplica): void {
    Object.assign(resident, { replica, hasBegun: false });
    try {
      if (resident.channel === undefined) this.#start(slot, resident, replica);
      else this.#options.beginOutput(replica);
      resident.channel?.send({
        number: resident.callCount,
        folder: resident.folder,
        value: replica.start.value,
        variables: this.#options.variablesOf(replica, resident.folder),
      });
    } catch (error) {
      resident.replica = undefined;
      throw error;
    }
  }

  /** A signal goes to a task's runner: it ends with it, whatever it answers. */
  doom(slot: number): void {
    const resident = this.#residents.get(slot);
    if (resident !== undefined) resident.isDoomed = true;
  }

  /** Ends an idle runner. Harmless where there is none. */
  end(slot: number): void {
    const resident = this.#residents.get(slot);
    if (resident === undefined || resident.ending !== undefined) return;
    if (resident.channel === undefined) return this.#leave(slot, resident);
    const ending = Promise.withResolvers<undefined>();
    resident.ending = ending;
    resident.channel.close();
    setTimeout(() => {
      if (this.#residents.get(slot) === resident && !this.#isClosed) this.#options.kill(slot);
    }, endGrace).unref();
  }

  /** Whether any waits for a call. */
  get areIdle(): boolean {
    return [...this.#residents.values()].some(isIdle);
  }

  /** The most memory that the runner of a slot may hold now; undefined where none is idle. */
  idleMemoryMaxOf(slot: number): Bytes | undefined {
    const resident = this.#residents.get(slot);
    return resident !== undefined && isIdle(resident) ? resident.idleMemoryMax : undefined;
  }

  /** Ends an idle runner that nobody has asked to end. */
  evict(slot: number): void {
    if (this.idleMemoryMaxOf(slot) === undefined) return;
    this.end(slot);
    this.#options.onIdleEnded(slot);
  }

  /**
   * The process of a slot has ended. @returns the call that ended with it and why that is broken, if it is; undefined
   * for a process of another kind. There is no call where it had none, or where another process has begun it again.
   */
  finish(slot: number): { readonly replica?: HeldReplica; readonly fault: string } | undefined {
    const resident = this.#residents.get(slot);
    if (resident?.channel === undefined) return undefined;
    resident.channel.drain();
    resident.channel.close();
    resident.channel = undefined;
    if (isUnread(resident)) return this.#callAgain(slot, resident, resident.replica);
    const { replica, ending, fault } = resident;
    resident.replica = undefined;
    // The files of a call stay until its outputs were read.
    if (replica !== undefined) return { replica, fault };
    // It was idle, and its next call is being staged: that starts another process in the same home.
    if (resident.isStaged) return { fault };
    this.#leave(slot, resident);
    if (ending === undefined) this.#options.onIdleEnded(slot);
    return { fault };
  }

  /** It was idle when it ended, and had not read the call that was sent meanwhile: another process takes that. */
  #callAgain(slot: number, resident: Resident, replica: HeldReplica): { replica?: HeldReplica; fault: string } {
    try {
      this.#call(slot, resident, replica);
      return { fault: '' };
    } catch (error) {
      return { replica, fault: `no other runner could be started: ${describeError(error)}` };
    }
  }

  /** A call's files are not needed any more. @returns whether the slot has a runner. */
  release(slot: number): boolean {
    const resident = this.#residents.get(slot);
    if (resident === undefined) return false;
    resident.isStaged = false;
    if (resident.channel === undefined) this.#leave(slot, resident);
    else if (resident.replica === undefined) void removeTreeLater(resident.folder);
    return true;
  }

  /** Lets go of all pipes; whoever started the processes kills them. */
  close(): void {
    this.#isClosed = true;
    for (const resident of this.#residents.values()) {
      resident.channel?.close();
      resident.ending?.resolve(undefined);
    }
    removeTree(this.#options.folder);
  }

  #prepare(replica: HeldReplica): Resident {
    const slot = getSlot(replica);
    let resident = this.#residents.get(slot);
    if (resident === undefined) {
      const home = this.#options.playpens.prepare(slot);
      mkdirSync(path.join(home, inputsFolder), { mode: 0o700 });
      resident = {
        slots: replica.slots,
        hasResources: replica.assignment !== undefined,
        idleMemoryMax: (replica.assignment?.memory ?? 0) || idleMemoryMax,
        home,
        folder: home,
        callCount: 0,
        inputs: new Map(),
        channel: undefined,
        isReady: false,
        isStaged: false,
        replica: undefined,
        hasBegun: false,
        hasServed: false,
        isDoomed: false,
        fault: '',
        ending: undefined,
      };
      this.#residents.set(slot, resident);
    }
    resident.folder = path.join(resident.home, String(++resident.callCount));
    mkdirSync(resident.folder, { mode: 0o700 });
    resident.isStaged = true;
    return resident;
  }

  async #link({ home, folder, inputs }: Resident, input: InputFile, cache: ContentCache): Promise<void> {
    const name = nameOfInput(input);
    const target = path.join(home, inputsFolder, name);
    if (!inputs.has(name)) await cache.copyTo(input.content, target, 0o400 | (input.mode & 0o111));
    inputs.delete(name); // Once more at the end: it is the newest.
    inputs.set(name, input.content.size);
    const place = resolveInside(folder, input.path);
    if (path.dirname(place) !== folder) mkdirSync(fsPath(path.dirname(place)), { recursive: true });
    symlinkSync(target, fsPath(place));
  }

  #forgetInputs({ home, inputs }: Resident, needed: ReadonlySet<string>): void {
    let bytes = 0;
    for (const size of inputs.values()) bytes += size;
    for (const [name, size] of [...inputs]) {
      if (bytes <= inputBytesMax && inputs.size <= inputCountMax) return;
      if (needed.has(name)) continue;
      removeTree(path.join(home, inputsFolder, name));
      inputs.delete(name);
      bytes -= size;
    }
  }

  #start(slot: number, resident: Resident, replica: HeldReplica): void {
    const name = path.join(this.#options.folder, `${slot}.${++this.#channelCount}`);
    const channel = new RunnerChannel(
      name,
      (frame) => {
        this.#receive(slot, resident, frame);
      },
      (fault) => {
        this.#refuse(slot, resident, fault);
      },
    );
    try {
      const { home, folder } = resident;
      this.#options.start(replica, { home, folder, redirections: channel.redirections });
    } catch (error) {
      channel.close();
      throw error;
    }
    Object.assign(resident, { channel, isReady: false, hasServed: false, isDoomed: false, fault: '' });
  }

  #receive(slot: number, resident: Resident, frame: RunnerFrame): void {
    if (resident.isDoomed || resident.ending !== undefined) return;
    if (frame.kind === 'ready') {
      if (frame.protocolVersion !== runnerProtocolVersion)
        this.#refuse(slot, resident, `frames of version ${frame.protocolVersion}; expected ${runnerProtocolVersion}`);
      resident.isReady = true;
      return;
    }
    const isBegin = frame.kind === 'begun';
    if (!isOwnCall(resident, frame.number) || resident.hasBegun === isBegin)
      return this.#refuse(
        slot,
        resident,
        `the ${isBegin ? 'begin' : 'end'} of call ${frame.number}, which it does not run`,
      );
    if (isBegin) {
      resident.hasBegun = true;
      return;
    }
    Object.assign(resident, { replica: undefined, hasServed: true });
    const { exitStatus, processorMs } = frame;
    this.#options.onCallEnded(slot, {
      ...this.#options.endOutput(slot),
      status: exitStatus,
      signal: undefined,
      ...(processorMs === undefined ? {} : { processorMs }),
    });
  }

  /** It is ended, and its call with it. */
  #refuse(slot: number, resident: Resident, fault: string): void {
    if (resident.isDoomed) return;
    resident.isDoomed = true;
    resident.fault = `the runner sent ${fault}`;
    this.#options.kill(slot);
  }

  #leave(slot: number, resident: Resident): void {
    this.#residents.delete(slot);
    this.#options.playpens.release(slot);
    this.#options.onLeft(slot);
    resident.ending?.resolve(undefined);
  }
}

const inputsFolder = 'inputs';

function isIdle({ channel, replica, isStaged, ending }: Resident): boolean {
  return channel !== undefined && replica === undefined && !isStaged && ending === undefined;
}

/** Whether its process has said that it is ready, and was sent that call. */
function isOwnCall({ replica, callCount, isReady }: Resident, number: number): boolean {
  return replica !== undefined && number === callCount && isReady;
}

/** Whether its process, which has ended, was idle and left a call unread. */
function isUnread(resident: Resident): resident is Resident & { replica: HeldReplica } {
  const { replica, hasServed, hasBegun, isDoomed, ending } = resident;
  return replica !== undefined && hasServed && !hasBegun && !isDoomed && ending === undefined;
}

/** The same content with the same rights has the same name. */
function nameOfInput({ content, mode }: InputFile): string {
  return `${content.sha256}${(mode & 0o111) === 0 ? '' : '.x'}`;
}
