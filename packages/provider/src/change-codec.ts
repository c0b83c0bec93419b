import type { ProviderChange } from '@mutirao/core/machines/provider';
import type { ChangeCodec } from '@mutirao/runtime/journal';

const durableKinds: ReadonlySet<ProviderChange['kind']> = new Set([
  'ProviderFounded',
  'RequestDrafted',
  'RequestSubmitting',
  'HeuristicSwitched',
  'DrainingBegan',
  'DrainingEnded',
  'LeaseTaken',
  'ReportSpooled',
]);

/** How the provider's changes lie in its journal. */
export const providerChangeCodec: ChangeCodec<ProviderChange> = {
  version: 1,
  encode: (change) => JSON.stringify(change),
  decode: (_version, body) => JSON.parse(body) as ProviderChange,
  deriveJob: () => undefined,
  // A request that the manager may have must not be forgotten, nor a number that brokers were told, which must not be
  // given again; nor what the user was promised, nor a lease that took another's place in the spool, nor
  // a report that its agent may forget; all else is found out again after a fall of the whole machine.
  isDurable: ({ kind }) => durableKinds.has(kind),
};
