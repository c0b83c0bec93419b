import { BrokerServiceService, type JobSpec } from '@mutirao/api/broker';
import { ClusterServiceService } from '@mutirao/api/cluster';
import { Algorithm, Placement, ReservationServiceService, Timing, type Reservation } from '@mutirao/api/reservation';
import { taskGroup } from '../grid/broker-client.ts';
import type { AccessWorld, WorldServer, WorldUser } from './access-world.ts';
import { callMethod, type AnyMethod } from './call-method.ts';

/** What the client of a method sends. */
export type FindRequest<M> = M extends { readonly requestSerialize: (request: infer Request) => Buffer }
  ? Request
  : never;
type ResponseOf<M> = M extends { readonly responseDeserialize: (bytes: Buffer) => infer Response } ? Response : never;

/** Rules of a resource that leave all to the manager. */
export const resourceRules = {
  capPercent: undefined,
  algorithm: Algorithm.SUVS,
  placement: Placement.UNSPECIFIED,
  durationMsMax: 0,
  reservationsPerUserMax: 0,
  amountPerUserMax: 0,
  movesMax: undefined,
  unclaimedMsMax: 0,
};
/** The resource that the owner of the manager offers, and that of carl. */
export const resourceOf = { owner: 'pool', carl: 'carls' } as const;

/** A reservation of one unit at a resource for a day, from now on. */
export function specFor(resourceId: string): {
  resourceId: string;
  amount: { $case: 'quantity'; value: string };
  durationMs: number;
  earliestStartUnixMs: undefined;
  latestEndUnixMs: undefined;
  timing: Timing;
} {
  return {
    resourceId,
    amount: { $case: 'quantity', value: '1' },
    durationMs: 86_400_000,
    earliestStartUnixMs: undefined,
    latestEndUnixMs: undefined,
    timing: Timing.IMMEDIATE,
  };
}

/** Makes objects of users, each when a test asks for it. */
export class WorldObjects {
  readonly #world: AccessWorld;
  readonly #made = new Map<string, Promise<unknown>>();

  constructor(world: AccessWorld) {
    this.#world = world;
  }

  /** A job of a user that never starts. */
  openJob(user: WorldUser): Promise<number> {
    return this.#once(`open job ${user}`, () =>
      this.#submit(user, { groups: [taskGroup('true', 1, { requirements: 'nowhere == yes' })], open: true }),
    );
  }

  /** Another one, which nobody cancels. */
  steeredJob(user: WorldUser): Promise<number> {
    return this.#once(`steered job ${user}`, () =>
      this.#submit(user, { groups: [taskGroup('true', 1, { requirements: 'nowhere == yes' })], open: true }),
    );
  }

  /** A job of a user that has finished. */
  endedJob(user: WorldUser, use = ''): Promise<number> {
    return this.#once(`ended job ${use} ${user}`, async () => {
      const jobId = await this.#submit(user, { groups: [taskGroup('echo done', 1)] });
      await this.ask(user, 'broker', BrokerServiceService.waitJob, { jobId });
      return jobId;
    });
  }

  /** The hash of bytes that a user has uploaded. */
  blob(user: WorldUser): Promise<Buffer> {
    return this.#once(`blob ${user}`, async () => {
      const { content } = await this.ask(user, 'broker', BrokerServiceService.uploadBlob, {
        data: Buffer.from(`of ${user}`),
      });
      return content?.sha256 ?? Buffer.alloc(0);
    });
  }

  /** A new request of a user at the cluster. */
  async clusterRequest(user: WorldUser): Promise<string> {
    const order = {
      userId: '',
      widthProcessors: 1,
      walltimeMs: 60_000,
      command: ['true'],
      environment: {},
      workingDirectory: '',
      clientRequestId: '',
      reservationClaim: '',
    };
    return (await this.ask(user, 'cluster', ClusterServiceService.allocate, order)).requestId;
  }

  /** A new reservation of a user; held where `holdMs` says so, else confirmed. */
  async reservation(user: WorldUser, resourceId: string = resourceOf.owner, holdMs = 0): Promise<Reservation> {
    await this.#resources();
    const { outcome } = await this.ask(user, 'reservations', ReservationServiceService.requestReservation, {
      spec: specFor(resourceId),
      clientRequestId: '',
      holdMs,
      dryRun: false,
    });
    if (outcome?.$case !== 'reservation') throw new Error(`no reservation: ${JSON.stringify(outcome)}`);
    return outcome.value;
  }

  /** A new reservation of a user that is in use. */
  async claimed(user: WorldUser, resourceId: string = resourceOf.owner): Promise<number> {
    const { reservationId, claim } = await this.reservation(user, resourceId);
    await this.ask(user, 'reservations', ReservationServiceService.claimReservation, {
      claim,
      resourceId,
      userId: '',
      clientRequestId: 'use',
      reservationId,
    });
    return reservationId;
  }

  /** The resource that a user offers; those who may not have none, and name the owner's. */
  async resource(user: WorldUser): Promise<string> {
    await this.#resources();
    return user === 'carl' ? resourceOf.carl : resourceOf.owner;
  }

  /**
   * Has a user call a method of any kind, and answers its first response. @throws Error with what it was refused with.
   */
  async ask<M extends AnyMethod>(
    user: WorldUser,
    server: WorldServer,
    method: M,
    request: FindRequest<M>,
  ): Promise<ResponseOf<M>> {
    const { code, message, responses } = await callMethod(
      await this.#world.asUser(user, server),
      method,
      method.requestSerialize(request as never),
    );
    if (code !== 'done') throw new Error(`${method.path} as ${user}: ${code} ${message}`);
    return responses[0] as ResponseOf<M>;
  }

  #resources(): Promise<unknown> {
    return this.#once('resources', async () => {
      for (const [user, resourceId] of Object.entries(resourceOf) as [WorldUser, string][]) {
        await this.ask(user, 'reservations', ReservationServiceService.registerResource, {
          resourceId,
          resourceType: 'processors',
          quantity: '1000',
          rules: resourceRules,
        });
      }
    });
  }

  async #submit(user: WorldUser, parts: Pick<JobSpec, 'groups' | 'open'>): Promise<number> {
    const job: JobSpec = {
      label: 'test',
      environment: {},
      limits: undefined,
      processors: undefined,
      replicasMax: undefined,
      failuresMax: undefined,
      homeDirectory: '',
      deadlineUnixMs: undefined,
      edges: [],
      ...parts,
    };
    return (await this.ask(user, 'broker', BrokerServiceService.submitJob, { job, clientJobId: '' })).jobId;
  }

  #once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const made = (this.#made.get(name) as Promise<T> | undefined) ?? make();
    this.#made.set(name, made);
    return made;
  }
}
