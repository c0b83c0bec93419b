import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gatheredIndexName, gatheredVolumeNumber, readGatheredIndex } from '@mutirao/runtime/files';
import { gatheringFolder, type LoadFolders, type SubmittedJob } from './workload.ts';

/** What the volumes of a job hold. */
export interface GatheredLoad {
  /** Where they were taken out, each file by its path from the home directory on. */
  readonly root: string;
  /** Paths in the index, as often as it has them. */
  readonly members: readonly string[];
  /** Results in the index, in its order. */
  readonly results: readonly GatheredResult[];
  /** Where index and volumes do not agree. */
  readonly wrong: readonly string[];
  /** Other files of the folder. */
  readonly foreigners: readonly string[];
}

/** A result in an index. */
export interface GatheredResult {
  readonly taskIndex: number;
  readonly replicaId: number;
}

const bytesMax = 256 * 1024 * 1024;

/** Reads the index of a gathered job, has tar take its volumes out, and holds one against the other. */
export async function readGathered(
  { jobId, label }: SubmittedJob,
  { outputs, runs }: LoadFolders,
): Promise<GatheredLoad> {
  const folder = join(outputs, gatheringFolder(label));
  const root = join(runs, `${label}.taken-out`);
  mkdirSync(root, { recursive: true });
  const [members, wrong]: [string[], string[]] = [[], []];
  const results: GatheredResult[] = [];
  const index = join(folder, gatheredIndexName(jobId));
  if (existsSync(index)) {
    await readGatheredIndex(index, (files) => {
      members.push(...files.map(({ path }) => path));
      results.push(...files.slice(0, 1));
    });
  }
  const names = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  const volumes = names.filter((name) => gatheredVolumeNumber(jobId, name) !== undefined);
  const inVolumes: string[] = [];
  for (const volume of volumes) {
    try {
      inVolumes.push(
        ...execFileSync('tar', ['-tf', join(folder, volume)], { encoding: 'utf8', maxBuffer: bytesMax, stdio: 'pipe' })
          .split('\n')
          .filter((line) => line !== ''),
      );
      execFileSync('tar', ['-xf', join(folder, volume), '-C', root], { stdio: 'pipe' });
    } catch (error) {
      wrong.push(`${volume}: ${String(error).split('\n').slice(0, 2).join(' ')}`);
    }
  }
  const [reported, held] = [members.toSorted().join('\n'), inVolumes.toSorted().join('\n')];
  if (reported !== held)
    wrong.push(
      `the index lists ${members.length} files, its volumes hold ${inVolumes.length}: ` +
        `${firstDifference(members, inVolumes)}`,
    );
  return {
    root,
    members,
    results,
    wrong,
    foreigners: names
      .filter((name) => !volumes.includes(name) && name !== gatheredIndexName(jobId))
      .map((name) => join(gatheringFolder(label), name)),
  };
}

function firstDifference(one: readonly string[], other: readonly string[]): string {
  const [inOne, inOther] = [new Set(one), new Set(other)];
  return (
    one.find((path) => !inOther.has(path)) ?? other.find((path) => !inOne.has(path)) ?? 'one of them has a file twice'
  );
}
