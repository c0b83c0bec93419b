import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InputSpec, JobSpec, OutputSpec, TaskGroup } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import { taskGroup } from '../grid/broker-client.ts';

/**
 * What a task does: a small file, nothing but standard output, a file of more than 64 KiB, a failure at its first run,
 * a file that is checked at home.
 */
export const taskKinds = ['small', 'printed', 'large', 'flaky', 'checked'] as const;
/** See `taskKinds`. */
export type TaskKind = (typeof taskKinds)[number];

/** What is asked of a job beyond its tasks. */
export interface JobWay {
  /** How its results are verified; left out for by their checks. */
  readonly verification?: 'vote' | 'credibility';
  /** Whether its outputs come home in volumes. */
  readonly isGathered: boolean;
  /**
   * `cancelled` in its midst; `resumed`: then retried until it is finished; `retried`: a third of its tasks fail until
   * it is over, and then it is retried until it is finished.
   */
  readonly disposition: 'left' | 'cancelled' | 'resumed' | 'retried';
}

/** The jobs of a load are of these ways in turn. */
export const jobWays: readonly JobWay[] = [
  { isGathered: false, disposition: 'left' },
  { isGathered: true, disposition: 'left' },
  { verification: 'vote', isGathered: false, disposition: 'left' },
  { isGathered: true, disposition: 'cancelled' },
  { isGathered: false, disposition: 'retried' },
  { isGathered: false, disposition: 'left' },
  { verification: 'credibility', isGathered: false, disposition: 'left' },
  { isGathered: true, disposition: 'retried' },
  { isGathered: false, disposition: 'resumed' },
  { verification: 'vote', isGathered: true, disposition: 'left' },
  { isGathered: false, disposition: 'cancelled' },
  { verification: 'vote', isGathered: true, disposition: 'resumed' },
];

/** A way in a few words, for people. */
export function describeWay({ verification, isGathered, disposition }: JobWay): string {
  return (
    [
      verification === 'vote' ? 'voted' : verification === undefined ? '' : 'by credibility',
      isGathered ? 'gathered' : '',
      disposition === 'left' ? '' : disposition,
    ]
      .filter((word) => word !== '')
      .join(', ') || 'plain'
  );
}

/** A job of the load; what each of its tasks brings is known beforehand. */
export interface LoadJob {
  readonly label: string;
  /** Tasks of each kind, in the order of `taskKinds`. */
  readonly counts: readonly number[];
  readonly way: JobWay;
}

/** A job of the load that was accepted. */
export interface SubmittedJob extends LoadJob {
  readonly jobId: number;
}

/** Of a hundred tasks, in the order of `taskKinds`. */
const shares = [66, 12, 4, 12, 6];
/** The environment of a machine that lies where a job's tasks let it. */
export const liarEnvironment: Readonly<Record<string, string>> = { LIAR: 'lies' };
/** What the mark of a run ends with that brought something wrong. */
export const lyingMark = 'lies-here';
const sharedLine = 'what many tasks read and few write\n';
/** An input of all large tasks of all jobs, beyond what travels inside messages. */
export const sharedText = sharedLine.repeat(Math.ceil(150_000 / sharedLine.length));

/** Cuts a load into jobs of about `jobSize` tasks. */
export function planJobs(taskCount: number, jobSize: number): LoadJob[] {
  const jobs: LoadJob[] = [];
  for (let left = taskCount; left > 0; ) {
    const size = left < 2 * jobSize ? left : jobSize;
    const counts = shares.map((share) => Math.floor((size * share) / 100));
    counts[0] = (counts[0] ?? 0) + size - counts.reduce((sum, count) => sum + count, 0);
    jobs.push({ label: `job${jobs.length}`, counts, way: jobWays[jobs.length % jobWays.length] as JobWay });
    left -= size;
  }
  return jobs;
}

/** Where a load reads and writes. */
export interface LoadFolders {
  /** Inputs at home. */
  readonly inputs: string;
  /** Outputs at home. */
  readonly outputs: string;
  /** Where each run of a task leaves a mark: the world's own truth, out of reach of all faults. */
  readonly runs: string;
}

/** Writes the inputs that all jobs share. */
export function writeInputs({ inputs, runs }: LoadFolders): void {
  for (const folder of [inputs, runs]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(inputs, 'shared.dat'), sharedText);
  // A mark is one line of its own process, so that it is whole; a flaky task fails where its first one finds no file.
  writeFileSync(
    join(inputs, 'work.sh'),
    `set -e
kind=$1 label=$2 index=$3 runs=$4
echo "$label $kind $index $$ $LIAR$MAY_LIE" >> "$runs/started"
read -r key < key.txt
sleep 0.$((1 + index % 3))
if [ -n "$GATE" ] && [ ! -e "$GATE" ] && [ $((index % 3)) = 0 ]; then exit 8; fi
if [ "$kind" = flaky ] && [ ! -e "$runs/$label-$index" ]; then : > "$runs/$label-$index"; exit 7; fi
if [ "$LIAR$MAY_LIE" = ${lyingMark} ]; then key=lie; fi
if [ "$kind" = large ]; then { echo "$key $kind $index"; cat shared.dat; } > out.txt; exit; fi
{ echo "$key $kind $index"; head -c $((index * 37 % 500)) /dev/zero | tr '\\0' x; } > out.txt
`,
  );
}

/** The job as it is submitted. Writes the inputs that are its own. */
export function findSpec(job: LoadJob, folders: LoadFolders): JobSpec {
  const { label, counts, way } = job;
  writeFileSync(join(folders.inputs, `${label}.key`), `get-key-${label}\n`);
  const environment = {
    LABEL: label,
    GATE: way.disposition === 'retried' ? gatePath(folders, label) : '',
    MAY_LIE: way.verification === undefined ? '' : '-here',
  };
  return {
    label,
    groups: taskKinds.flatMap((kind, index) => ((counts[index] ?? 0) === 0 ? [] : [groupOf(job, kind, folders)])),
    environment,
    limits: undefined,
    processors: undefined,
    replicasMax: undefined,
    failuresMax: way.disposition === 'retried' ? 1 : 6,
    homeDirectory: folders.outputs,
    deadlineUnixMs: undefined,
    edges: [],
    ...(way.isGathered ? { gathering: { folder: gatheringFolder(label) } } : {}),
    ...(way.verification === undefined
      ? {}
      : {
          verification: {
            by: way.verification === 'vote' ? { $case: 'vote', value: 3 } : { $case: 'credibility', value: 0.99 },
          },
        }),
  };
}

/** Where a job that is gathered brings its volumes, from the folder of the outputs on. */
export function gatheringFolder(label: string): string {
  return `${label}-gathered`;
}

/** A job for `retry` fails until this file exists. */
export function gatePath({ runs }: LoadFolders, label: string): string {
  return join(runs, `${label}.open`);
}

/** What a task of this kind must bring home, or print. */
export function getExpected(label: string, kind: TaskKind, index: number): string {
  if (kind === 'printed') return `printed ${label} ${index}\n`;
  const head = `get-key-${label} ${kind} ${index}\n`;
  return head + (kind === 'large' ? sharedText : 'x'.repeat((index * 37) % 500));
}

/**
 * Where a task brings it, from the folder of the outputs or the root of its volume on; undefined for one that prints.
 */
export function outputPath(
  label: string,
  { kind, index }: { readonly kind: TaskKind; readonly index: number | string },
): string | undefined {
  return kind === 'printed' ? undefined : `${label}/${kind}-${index}.txt`;
}

/** Which task of its kind a task of the job is. */
export function taskAt({ counts }: LoadJob, taskIndex: number): { readonly kind: TaskKind; readonly index: number } {
  let first = 0;
  for (const [at, kind] of taskKinds.entries()) {
    const count = counts[at] ?? 0;
    if (taskIndex < first + count) return { kind, index: taskIndex - first };
    first += count;
  }
  throw new Error(`there is no task ${taskIndex}`);
}

function groupOf({ label, counts }: LoadJob, kind: TaskKind, folders: LoadFolders): TaskGroup {
  const count = counts[taskKinds.indexOf(kind)] ?? 0;
  if (kind === 'printed') {
    const lie = `if [ "$LIAR$MAY_LIE" = ${lyingMark} ]; then LABEL=lie; fi`;
    return taskGroup(
      `echo "${label} printed {} $$ $LIAR$MAY_LIE" >> ${folders.runs}/started; sleep 0.1; ${lie}; echo printed ` +
        '$LABEL {}',
      count,
    );
  }
  const inputs = [
    input(join(folders.inputs, 'work.sh'), 'work.sh'),
    input(join(folders.inputs, `${label}.key`), 'key.txt'),
  ];
  if (kind === 'large') inputs.push(input(join(folders.inputs, 'shared.dat'), 'shared.dat'));
  const target = outputPath(label, { kind, index: '{}' }) ?? '';
  const output: OutputSpec = { root: Root.PLAYPEN, path: 'out.txt', localPath: target, condition: '' };
  // What lies passes the check, so that votes alone find it out.
  const check = kind === 'checked' ? `grep -Eq "^(get-key-${label}|lie) checked {}$" ${target}` : '';
  return taskGroup(`sh work.sh ${kind} ${label} {} ${folders.runs}`, count, { inputs, outputs: [output], check });
}

function input(localPath: string, path: string): InputSpec {
  return { source: { source: { $case: 'localPath', value: localPath } }, root: Root.PLAYPEN, path, condition: '' };
}
