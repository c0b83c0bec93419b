import type { AgentCommand } from '@mutirao/core/machines/agent';
import { invariant } from '@mutirao/core/shared';
import type { WorldTurn } from '../machine-process.ts';
import type { WorldCheck } from './check.ts';

/** What was cancelled before it ran is not begun, unless it is ended in the same breath. */
export class AgentTurnCheck implements WorldCheck {
  receive({ process, commands }: WorldTurn): void {
    if (!process.startsWith('agent')) return;
    const reported = commands as readonly AgentCommand[];
    for (const command of reported) {
      if (command.kind !== 'LaunchTask' || command.replica.verdict === undefined) continue;
      const isKilled = reported.some((other) => other.kind === 'KillTask' && other.replica === command.replica);
      invariant(
        isKilled,
        `${process} begins r${command.replica.start.replicaId}, which must end (${command.replica.verdict.reason})`,
      );
    }
  }
}
