import { isServing, type OwnRequest, type ProviderCommand, type ProviderState } from '@mutirao/core/machines/provider';
import { invariant, type Instant } from '@mutirao/core/shared';
import type { WorldTurn } from '../machine-process.ts';
import type { ClusterSite, World } from '../world.ts';
import type { WorldCheck } from './check.ts';

/**
 * Pre-acquired allocations have as many processors as were reserved, for as long as the reservations last, and are not
 * in use before they begin.
 */
export class HeldCheck implements WorldCheck {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  receive({ process, commands }: WorldTurn): void {
    const site = this.#world.clusters.find(
      ({ plan, provider }) => plan.holding !== undefined && process === `provider ${provider.name}`,
    );
    const running = site?.provider.current?.process;
    if (site === undefined || running === undefined) return;
    const { state, now } = running;
    for (const request of state.requests.values()) checkRequest(state, request, now);
    for (const { reservationId } of state.windows.values()) this.#checkCount(state, reservationId);
    for (const command of commands as readonly ProviderCommand[])
      if (command.kind === 'ReportMachineJoined' && command.isGone !== true)
        this.#checkGiven(site, { state, now }, command);
  }

  /**
   * A machine's reservation has begun where the provider believes it to be, and in none of its places so far does it
   * begin later by true time.
   */
  #checkGiven(
    { provider }: ClusterSite,
    { state, now }: Believed,
    {
      facts: { machineId, requestId, reservation },
    }: Extract<ProviderCommand, { readonly kind: 'ReportMachineJoined' }>,
  ): void {
    const heldFor = state.requests.get(requestId)?.heldFor;
    if (heldFor === undefined) {
      invariant(
        reservation === undefined,
        `${provider.name} gives ${machineId} inside a reservation for which it was not held`,
      );
      return;
    }
    const { reservationId } = heldFor;
    invariant(
      reservation?.reservationId === reservationId,
      `${provider.name} gives ${machineId}, which is held for reservation ${reservationId}, for another use`,
    );
    const window = state.windows.get(reservationId);
    const {
      kernel,
      scenario: {
        faults: { skewMax },
      },
      reservations,
    } = this.#world;
    // An allocation that was given before a restart stays given, even if the clock shows less since.
    invariant(
      window !== undefined && now + 2 * skewMax >= window.startsAt,
      `${provider.name} gives ${machineId} before reservation ${reservationId} begins`,
    );
    const first = Math.min(...reservations.placesUntilNow(reservationId).map(({ startsAt }) => startsAt));
    invariant(
      kernel.now >= first - skewMax,
      `${provider.name} gives ${machineId} before any start of reservation ${reservationId}`,
    );
  }

  /** No more than it ever was of. */
  #checkCount({ requests, config: { providerId } }: ProviderState, reservationId: number): void {
    const most = Math.max(...this.#world.reservations.placesUntilNow(reservationId).map(({ count }) => count));
    let held = 0;
    for (const request of requests.values())
      if (request.heldFor?.reservationId === reservationId && isServing(request) && isThere(request))
        held += request.width;
    invariant(
      held <= most,
      `${providerId} holds ${held} processors for reservation ${reservationId}, which never was of more than ${most}`,
    );
  }
}

interface Believed {
  readonly state: ProviderState;
  readonly now: Instant;
}

/** What is over, or is not known, has nothing. */
function checkRequest({ windows, config: { providerId } }: ProviderState, request: OwnRequest, now: Instant): void {
  const { requestId, heldFor } = request;
  if (heldFor === undefined || !isServing(request) || !isThere(request)) return;
  const { reservationId, endsAt } = heldFor;
  invariant(
    windows.has(reservationId),
    `${providerId} keeps ${requestId} for reservation ${reservationId}, which is gone`,
  );
  invariant(now < endsAt, `${providerId} keeps ${requestId} beyond the end of reservation ${reservationId}`);
}

/** What is being asked for cannot be withdrawn before it is known whether the manager has it. */
function isThere({ status }: OwnRequest): boolean {
  return status === 'queued' || status === 'running';
}
