import { randomBytes } from 'node:crypto';
import { GridMachineServiceClient, Outcome, type AttachRequest, type AttachResponse, type MachineFacts, type ReplicaEnded, type ReplicaStart, type Report } from '@mutirao/api/machine';
import { userTrust } from '@mutirao/runtime/identity';
import { dial, openStream, type MessageStream } from '@mutirao/runtime/rpc';
import type { Grid } from './grid.ts';
import { inviteMachine } from './invite-machine.ts';

/** What a hostile machine says. */
export interface HostileWords {
  /** As its facts; what is left out is as an honest machine has it. */
  readonly facts?: Partial<MachineFacts>;
  /** What it reports of a replica that it is given: an honest success without outputs, changed; undefined where it says nothing. Left out, that success. */
  answer?(honest: ReplicaEnded, start: ReplicaStart): ReplicaEnded | undefined;
  /** Changes a report before it is sent. */
  report?(honest: Report): Report;
}

/** A machine whose owner has its credential and says whatever suits the owner: it runs nothing, and reports on the wire what a test wants. */
export class HostileAgent {
  /** Replicas that it was given. */
  readonly started: ReplicaStart[] = [];
  /** Why its stream was closed, each time. */
  readonly closed: (string | undefined)[] = [];
  readonly #words: HostileWords;
  readonly #name: string;
  readonly #client: GridMachineServiceClient;
  #stream: MessageStream<AttachResponse, AttachRequest> | undefined;
  #sequence = 0;

  private constructor(grid: Grid, name: string, invitation: string, words: HostileWords) {
    this.#name = name;
    this.#words = words;
    this.#client = dial(GridMachineServiceClient, grid.providers.at(-1)?.agentsAddress ?? '', { token: `${invitation}~${randomBytes(32).toString('base64url')}`, trust: userTrust(grid.home, {}) });
  }

  /** Attaches it to the lab of a grid, which is there if the grid began with a machine. */
  static async attach(grid: Grid, name: string, words: HostileWords = {}): Promise<HostileAgent> {
    const agent = new HostileAgent(grid, name, await inviteMachine(grid.home, 'lab', name), words);
    agent.#attach();
    return agent;
  }

  /** Sends a report of nothing but what is given. */
  report(parts: Partial<Report>): void {
    this.#sequence += 1;
    this.#write({ $case: 'report', value: { sequence: this.#sequence, started: [], ended: [], gangHeld: [], ...parts } });
  }

  stop(): void {
    this.#stream?.close();
    this.#client.close();
  }

  #attach(): void {
    const stream: MessageStream<AttachResponse, AttachRequest> = openStream(this.#client.attach());
    this.#stream = stream;
    stream.listen({
      onMessage: ({ message }) => { if (message?.$case === 'start') this.#start(message.value.replicas); },
      onClosed: (error) => { this.closed.push(error?.code); },
    });
    const hello = { protocolVersion: 1, programVersion: '0', capabilities: [], speakerId: this.#name };
    const facts = {
      machineId: this.#name, incarnation: randomBytes(4).toString('hex'), processors: 1, attributes: {}, untilUnixMs: undefined, requestId: '', sharedTokens: [], homeMarks: [], identity: `host-${this.#name}`,
      ...this.#words.facts,
    };
    stream.write({ message: { $case: 'hello', value: { hello, facts, heldReplicaIds: [] } } });
  }

  #start(starts: readonly ReplicaStart[]): void {
    this.started.push(...starts);
    const ended = starts.flatMap((start) => {
      const honest = honestEnd(start);
      const told = this.#words.answer === undefined ? honest : this.#words.answer(honest, start);
      return told === undefined ? [] : [told];
    });
    if (ended.length === 0) return;
    this.#sequence += 1;
    const report = { sequence: this.#sequence, started: [], ended, gangHeld: [] };
    this.#write({ $case: 'report', value: this.#words.report?.(report) ?? report });
  }

  #write(message: NonNullable<AttachRequest['message']>): void {
    this.#stream?.write({ message });
  }
}

function honestEnd({ replicaId }: ReplicaStart): ReplicaEnded {
  const now = Date.now();
  return {
    replicaId, outcome: Outcome.SUCCEEDED, exitStatus: 0, startedUnixMs: now, endedUnixMs: now + 1, reason: '', detail: '', standardOutput: Buffer.alloc(0),
    standardError: Buffer.alloc(0), outputTruncated: false, outputs: [],
  };
}
