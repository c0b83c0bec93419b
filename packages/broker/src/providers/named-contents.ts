import { LRUCache } from 'lru-cache';

import type { StartReplicas } from '@mutirao/core/messages';
import type { MachineId, ProviderId } from '@mutirao/core/shared';

/**
 * Names that are remembered, the latest used. A machine whose names were forgotten is named them again when its
 * replicas are staged again.
 */
const namesMax = 200_000;

/**
 * Which contents each machine was given by name, as inputs of its replicas. No other machine may fetch them, even if it
 * knows their hash.
 *
 * A lease names its contents to its provider.
 */
export class NamedContents {
  readonly #names = new LRUCache<string, true>({ maxSize: namesMax, sizeCalculation: () => 1 });

  /** Notes the inputs of a batch. */
  note(reader: MachineId | ProviderId, { replicas }: StartReplicas): void {
    for (const { inputs } of replicas)
      for (const { content } of inputs) this.#names.set(nameOf(reader, content.sha256), true);
  }

  /** Whether a content was named to a machine, or to a provider. */
  has(reader: MachineId | ProviderId, sha256: string): boolean {
    return this.#names.get(nameOf(reader, sha256)) === true;
  }
}

function nameOf(reader: string, sha256: string): string {
  return `${sha256}${reader}`;
}
