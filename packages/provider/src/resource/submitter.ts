import { MutiraoError, type ErrorCode } from '@mutirao/api/errors';
import type { ProviderCommand, ProviderInput } from '@mutirao/core/machines/provider';
import type { ClaimedReservation } from '@mutirao/core/messages';
import { describeError, type Duration } from '@mutirao/core/shared';
import type { AllocationOrder, ResourceManager } from '@mutirao/managers';
import type { Timers } from '@mutirao/runtime/driver';
import type { Logger } from '@mutirao/runtime/log';

type SubmitRequest = ProviderCommand & { kind: 'SubmitRequest' };
type ReleaseRequest = ProviderCommand & { kind: 'ReleaseRequest' };

/**
 * After these nobody knows whether the manager took the request; an order may be repeated, since its key is the same.
 */
const unclear: ReadonlySet<ErrorCode> = new Set([
  'MUT_UNREACHABLE',
  'MUT_DEADLINE_EXCEEDED',
  'MUT_CANCELLED',
  'MUT_INTERNAL',
  'MUT_STOPPING',
  'MUT_OVERLOADED',
]);

/** Tries of one order before its disposition is reported as unknown. */
const triesMax = 3;
const firstPause: Duration = 200;

/** Codes of refusals that say nothing about the request and pass by themselves. */
const passing = new Set(['MUT_DISK_FULL', 'MUT_OVERLOADED', 'MUT_NO_ROOM', 'MUT_QUEUE_CLOSED']);

/** What a submitter needs. */
export interface SubmitterOptions {
  readonly manager: ResourceManager;
  readonly timers: Timers;
  readonly log: Logger;
  /** In [0, 1); spreads retries. */
  random(): number;
  deliver(input: ProviderInput): void;
  /** Rejects where a reservation cannot be used, or not yet; left out where the manager says so itself. */
  admit?(reservation: ClaimedReservation): Promise<void>;
  /** What the allocation runs, and with which environment. */
  orderOf(command: SubmitRequest): Pick<AllocationOrder, 'command' | 'environment' | 'workingDirectory'>;
}

/** Submits and releases requests at the resource manager, and reports the results to the machine. */
export class Submitter {
  readonly #options: SubmitterOptions;

  constructor(options: SubmitterOptions) {
    this.#options = options;
  }

  /** Submits a request, with a few tries under the same key. Never throws. */
  async submit(command: SubmitRequest): Promise<void> {
    const { requestId, reservation } = command;
    const { deliver, manager, log } = this.#options;
    const order = this.#orderOf(command);
    for (let triesLeft = triesMax - 1; ; triesLeft -= 1) {
      try {
        requireReservable(manager, order);
        if (reservation !== undefined) await this.#options.admit?.(reservation);
        const managerRequestId = await manager.allocate(order);
        deliver({ kind: 'SubmitAccepted', requestId, managerRequestId });
        return;
      } catch (error) {
        const { code, message } = asMutiraoError(error);
        if (unclear.has(code) && triesLeft > 0) {
          await this.#pause(firstPause * 4 ** (triesMax - 1 - triesLeft));
          continue;
        }
        log.warn({ request: requestId, code, reason: message }, 'the resource manager refused a request');
        const reason = `${code}, ${message}`;
        if (unclear.has(code)) deliver({ kind: 'SubmitUnknown', requestId, reason });
        else
          deliver({
            kind: 'SubmitRefused',
            requestId,
            reason,
            code,
            ...(passing.has(code) ? { isPassing: true } : {}),
          });
        return;
      }
    }
  }

  #orderOf(command: SubmitRequest): AllocationOrder {
    const { clientRequestId, userId, width, slot, walltime, reservation } = command;
    return {
      ...this.#options.orderOf(command),
      userId,
      width,
      walltime,
      clientRequestId,
      ...(slot === undefined ? {} : { slot }),
      ...(reservation === undefined ? {} : { reservation }),
    };
  }

  /** Asks for a release once; the machine asks again when it failed. Never throws. */
  async release({ requestId, managerRequestId }: ReleaseRequest): Promise<void> {
    const { deliver, manager, log } = this.#options;
    try {
      await manager.release(managerRequestId);
      deliver({ kind: 'ReleaseDone', requestId });
    } catch (error) {
      const { code, message } = asMutiraoError(error);
      log.warn({ request: requestId, code, reason: message }, 'cannot release a request');
      deliver({ kind: 'ReleaseFailed', requestId, reason: `${code}, ${message}` });
    }
  }

  #pause(duration: Duration): Promise<void> {
    const { timers, random } = this.#options;
    return new Promise((resolve) => {
      timers.start(duration * (0.5 + random()), resolve);
    });
  }
}

/**
 * @throws {MutiraoError} MUT_RESERVATION_UNSUPPORTED for a reservation that the manager does not honour, or one of
 * another resource.
 */
function requireReservable({ reservationResource = '' }: ResourceManager, { reservation }: AllocationOrder): void {
  if (reservation === undefined || reservation.resourceId === reservationResource) return;
  const honours = reservationResource === '' ? 'honours no reservations' : `honours those of ${reservationResource}`;
  throw new MutiraoError(
    'MUT_RESERVATION_UNSUPPORTED',
    `reservation ${reservation.reservationId} is of ${reservation.resourceId}; the resource manager ${honours}`,
  );
}

/** A failed call's code and message; any other error counts as internal. */
export function asMutiraoError(error: unknown): MutiraoError {
  if (error instanceof MutiraoError) return error;
  return new MutiraoError('MUT_INTERNAL', describeError(error), { cause: error });
}
