import { isDurable, type ProviderChange } from '@mutirao/core/machines/provider';
import { readSavedReason, readSavedReasons, type Reason } from '@mutirao/core/reasons';
import type { ChangeCodec } from '@mutirao/runtime/journal';

/** How the provider's changes lie in its journal. */
export const providerChangeCodec: ChangeCodec<ProviderChange> = {
  version: 2,
  encode: (change) => JSON.stringify(change),
  decode: (version, body) => readChange(version, JSON.parse(body) as ProviderChange),
  deriveJob: () => undefined,
  isDurable,
};

/** Lines of version 1 hold sentences where later ones hold reasons. */
function readChange(version: number, change: ProviderChange): ProviderChange {
  if (version > 1) return change;
  switch (change.kind) {
    case 'RequestDrafted':
      return { ...change, reasons: readSavedReasons(change.reasons) };
    case 'RequestRequeued':
    case 'RequestEnded':
      return { ...change, reason: readSavedReason(change.reason) };
    case 'RequestReleasing': {
      const { reason, ...rest } = change as typeof change & { readonly reason: Reason | string };
      return { ...rest, reasons: [readSavedReason(reason)] };
    }
    default:
      return change;
  }
}
