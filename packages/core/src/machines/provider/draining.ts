import type { DrainingStatus } from '../../messages/index.ts';
import type { Reason } from '../../reasons/index.ts';
import type { Instant } from '../../shared/index.ts';
import type { ProviderInput } from './inputs.ts';
import type { BrokerId, ProviderState } from './state.ts';
import { commit, type Turn } from './turn.ts';

type GetInput<Kind extends ProviderInput['kind']> = Extract<ProviderInput, { readonly kind: Kind }>;

/**
 * Whether the provider takes no new work: its owner drains it, or its process is about to end and gives everything
 * back.
 */
export function takesNoWork({
  draining,
  givingBackReason,
}: Pick<ProviderState, 'draining' | 'givingBackReason'>): boolean {
  return draining !== undefined || givingBackReason !== '';
}

/** Whether running allocations are released, too, whatever runs in them. */
export function releasesRunning({ draining, givingBackReason }: ProviderState): boolean {
  return draining?.isAtOnce === true || givingBackReason !== '';
}

/** Why the provider takes no new work, or what becomes of a request because of that. */
export function explainNoWork(
  { draining, givingBackReason, config: { providerId } }: ProviderState,
  subject: 'provider' | 'released' | 'withdrawn',
): Reason {
  if (givingBackReason !== '' || draining === undefined)
    return { code: `${subject}-stopping`, providerId, cause: givingBackReason };
  return { code: `${subject}-draining`, providerId, cause: draining.reason };
}

/** Drains the provider until its owner undrains it. A second request adds what is new in it, and is harmless. */
export function drain(turn: Turn, { replyTo, reason, isAtOnce }: GetInput<'DrainAsked'>): void {
  const { state, now } = turn;
  const known = state.draining;
  const next = addTo(known ?? { since: now, reason: '' }, reason, isAtOnce === true);
  if (known === undefined || known.reason !== next.reason || known.isAtOnce !== next.isAtOnce) {
    commit(turn, { kind: 'DrainingBegan', ...next, at: now });
    reportAll(turn);
  }
  turn.commands.push({ kind: 'Reply', replyTo, reply: { ok: true, value: undefined } });
}

function addTo(known: DrainingStatus, reason: string, isAtOnce: boolean): DrainingStatus {
  return {
    since: known.since,
    reason: reason === '' ? known.reason : reason,
    ...(isAtOnce || known.isAtOnce === true ? { isAtOnce: true } : {}),
  };
}

/** Takes work again; harmless where the provider does. */
export function undrain(turn: Turn, { replyTo }: GetInput<'UndrainAsked'>): void {
  if (turn.state.draining !== undefined) {
    commit(turn, { kind: 'DrainingEnded', at: turn.now });
    reportAll(turn);
  }
  turn.commands.push({ kind: 'Reply', replyTo, reply: { ok: true, value: undefined } });
}

/** Gives everything back, since the process is about to end: nothing of this outlives it. */
export function giveEverythingBack(turn: Turn, { replyTo, reason }: GetInput<'GiveBackAsked'>): void {
  turn.state.givingBackReason = reason;
  // Machines that attach by themselves are nothing to give back: they wait for the next start, and go on meanwhile.
  if (turn.state.config.resourceKind === 'cluster') reportAll(turn);
  turn.commands.push({ kind: 'Reply', replyTo, reply: { ok: true, value: undefined } });
}

/**
 * Sends the draining state to a broker that connects. A broker that receives nothing assumes that the provider takes
 * work.
 */
export function reportDraining({ state, now, commands }: Turn, brokerId: BrokerId): void {
  const draining = statusOf(state, now);
  if (draining !== undefined) commands.push({ kind: 'ReportDraining', brokerId, draining });
}

function reportAll({ state, now, commands }: Turn): void {
  const draining = statusOf(state, now);
  for (const { brokerId, connectionId } of state.brokers.values())
    if (connectionId !== 0) commands.push({ kind: 'ReportDraining', brokerId, draining });
}

/** A process that gives everything back reports itself to brokers as drained at once. */
function statusOf({ draining, givingBackReason }: ProviderState, now: Instant): DrainingStatus | undefined {
  return givingBackReason === ''
    ? draining
    : { since: draining?.since ?? now, reason: givingBackReason, isAtOnce: true };
}
