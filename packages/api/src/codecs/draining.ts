import type { DrainingStatus } from '@mutirao/core/messages';

import type { DrainingStatus as DrainingStatusWire } from '../generated/mutirao/provider/v1/provider.ts';

/** Writes whether a provider is draining for the wire; undefined for one that takes work. */
export function encodeDraining(draining: DrainingStatus | undefined): DrainingStatusWire {
  if (draining === undefined) return { sinceUnixMs: undefined, reason: '', atOnce: false };
  return { sinceUnixMs: draining.since, reason: draining.reason, atOnce: draining.isAtOnce === true };
}

/** Reads whether a provider is draining. */
export function decodeDraining({ sinceUnixMs, reason, atOnce }: DrainingStatusWire): DrainingStatus | undefined {
  return sinceUnixMs === undefined ? undefined : { since: sinceUnixMs, reason, ...(atOnce ? { isAtOnce: true } : {}) };
}
