import { describeTime, plural, type Instant, type ProcessorCount } from '../shared/index.ts';

/**
 * How far who manages a resource has come with what a reservation will need: `planned`, not asked for yet; `asked`, and
 * not in the queue yet; `queued`; `held`, all is
 * there before the start; `honoured`, all is there and the reservation has begun; `late`, it has begun and not all has
 * come; `lost`, what was there is gone.
 */
export type ProvisioningState = 'planned' | 'asked' | 'queued' | 'held' | 'honoured' | 'late' | 'lost';

/** What is held ahead for a reservation, or asked for to be held, as who does so tells. */
export interface Provisioning {
  readonly status: ProvisioningState;
  /** Of the reserved processors, those that are there, idle or in use. */
  readonly heldCount: ProcessorCount;
  /** Those that are asked for, and are not there. */
  readonly askedCount: ProcessorCount;
  /** When the first is asked for; 0 unless `status` is `planned`, and where that goes by the queue's forecast. */
  readonly askAt: Instant;
  /**
   * When all would be there by the queue as it is now, were the rest asked for now; 0 where nobody can tell, or all is
   * there.
   */
  readonly expectedAt: Instant;
  /**
   * Share of requests like it, among those that waited as long already, that were there in the time that is left;
   * undefined where none is known, or it has begun.
   */
  readonly chance: number | undefined;
  /** What went wrong, or was done otherwise than asked for; empty for nothing. */
  readonly reason: string;
}

/** What is told of a reservation before and after. */
export interface AheadView {
  readonly count: ProcessorCount;
  readonly startsAt: Instant;
  /** How an instant is written. */
  show(at: Instant): string;
}

/** What is held ahead, in sentences, first the deciding one. */
export function describeProvisioning(ahead: Provisioning, { count, startsAt, show }: AheadView): string[] {
  const { status, heldCount, askedCount, askAt, expectedAt, chance, reason } = ahead;
  const lines = [
    `${capitalize(status)}: ${heldCount} of ${plural(count, 'processor')} held ahead, ${askedCount} asked for; ` +
      'best effort.',
  ];
  if (status === 'planned')
    lines.push(
      askAt === 0 ? "It is asked for when the queue's forecast says so." : `It is asked for at ${show(askAt)}.`,
    );
  if (expectedAt > 0)
    lines.push(`As the queue is now, all would be there at ${show(expectedAt)}, ${compare(expectedAt, startsAt)}.`);
  if (chance !== undefined)
    lines.push(
      `Of the requests like it that were seen to wait, ${Math.round(chance * 100)} % were there in the time ` +
        'that it has.',
    );
  return reason === '' ? lines : [...lines, reason];
}

function compare(expectedAt: Instant, startsAt: Instant): string {
  if (expectedAt === startsAt) return 'when it begins';
  return `${describeTime(Math.abs(startsAt - expectedAt))} ${expectedAt < startsAt ? 'before' : 'after'} it begins`;
}

function capitalize(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
