import { isDurable, type ProviderChange } from '@mutirao/core/machines/provider';
import type { ChangeCodec } from '@mutirao/runtime/journal';

/** How the provider's changes lie in its journal. */
export const providerChangeCodec: ChangeCodec<ProviderChange> = {
  version: 1,
  encode: (change) => JSON.stringify(change),
  decode: (_version, body) => JSON.parse(body) as ProviderChange,
  deriveJob: () => undefined,
  isDurable,
};
