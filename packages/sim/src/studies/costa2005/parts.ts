import { decodeChunk } from './records.ts';
import { costOfRuns, listChunks, type StudyChunk, type StudySettings } from './scenarios.ts';
import { costOfStarts, decodeStarts, listStarts, type StartsChunk } from './starts.ts';

/** Any part of a study: grid jobs on a trace, or a comparison of two simulators. */
export type AnyChunk = StudyChunk | StartsChunk;

/** Whether a part compares simulators. */
export function isStartsChunk(chunk: AnyChunk): chunk is StartsChunk {
  return 'compression' in chunk;
}

/** All parts of a study. */
export function listParts(settings: StudySettings): AnyChunk[] {
  return [...listChunks(settings), ...listStarts(settings)];
}

/** Whether these are the results of a part, and all of them. */
export function isComplete(text: string, chunk: AnyChunk, seed: string): boolean {
  return (isStartsChunk(chunk) ? decodeStarts(text, chunk, seed) : decodeChunk(text, chunk, seed)) !== undefined;
}

/** The relative cost of a part, to estimate what is left of a study. */
export function estimateCost(chunk: AnyChunk): number {
  return isStartsChunk(chunk) ? costOfStarts(chunk) : costOfRuns(chunk);
}
