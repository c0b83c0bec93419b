import { mkdirSync, openSync, closeSync, constants, writeSync } from 'node:fs';
import path from 'node:path';
import type { AgentInput, HeldReplica, ProcessResult, Verdict } from '@mutirao/core/machines/agent';
import type { GangMembership } from '@mutirao/core/messages';
import { describeError, type Duration } from '@mutirao/core/shared';
import { removeTree } from '@mutirao/runtime/files';
import { makeFifos, quoteWord, type PipedProcess, type StartPipedOptions } from '@mutirao/runtime/processes';
import type { Patience } from './connection.ts';
import { Lead, memberVariables } from './lead.ts';
import { Member } from './member.ts';

/** Properties of a member's process that override or extend those of its task. */
export interface GangTask {
  /** Variables in addition to those that every task has. */
  readonly variables: Readonly<Record<string, string>>;
  /** A line to run instead of the task's own; undefined for that. */
  readonly line: string | undefined;
  /** Folders of the agent that the process uses. */
  readonly folders: readonly string[];
}

/** What gangs need of the agent. */
export interface GangsOptions {
  /** Made again. */
  readonly folder: string;
  /** What this machine's members are called. */
  readonly name: string;
  /** Addresses of this host at which members listen. */
  readonly hosts: readonly string[];
  readonly killGrace: Duration;
  /** How long rank 0 and a member may be out of each other's reach, in milliseconds. */
  readonly linkPatience: Duration;
  readonly patience?: Patience;
  deliver(input: AgentInput): void;
  /** Launches a member's process as a task of its slot. */
  launch(replica: HeldReplica, task: GangTask): void;
  /** Signals that process. */
  signal(replica: HeldReplica, signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Starts a process in the member's folder, which counts to its task. */
  start(
    replica: HeldReplica,
    variables: Readonly<Record<string, string>>,
    command: string,
    onClosed: StartPipedOptions['onClosed'],
  ): PipedProcess;
}

/** A member of a gang on this machine. */
interface Held {
  readonly replica: HeldReplica;
  readonly member: Member;
  /** Parts that only rank 0 has. */
  readonly lead: Lead | undefined;
  /** The FIFO whose reader stands for a member of another rank among the tasks of this machine; -1 for none. */
  readonly leash: number;
  readonly leashPath: string;
  /** Whether its process was started. */
  isLaunched: boolean;
  /** Whether it received the order to end before that. */
  isCondemned: boolean;
}

/** Members of gangs on this machine, from when they are held until they have ended. */
export class Gangs {
  private readonly options: GangsOptions;
  private readonly held = new Map<number, Held>();
  /** Those that were released while they were about to listen. */
  private readonly releasedEarly = new Set<number>();
  private readonly opening = new Set<number>();

  /** Removes what a former agent left. @throws Error of the file system. */
  constructor(options: GangsOptions) {
    this.options = options;
    removeTree(options.folder);
  }

  /** Lets a member listen; MemberListening or HoldFailed reports the result. */
  async hold(replica: HeldReplica): Promise<void> {
    const { replicaId, gang } = replica.start;
    if (gang === undefined) return;
    this.opening.add(replicaId);
    try {
      const held = await this.open(replica, gang);
      if (this.releasedEarly.delete(replicaId)) {
        close(held);
        return;
      }
      this.held.set(replicaId, held);
      this.options.deliver({
        kind: 'MemberListening',
        held: { replicaId, name: this.options.name, addresses: held.member.addresses },
      });
    } catch (error) {
      if (this.releasedEarly.delete(replicaId)) return;
      this.options.deliver({ kind: 'HoldFailed', replicaId, verdict: getVerdict(error) });
    } finally {
      this.opening.delete(replicaId);
    }
  }

  /** Its gang starts: rank 0 launches the task, the others take commands. */
  launch(replica: HeldReplica): void {
    const held = this.held.get(replica.start.replicaId);
    if (held === undefined)
      return this.reportEnd(replica, {
        outcome: 'broken',
        reason: 'MUT_GANG_LOST',
        detail: 'the member is not held here',
      });
    if (held.lead !== undefined) void this.lead(held, held.lead);
    else this.follow(held);
  }

  /** Asks a member to end, or kills it. */
  signal(replica: HeldReplica, signal: 'SIGTERM' | 'SIGKILL'): void {
    const held = this.held.get(replica.start.replicaId);
    if (held === undefined) return;
    held.isCondemned = true;
    if (!held.isLaunched) return;
    held.member.signal(signal, () => {
      letGo(held);
    });
    // Rank 0's process is the task's own; the reader in a member's place is let go once its commands have ended.
    if (held.lead !== undefined || signal === 'SIGKILL') this.options.signal(replica, signal);
  }

  /** Ends everything of a member except its process. */
  release(replicaId: number): void {
    const held = this.held.get(replicaId);
    if (held === undefined) {
      if (this.opening.has(replicaId)) this.releasedEarly.add(replicaId);
      return;
    }
    this.held.delete(replicaId);
    close(held);
  }

  /** Ends all of them. */
  close(): void {
    for (const replicaId of [...this.held.keys(), ...this.opening]) this.release(replicaId);
    removeTree(this.options.folder);
  }

  private async open(replica: HeldReplica, gang: GangMembership): Promise<Held> {
    const { folder, hosts, killGrace, linkPatience, patience, deliver } = this.options;
    const { replicaId } = replica.start;
    const onLost = (detail: string): void => {
      deliver({ kind: 'GangLost', replicaId, detail });
    };
    const { outputMax } = replica.template.limits;
    const shared = { linkPatience, onLost, ...(patience === undefined ? {} : { patience }) };
    const member = await Member.hold({
      ...shared,
      key: gang,
      hosts,
      killGrace,
      // What rank 0 writes comes back to its own task, which is watched.
      outputMax: gang.rank === 0 ? 0 : outputMax,
      start: (command, onClosed) => this.options.start(replica, memberVariables(replica.members), command, onClosed),
      onOutputMax: (bytes) => {
        deliver({
          kind: 'LimitExceeded',
          replicaId,
          reason: 'MUT_OUTPUT_MAX',
          detail: { code: 'output-limit-exceeded', outputBytes: bytes, outputBytesMax: outputMax },
        });
      },
    });
    const own = path.join(folder, String(replicaId));
    try {
      const lead = gang.rank === 0 ? new Lead({ ...shared, place: gang, folder: own }) : undefined;
      const leashPath = path.join(own, 'leash');
      return {
        replica,
        member,
        lead,
        leashPath,
        leash: lead === undefined ? openLeash(leashPath) : -1,
        isLaunched: false,
        isCondemned: false,
      };
    } catch (error) {
      member.close();
      throw error;
    }
  }

  private async lead(held: Held, lead: Lead): Promise<void> {
    const { replica } = held;
    try {
      const variables = await lead.begin(replica.members);
      if (!this.isStillHeld(held)) return;
      if (held.isCondemned) return this.reportEnd(replica, undefined);
      held.isLaunched = true;
      this.options.launch(replica, { variables, line: undefined, folders: [lead.filesFolder] });
      held.member.begin();
    } catch (error) {
      if (this.isStillHeld(held)) this.reportEnd(replica, getVerdict(error));
    }
  }

  /**
   * Among the tasks of this machine a reader stands for the member, which has its limits, its folder and its end;
   * commands belong to that task.
   */
  private follow(held: Held): void {
    held.isLaunched = true;
    this.options.launch(held.replica, {
      variables: {},
      line: `trap '' HUP INT TERM; read -r end <${quoteWord(held.leashPath)}`,
      folders: [],
    });
    held.member.begin();
  }

  private isStillHeld(held: Held): boolean {
    return this.held.get(held.replica.start.replicaId) === held;
  }

  private reportEnd(replica: HeldReplica, verdict: Verdict | undefined): void {
    this.options.deliver({ kind: 'ProcessEnded', replicaId: replica.start.replicaId, result: nothing, verdict });
  }
}

const noBytes = new Uint8Array(0);
const nothing: ProcessResult = {
  exitStatus: 0,
  standardOutput: noBytes,
  standardError: noBytes,
  outputTruncated: false,
  outputBytes: 0,
};

/** Open both ways, so that opening does not block, and its reader waits. */
function openLeash(file: string): number {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  makeFifos([file]);
  return openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
}

function letGo(held: Held): void {
  if (held.leash >= 0) writeSync(held.leash, '\n');
}

function close(held: Held): void {
  held.member.close();
  held.lead?.close();
  if (held.leash < 0) return;
  closeSync(held.leash);
  removeTree(path.dirname(held.leashPath));
}

function getVerdict(error: unknown): Verdict {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return {
    outcome: 'broken',
    reason: code.startsWith('MUT_') ? code : 'MUT_GANG_CHANNEL_FAILED',
    detail: describeError(error),
  };
}
