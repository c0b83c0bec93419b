import type { Refusal } from '../../reasons/index.ts';
import type { Instant } from '../../shared/index.ts';
import { apply } from './apply.ts';
import type { ReservationsChange } from './changes.ts';
import type { ReservationsCommand } from './commands.ts';
import type { ReservationsState } from './state.ts';

/** One call of `step`: its input, and what it has decided so far. */
export class Turn {
  readonly state: ReservationsState;
  readonly now: Instant;
  readonly changes: ReservationsChange[] = [];
  readonly commands: ReservationsCommand[] = [];

  constructor(state: ReservationsState, now: Instant) {
    this.state = state;
    this.now = now;
  }

  /** Makes a change and keeps it for the journal. */
  change(change: ReservationsChange): void {
    apply(this.state, change);
    this.changes.push(change);
  }

  /** Answers the caller. */
  reply(replyTo: number, value: unknown): void {
    this.commands.push({ kind: 'Reply', replyTo, reply: { ok: true, value } });
  }

  /** Refuses the caller's request. */
  refuse(replyTo: number, { code, fault }: Refusal): void {
    this.commands.push({ kind: 'Reply', replyTo, reply: { ok: false, code, fault } });
  }
}
