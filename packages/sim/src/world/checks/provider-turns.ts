import type { ProviderChange, ProviderCommand } from '@mutirao/core/machines/provider';
import { invariant } from '@mutirao/core/shared';
import type { WorldTurn } from '../machine-process.ts';
import type { WorldCheck } from './check.ts';

/** What a provider gives up is really gone: agents speak louder than listings. */
export class ProviderTurnCheck implements WorldCheck {
  receive({ process, changes, commands }: WorldTurn): void {
    if (!process.startsWith('provider')) return;
    for (const change of changes as readonly ProviderChange[]) {
      if (change.kind !== 'RequestEnded' || change.status !== 'vanished') continue;
      const isServed = (commands as readonly ProviderCommand[]).some(
        (command) => command.kind === 'RefuseAgent' && command.requestId === change.requestId,
      );
      invariant(!isServed, `${process} gives ${change.requestId} up, whose agents are there`);
    }
  }
}
