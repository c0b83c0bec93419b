import type { Instant } from '../../shared/index.ts';
import { apply } from './apply.ts';
import type { ClusterChange } from './changes.ts';
import type { ClusterCommand } from './commands.ts';
import type { ClusterState } from './state.ts';

/** One call of `step`: its input, and what it has decided so far. */
export class Turn {
  readonly state: ClusterState;
  readonly now: Instant;
  readonly changes: ClusterChange[] = [];
  readonly commands: ClusterCommand[] = [];

  constructor(state: ClusterState, now: Instant) {
    this.state = state;
    this.now = now;
  }

  /** Makes a change and keeps it for the journal. */
  change(change: ClusterChange): void {
    apply(this.state, change);
    this.changes.push(change);
  }

  /** What policies place requests with. */
  readonly place = (requestId: number, startsAt: Instant | undefined): void => {
    if (startsAt === undefined) {
      this.change({ kind: 'RequestDisplaced', requestId });
      return;
    }
    const { plan } = this.state;
    const parts = plan.kind === 'nodes' ? { parts: plan.findParts(requestId, startsAt, this.now) } : {};
    this.change({ kind: 'RequestPlaced', requestId, startsAt, ...parts });
  };
}
