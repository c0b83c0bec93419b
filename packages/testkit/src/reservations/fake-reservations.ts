import { PassThrough } from 'node:stream';
import { MutiraoError, type ErrorCode } from '@mutirao/api/errors';
import {
  ReservationStatus,
  type ClaimReservationRequest,
  type ListReservationsRequest,
  type RegisterResourceRequest,
  type Reservation,
  type ReservationServiceClient,
  type ReportProvisioningRequest,
  type VerifyReservationRequest,
  type VerifyReservationResponse,
  type WatchReservationsResponse,
} from '@mutirao/api/reservation';
import type { ClaimSigner } from '@mutirao/runtime/claims';
import { toStatus } from '@mutirao/runtime/rpc';

type Callback = (error: unknown, response?: unknown) => void;

/** A reservation of two of `alpha` for ana, from 1000 to 5000. */
export function aReservationWire(parts: Partial<Reservation> = {}): Reservation {
  return {
    reservationId: 7,
    resourceId: 'alpha',
    userId: 'ana',
    status: ReservationStatus.CONFIRMED,
    startUnixMs: 1000,
    endUnixMs: 5000,
    amount: 2,
    units: [],
    earliestStartUnixMs: 1000,
    latestEndUnixMs: undefined,
    holdUntilUnixMs: 0,
    requestedUnixMs: 0,
    claimedUnixMs: 0,
    endedUnixMs: 0,
    revision: 1,
    reason: undefined,
    clientRequestId: '',
    claim: '',
    together: undefined,
    provisioning: undefined,
    ...parts,
  };
}

/** A stand-in for a reservation manager as those see it who manage a resource; it speaks over no socket. */
export class FakeReservations {
  /** What it lists. */
  reservations: Reservation[] = [];
  /** What it says of a claim. */
  verify: (request: VerifyReservationRequest) => Partial<VerifyReservationResponse> = () => ({ valid: true });
  /** The codes with which the next claims of a use are refused; those behind them are taken. */
  refusals: ErrorCode[] = [];
  /** What a method answers instead, by its name; for `watchReservations` the first messages of the stream. */
  forged: ReadonlyMap<string, unknown> = new Map();
  /** While true, every call fails and watchers receive nothing. */
  isAway = false;
  /** Claims of uses as they were shown, refused ones too. */
  readonly shown: ClaimReservationRequest[] = [];
  /** The reports of provisioning, refused ones too. */
  readonly aheads: ReportProvisioningRequest[] = [];
  readonly registered: RegisterResourceRequest[] = [];
  signer: ClaimSigner;
  readonly #watchers = new Set<PassThrough>();

  constructor(signer: ClaimSigner) {
    this.signer = signer;
  }

  get watcherCount(): number {
    return this.#watchers.size;
  }

  /** A claim of `aReservationWire`, signed. */
  claim(
    { reservationId, resourceId, userId, startUnixMs, endUnixMs, amount, revision }: Reservation = aReservationWire(),
  ): string {
    return this.signer.sign({
      reservationId,
      resourceId,
      userId,
      startsAt: startUnixMs,
      endsAt: endUnixMs,
      amount,
      units: [],
      revision,
    });
  }

  /** Sends a reservation to the watchers. */
  report(reservation: Reservation): void {
    const event = {
      sequence: 1,
      atUnixMs: 0,
      type: 'reservation.moved',
      reason: '',
      cause: undefined,
      reservation,
      resource: undefined,
    };
    for (const watcher of this.#watchers)
      watcher.write({ events: [event], lastSequence: 1 } satisfies WatchReservationsResponse);
  }

  /** Breaks the streams, as a manager does that goes away. */
  leave(): void {
    this.isAway = true;
    for (const watcher of this.#watchers)
      watcher.destroy(toStatus(new MutiraoError('MUT_UNREACHABLE', 'gone')) as unknown as Error);
    this.#watchers.clear();
  }

  /** A client of it. */
  connect(): ReservationServiceClient {
    const answering =
      <Request>(answer: (request: Request) => unknown) =>
      (request: Request, _metadata: unknown, _options: unknown, callback: Callback): { cancel(): void } => {
        queueMicrotask(() => {
          this.#answer(() => answer(request), callback);
        });
        return { cancel: () => undefined };
      };
    const methods: Record<string, unknown> = {
      getClaimKeys: answering(() => ({ issuer: this.signer.issuer, keys: [this.signer] })),
      listResources: answering(() => ({ resources: [] })),
      registerResource: answering((request: RegisterResourceRequest) => ({ count: this.registered.push(request) })),
      listReservations: answering(({ statuses }: ListReservationsRequest) => ({
        reservations: this.reservations.filter(({ status }) => statuses.includes(status)),
        nextBeforeReservationId: 0,
      })),
      verifyReservation: answering((request: VerifyReservationRequest) => ({
        valid: false,
        code: '',
        message: '',
        presentClaim: '',
        ...this.verify(request),
      })),
      reportProvisioning: answering((request: ReportProvisioningRequest) => {
        this.aheads.push(request);
        const code = this.refusals.shift();
        if (code !== undefined) throw new MutiraoError(code, 'told so');
        return {};
      }),
      claimReservation: answering((request: ClaimReservationRequest) => {
        this.shown.push(request);
        const code = this.refusals.shift();
        if (code !== undefined) throw new MutiraoError(code, 'told so');
        return { reservation: undefined };
      }),
      watchReservations: () => this.#watch(),
      close: () => undefined,
    };
    // Looked up at each call: what is forged may change while a client is open.
    return new Proxy(methods, {
      get: (known, name) =>
        typeof name === 'string' && name !== 'watchReservations' && this.forged.has(name)
          ? answering(() => this.forged.get(name))
          : known[String(name)],
    }) as unknown as ReservationServiceClient;
  }

  #answer(answer: () => unknown, callback: Callback): void {
    try {
      if (this.isAway) throw new MutiraoError('MUT_UNREACHABLE', 'nobody listens');
      callback(null, answer());
    } catch (error) {
      callback(toStatus(error as MutiraoError));
    }
  }

  #watch(): PassThrough & { cancel(): void } {
    const stream = Object.assign(new PassThrough({ objectMode: true }), {
      cancel: () => {
        stream.end();
        this.#watchers.delete(stream);
      },
    });
    if (this.isAway)
      queueMicrotask(() => {
        stream.destroy(toStatus(new MutiraoError('MUT_UNREACHABLE', 'nobody listens')) as unknown as Error);
      });
    else {
      this.#watchers.add(stream);
      stream.write({ events: [], lastSequence: 0 } satisfies WatchReservationsResponse);
      const forged = this.forged.get('watchReservations');
      if (forged !== undefined) stream.write(forged);
    }
    return stream;
  }
}
