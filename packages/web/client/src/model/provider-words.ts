import type { ProviderRow } from '../../../src/schema/index.ts';
import { sayMany, sayTimeOfDay } from './words.ts';

/** What a provider does, in a few words: how many requests it has, or why it does nothing now. */
export function sayProvider({
  connected,
  draining_since_unix_ms: since,
  requests_running: running,
  requests_queued: queued,
}: ProviderRow): string {
  if (!connected) return 'not connected';
  return since === null ? `${running} running, ${queued} queued` : 'draining';
}

/** That nothing new is placed there, and what still runs; empty while it takes work. */
export function sayDraining({
  draining_since_unix_ms: since,
  draining_reason: reason,
  running_tasks: running,
}: ProviderRow): string {
  return since === null
    ? ''
    : `draining since ${sayTimeOfDay(since)}, ${sayMany(running, 'task')} still ` +
        `running${reason === '' ? '' : ` (${reason})`}`;
}
