import type { KeepingChange } from '@mutirao/core/machines/keeping';
import type { ChangeCodec } from '@mutirao/runtime/journal';

/** How a keeper's changes lie in its journal. */
export const keepingChangeCodec: ChangeCodec<KeepingChange> = {
  version: 1,
  encode: (change) => JSON.stringify(change),
  decode: (_version, body) => JSON.parse(body) as KeepingChange,
  jobOf: () => undefined,
  // The reservation manager tells all again, and the site is read again.
  isDurable: () => false,
};
