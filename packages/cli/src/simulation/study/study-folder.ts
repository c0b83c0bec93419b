import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { writeAtomic } from '@mutirao/runtime/files';
import {
  decodeChunk,
  decodeStarts,
  isComplete,
  type AnyChunk,
  type ChunkResult,
  type StartsChunk,
  type StartsResult,
  type StudyChunk,
  type StudyReport,
  type StudySettings,
} from '@mutirao/sim/costa2005';

import { openStudyFolder } from './study-manifest.ts';

/** A folder that holds one study: what it is, and the results of its chunks so far. */
export class StudyFolder {
  readonly path: string;
  readonly #settings: StudySettings;

  private constructor(path: string, settings: StudySettings) {
    this.path = path;
    this.#settings = settings;
  }

  /**
   * Opens the folder of a study, and makes it where it is absent.
   *
   * @throws {MutiraoError} MUT_BAD_REQUEST when it holds something else, or the same study with other settings.
   */
  static open(path: string, settings: StudySettings): StudyFolder {
    openStudyFolder(path, {
      study: 'costa2005',
      version: 1,
      quick: settings.isQuick,
      seed: settings.seed,
      instants: settings.instants,
      max_tasks: settings.taskCountMax,
    });
    return new StudyFolder(path, settings);
  }

  /** Whether all results of a part are there. */
  has(chunk: AnyChunk): boolean {
    return isComplete(this.#read(chunk), chunk, this.#settings.seed);
  }

  /** The results of a part with grid jobs; undefined where they are not all there. */
  find(chunk: StudyChunk): ChunkResult | undefined {
    return decodeChunk(this.#read(chunk), chunk, this.#settings.seed);
  }

  /** The result of a comparison; undefined where it is not all there. */
  findStarts(chunk: StartsChunk): StartsResult | undefined {
    return decodeStarts(this.#read(chunk), chunk, this.#settings.seed);
  }

  #read(chunk: AnyChunk): string {
    const path = this.getPath(chunk);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  keep(chunk: AnyChunk, text: string): void {
    writeAtomic(this.getPath(chunk), text, 0o644);
  }

  /** Writes the report and its figures, and prints where the report is. */
  writeReport({ page, figures }: StudyReport): string {
    for (const { name, svg } of figures) writeAtomic(join(this.path, 'costa2005', name), svg, 0o644);
    const path = join(this.path, 'costa2005.md');
    writeAtomic(path, page, 0o644);
    return path;
  }

  getPath({ id }: AnyChunk): string {
    return join(this.path, 'chunks', `${id}.jsonl`);
  }
}
