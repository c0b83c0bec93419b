import { join } from 'node:path';

import type { TracedRequest } from '@mutirao/core/queue';
import { selectRequests } from '@mutirao/formats';
import { clusterSizes, encodePart, measurePart, type SiteSelectionPart } from '@mutirao/sim/gonzalez2010';

import { readTrace } from '../read-trace.ts';

/** Runs parts of gonzalez2010 on the logs of a folder. */
export class SiteSelectionPartRunner {
  readonly #data: string;
  readonly #seed: string;
  /** Logs that were read; each is wanted by most parts. */
  readonly #logs = new Map<string, readonly TracedRequest[]>();

  /** @param data holds the logs, as `Mix.files` names them. */
  constructor(data: string, seed: string) {
    this.#data = data;
    this.#seed = seed;
  }

  /** Runs a part and returns its results as JSON lines. @throws {MutiraoError} as `readTrace`. */
  run(part: SiteSelectionPart): string {
    return encodePart(
      part,
      measurePart(
        part,
        part.mix.files.map((file) => this.#read(file)),
        this.#seed,
      ),
    );
  }

  #read(file: string): readonly TracedRequest[] {
    const known = this.#logs.get(file);
    if (known !== undefined) return known;
    const processors = clusterSizes.at(-1) ?? 0;
    const { trace } = readTrace({ file, path: join(this.#data, file), processors });
    const { requests } = selectRequests(
      trace.records.filter(({ requestedTime }) => requestedTime > 0),
      { processors },
    );
    this.#logs.set(file, requests);
    return requests;
  }
}
