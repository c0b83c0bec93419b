import { randomBytes } from 'node:crypto';
import type { GangMember, ReplicaEnd, ReplicaStart, TaskTemplate } from '@mutirao/core/messages';
import { FakeProvider } from './fake-provider.ts';
import { Program } from './grid/program.ts';
import { until } from './until.ts';

/** How agents for gangs are started. */
export interface FakeGangSetup {
  readonly home: string;
  /** Agents, and so members. */
  readonly members: number;
  /** Of each; 1 when left out. */
  readonly processors?: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The one executable that agents are run from; left out for the sources. */
  readonly packed?: string;
}

/** A gang whose members are held. */
export interface HeldGang {
  /** By rank. */
  readonly replicaIds: readonly number[];
  readonly members: readonly GangMember[];
}

/** Agents of this host, each with a provider of its own, that take gangs together. */
export class FakeGang {
  readonly agents: readonly Program[];
  readonly providers: readonly FakeProvider[];
  private readonly processors: number;
  private gangCount = 0;

  private constructor(agents: readonly Program[], providers: readonly FakeProvider[], processors: number) {
    this.agents = agents;
    this.providers = providers;
    this.processors = processors;
  }

  /** Starts them and waits until they are attached. */
  static async start({ home, members, processors = 1, args = [], env = {}, packed }: FakeGangSetup): Promise<FakeGang> {
    const providers = Array.from({ length: members }, () => new FakeProvider());
    await Promise.all(providers.map((provider) => provider.start()));
    const agents = providers.map(
      (provider, index) =>
        new Program(
          'agent',
          [
            '--home',
            home,
            '--provider',
            provider.address,
            '--machine-id',
            `lab/pc${index}`,
            '--processors',
            String(processors),
            '--kill-grace',
            '300ms',
            ...args,
          ],
          { MUTIRAO_CREDENTIAL: FakeProvider.token, ...env },
          packed === undefined ? {} : { packed },
        ),
    );
    const gang = new FakeGang(agents, providers, processors);
    await Promise.all(agents.map((agent) => agent.start()));
    await gang.attached();
    return gang;
  }

  /** Every agent is attached. */
  async attached(): Promise<void> {
    await until(() => this.providers.every((provider) => provider.isAttached), 'all agents of the gang attach');
  }

  async stop(): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent.kill('SIGKILL')));
    await Promise.all(this.providers.map((provider) => provider.stop()));
  }

  /** Has all agents hold a member each; only rank 0 has inputs and outputs. */
  async hold(template: TaskTemplate, parts: Partial<ReplicaStart> = {}): Promise<HeldGang> {
    const place = { gangId: ++this.gangCount, members: this.providers.length, secret: randomBytes(32) };
    const replicaIds = this.providers.map(
      (provider, rank) =>
        provider.place({ ...template, processors: this.processors }, [
          { ...parts, ...(rank === 0 ? {} : { inputs: [], outputs: [] }), gang: { ...place, rank } },
        ])[0] ?? 0,
    );
    const held = await Promise.all(this.providers.map((provider, rank) => provider.getHeld(replicaIds[rank] ?? 0)));
    return {
      replicaIds,
      members: held.map(({ name, addresses }, rank) => ({ rank, name, addresses, processors: this.processors })),
    };
  }

  /** Says that the gang starts, to all members or to these. */
  begin({ replicaIds, members }: HeldGang, ranks: readonly number[] = members.map(({ rank }) => rank)): void {
    for (const rank of ranks) this.providers[rank]?.startGang(replicaIds[rank] ?? 0, members);
  }

  /** Waits for the report of the end of a member. */
  async findEnd({ replicaIds }: HeldGang, rank: number): Promise<ReplicaEnd> {
    const provider = this.providers[rank];
    if (provider === undefined) throw new Error(`no rank ${rank}`);
    return provider.findEnd(replicaIds[rank] ?? 0);
  }

  /** Cancels all members but rank 0, and waits for their ends. */
  async release(gang: HeldGang): Promise<ReplicaEnd[]> {
    const others = gang.replicaIds.map((_replicaId, rank) => rank).slice(1);
    for (const rank of others) this.providers[rank]?.cancel([gang.replicaIds[rank] ?? 0]);
    return Promise.all(others.map((rank) => this.findEnd(gang, rank)));
  }

  /** Holds, begins, waits for the end of rank 0 and releases the others, as a broker does. */
  async run(template: TaskTemplate, parts: Partial<ReplicaStart> = {}): Promise<ReplicaEnd> {
    const gang = await this.hold(template, parts);
    this.begin(gang);
    const end = await this.findEnd(gang, 0);
    await this.release(gang);
    return end;
  }
}
