import { closeSync, constants, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { GangMember, GangMembership } from '@mutirao/core/messages';
import { describeError, type Duration } from '@mutirao/core/shared';
import { makeFreshFolder, removeTree } from '@mutirao/runtime/files';
import { makeFifos } from '@mutirao/runtime/processes';
import { Call } from './call.ts';
import { dialMember } from './channel.ts';
import type { Connection, Patience } from './connection.ts';
import { launcherScript } from './launcher-script.ts';
import { Link } from './link.ts';

/** What rank 0 needs in addition to its membership. */
export interface LeadOptions {
  readonly place: GangMembership;
  /** Made again, and removed at the close. */
  readonly folder: string;
  /** How long a member may be out of reach, in milliseconds. */
  readonly linkPatience: Duration;
  readonly patience?: Patience;
  /** A member has been out of reach for longer. */
  onLost(detail: string): void;
}

/** Time that a call has for reaching its member, in milliseconds. */
const dialDeadline = 10_000;
/** Calls at once; those beyond wait until one is over. mpirun has one for each member as long as it runs. */
const callsMax = 1024;
/** A call's name ends in a line of the FIFO, which takes lines up to this size in one write. */
const callNameMax = 64;

/** What rank 0 has in addition to its membership: `$RSH_CMD`, `$HOSTFILE`, and a link to each other member. */
export class Lead {
  private readonly options: LeadOptions;
  private readonly folder: string;
  private readonly listening: Socket;
  private readonly calls = new Set<Call>();
  private links: readonly Link[] = [];
  /**
   * By rank: a connection for the first call, since the handshakes of a whole gang would keep its members waiting for
   * each other.
   */
  private readonly spares = new Map<number, Connection>();
  private members: readonly GangMember[] = [];
  /** Names of calls that have not been taken up. */
  private waiting: string[] = [];
  private rest = '';
  private isClosed = false;

  /** Makes its files. @throws Error of the file system. */
  constructor(options: LeadOptions) {
    this.options = options;
    // `$RSH_CMD` stands in command lines without quotes, and mpirun splits it at blanks.
    this.folder = isPlain(options.folder)
      ? makeFreshFolder(options.folder)
      : mkdtempSync(path.join(tmpdir(), 'mutirao-gang-'));
    writeFileSync(this.launcher, launcherScript(this.folder), { mode: 0o700 });
    const fifo = path.join(this.folder, 'calls');
    makeFifos([fifo]);
    // Open for writing too, or it would be at its end whenever no caller is there.
    const file = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    try {
      this.listening = new Socket({ fd: file, readable: true, writable: false });
    } catch (error) {
      closeSync(file);
      throw error;
    }
    this.listening.on('data', (chunk: Buffer) => {
      this.receive(chunk.toString('latin1'));
    });
    this.listening.on('error', () => undefined);
  }

  /**
   * Links to each member once all are held, and returns the variables for the task's environment.
   *
   * @throws {MutiraoError} MUT_GANG_LOST when one of them is out of reach.
   */
  async begin(members: readonly GangMember[]): Promise<Record<string, string>> {
    this.members = members;
    writeFileSync(this.hostFile, members.map(({ name, processors }) => `${name} slots=${processors}\n`).join(''), {
      mode: 0o600,
    });
    const opened = await Promise.allSettled(members.slice(1).map((member) => this.reach(member)));
    this.links = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    if (this.isClosed) this.letGo();
    const lost = opened.findIndex((result) => result.status === 'rejected');
    if (lost < 0) return { ...memberVariables(members), RSH_CMD: this.launcher, HOSTFILE: this.hostFile };
    const reason: unknown = (opened[lost] as PromiseRejectedResult).reason;
    throw new MutiraoError(
      'MUT_GANG_LOST',
      `rank 0 does not reach ${members[lost + 1]?.name}: ${describeError(reason)}`,
    );
  }

  /** Ends all calls, lets go of the members and removes its files. */
  close(): void {
    this.isClosed = true;
    for (const call of this.calls) call.close();
    this.letGo();
    this.listening.destroy();
    removeTree(this.folder);
  }

  /** Where `$RSH_CMD` and `$HOSTFILE` are; the launcher makes files of its own there. */
  get filesFolder(): string {
    return this.folder;
  }

  private get launcher(): string {
    return path.join(this.folder, 'rsh');
  }

  private get hostFile(): string {
    return path.join(this.folder, 'hostfile');
  }

  private receive(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = (lines.pop() ?? '').slice(0, callNameMax);
    this.waiting.push(...lines.filter((line) => /^\d[\d.]*$/.test(line)));
    this.takeWaiting();
  }

  private takeWaiting(): void {
    const free = Math.max(0, callsMax - this.calls.size);
    for (const name of this.waiting.splice(0, free)) this.take(name);
  }

  private take(name: string): void {
    const call = Call.take({
      files: path.join(this.folder, name),
      dial: (member) => this.dial(member),
      onOver: () => {
        if (call === undefined || this.isClosed) return;
        this.calls.delete(call);
        this.takeWaiting();
      },
    });
    if (call !== undefined) this.calls.add(call);
  }

  private async reach({ rank, addresses }: GangMember): Promise<Link> {
    const {
      place: { gangId, secret },
      linkPatience,
      patience,
      onLost,
    } = this.options;
    const key = { gangId, rank, secret };
    const [link, spare] = await Promise.all([
      Link.open({ addresses, key, linkPatience, ...(patience === undefined ? {} : { patience }), onLost }),
      // The link reports the failure.
      dialMember(addresses, key, linkPatience, patience).catch(() => undefined),
    ]);
    if (spare !== undefined) this.keep(rank, spare);
    return link;
  }

  private keep(rank: number, spare: Connection): void {
    this.spares.set(rank, spare);
    spare.listen({
      onFrame: (frame) => {
        throw new Error(`frame ${frame.kind} before a command`);
      },
      onDrained: () => undefined,
      onClosed: () => {
        this.spares.delete(rank);
      },
    });
  }

  private letGo(): void {
    for (const link of this.links) link.close();
    for (const spare of this.spares.values()) spare.close('rank 0 has ended');
  }

  private dial(name: string): Promise<Connection> {
    const member = findMember(this.members, name);
    if (member === undefined)
      throw new MutiraoError(
        'MUT_GANG_CHANNEL_FAILED',
        `no member is called ${name}; expected ${this.members
          .map((one) => one.name)
          .join(', ')
          .slice(0, 1000)}`,
      );
    const spare = this.spares.get(member.rank);
    if (spare !== undefined) {
      this.spares.delete(member.rank);
      return Promise.resolve(spare);
    }
    const { gangId, secret } = this.options.place;
    return dialMember(member.addresses, { gangId, rank: member.rank, secret }, dialDeadline, this.options.patience);
  }
}

/** `$PROC0` and its like, as every process of a gang has them. */
export function memberVariables(members: readonly GangMember[]): Record<string, string> {
  return Object.fromEntries(members.map(({ rank, name }) => [`PROC${rank}`, name]));
}

/** By its whole name, or by its host if no other member has that. */
function findMember(members: readonly GangMember[], name: string): GangMember | undefined {
  const whole = members.find((member) => member.name === name);
  if (whole !== undefined) return whole;
  const hosts = members.filter((member) => member.name.endsWith(`@${name}`));
  return hosts.length === 1 ? hosts[0] : undefined;
}

function isPlain(folder: string): boolean {
  return /^[\w./,@%+:-]+$/.test(folder);
}
