// What of an earlier job is taken for done: the same tasks, finished, whose results are there, and nothing behind what
// runs.
import test from 'ava';
import { sayCause } from '@mutirao/api/reasons';
import type { Cause } from '@mutirao/core/reasons';
import {
  chooseTaken,
  findOverwrite,
  fingerprintsIn,
  matchTasks,
  reviseInputs,
  withRevisedInputs,
  type Choice,
} from '@mutirao/core/resumption';
import type { InputSpec, JobSpec, OutputSpec } from '@mutirao/core/messages';
import { aGroup, aJob } from '@mutirao/testkit';

/**
 * A task: its command, the tasks that write its inputs with these, files of home with their fingerprints, and its
 * outputs with their places.
 */
interface Draft {
  readonly name?: string;
  readonly command?: string;
  readonly reads?: readonly (readonly [from: number, path: string])[];
  readonly files?: Readonly<Record<string, string>>;
  readonly writes?: Readonly<Record<string, string>>;
  readonly after?: readonly number[];
}

function deriveJob(drafts: readonly Draft[], changes: Partial<JobSpec> = {}): JobSpec {
  const groups = drafts.map(({ command = 'true', name = command, reads = [], files = {}, writes = {} }) =>
    aGroup(1, {
      values: { kind: 'list', values: [name] },
      command,
      inputs: [
        ...reads.map(
          ([taskIndex, path]): InputSpec => ({
            source: { kind: 'output', taskIndex, path },
            root: 'playpen',
            path,
            condition: '',
          }),
        ),
        ...Object.entries(files).map(
          ([path, fingerprint]): InputSpec => ({
            source: { kind: 'path', path: `/home/${path}` },
            root: 'playpen',
            path,
            condition: '',
            fingerprint,
          }),
        ),
      ],
      outputs: Object.entries(writes).map(
        ([path, localPath]): OutputSpec => ({ root: 'playpen', path, localPath, condition: '' }),
      ),
    }),
  );
  const edges = drafts.flatMap(({ reads = [], after = [] }, to) =>
    [...new Set([...reads.map(([from]) => from), ...after])].map((from) => ({ from, to })),
  );
  return aJob(1, { groups, edges, ...changes });
}

function resume(
  next: JobSpec,
  former: JobSpec,
  {
    faults = {},
    gone = [],
  }: { readonly faults?: Readonly<Record<number, Cause>>; readonly gone?: readonly string[] } = {},
): Choice {
  return chooseTaken(next, matchTasks(next, former), {
    spec: former,
    getFault: (index) => faults[index],
    isGone: (index, path) => gone.includes(`${index} ${path}`),
  });
}

/** split -> left, right -> join. */
const diamond: readonly Draft[] = [
  { name: 'split', command: 'split', files: { in: 'f1' }, writes: { a: '', b: '' } },
  { name: 'left', command: 'left', reads: [[0, 'a']], writes: { A: '' } },
  { name: 'right', command: 'right', reads: [[0, 'b']], writes: { B: '' } },
  {
    name: 'join',
    command: 'join',
    reads: [
      [1, 'A'],
      [2, 'B'],
    ],
    writes: { all: '/home/all' },
  },
];

function changed(index: number, change: Draft): JobSpec {
  return deriveJob(diamond.map((draft, at) => (at === index ? { ...draft, ...change } : draft)));
}

const numbers = ({ taken }: Choice): number[] => [...taken.keys()];

test('all of the same workflow is taken over where all finished', (t) => {
  t.deepEqual(resume(deriveJob(diamond), deriveJob(diamond)), {
    taken: new Map([
      [0, 0],
      [1, 1],
      [2, 2],
      [3, 3],
    ]),
    runs: [],
  });
});

test('unfinished tasks run, and their successors', (t) => {
  const { taken, runs } = resume(deriveJob(diamond), deriveJob(diamond), {
    faults: { 2: { code: 'rerun-not-finished', jobId: 1 } },
  });
  t.deepEqual([...taken.keys()], [0, 1]);
  t.deepEqual(runs, [
    { taskIndex: 2, reason: { code: 'rerun-not-finished', jobId: 1 } },
    { taskIndex: 3, reason: { code: 'rerun-after-task', taskIndex: 2 } },
  ]);
});

test('another command, another input, another environment and other outputs are distinguished, and everything behind runs', (t) => {
  const reasons = (next: JobSpec): readonly string[] =>
    resume(next, deriveJob(diamond)).runs.map(({ taskIndex, reason }) => `${taskIndex} ${sayCause(reason)}`);
  t.deepEqual(reasons(changed(1, { command: 'left --fast' })), [
    '1 its command changed',
    '3 it waits for task 1, which runs',
  ]);
  t.is(reasons(changed(0, { files: { in: 'f2' } }))[0], '0 its input in changed');
  t.is(reasons(changed(0, { files: { in: 'f2' } })).length, 4);
  t.deepEqual(reasons(changed(3, { writes: { all: '/home/other' } })), ['3 no earlier task is like it']);
  t.is(reasons(deriveJob(diamond, { environment: { SEED: '2' } }))[0], '0 its environment changed');
  t.is(
    reasons(deriveJob(diamond, { verification: { kind: 'vote', count: 3 } }))[0],
    '0 its results are verified in another way',
  );
});

/** A bag of these values: each runs a script with its value and writes a place with its index. */
function getBag(
  values: readonly string[],
  { fingerprint = 'f1', command = 'sh s.sh {}' }: { readonly fingerprint?: string; readonly command?: string } = {},
): JobSpec {
  return aJob(values.length, {
    groups: [
      aGroup(values.length, {
        values: { kind: 'list', values },
        command,
        inputs: [
          { source: { kind: 'path', path: '/home/s.sh' }, root: 'playpen', path: 's.sh', condition: '', fingerprint },
        ],
        outputs: [{ root: 'playpen', path: 'out', localPath: '/home/o{#}', condition: '' }],
      }),
    ],
  });
}

test('of a bag whose script was edited each task runs for the true reason, and one whose command was mended, too', (t) => {
  const reasons = (next: JobSpec): readonly string[] => [
    ...new Set(resume(next, getBag(['1', '2', '3'])).runs.map(({ reason }) => sayCause(reason))),
  ];
  t.deepEqual(reasons(getBag(['1', '2', '3'], { fingerprint: 'f2' })), ['its input s.sh changed']);
  t.deepEqual(reasons(getBag(['1', '2', '3'], { command: 'sh s.sh -v {}' })), ['its command changed']);
  t.deepEqual(reasons(getBag(['1', '2', '4'])), ['its value changed from "3" to "4"']);
});

test('a task that runs with other values must not overwrite finished results through its number', (t) => {
  const former = getBag(['1', '2', '3']);
  const find = (next: JobSpec, finished: readonly number[]) =>
    findOverwrite(next, former, { runs: resume(next, former).runs, hasFinished: (index) => finished.includes(index) });
  t.deepEqual(
    find(getBag(['2', '3']), [0]),
    { place: '/home/o0', taskIndex: 0, formerIndex: 0 },
    'the failed ones alone begin at 0',
  );
  t.is(find(getBag(['2', '3']), [2]), undefined, 'there is no result there');
  t.is(
    find(getBag(['1', '2', '3'], { command: 'sh s.sh -v {}' }), [0, 1, 2]),
    undefined,
    'each writes its own result again',
  );
  t.is(find(getBag(['1', '2', '3'], { fingerprint: 'f2' }), [0, 1]), undefined);
});

test('tasks that finished before inputs were read again count as done with the earlier inputs', (t) => {
  const spec = getBag(['1', '2', '3']);
  const revised = reviseInputs(spec, [], {
    current: [
      { path: '/home/s.sh', fingerprint: 'f2' },
      { path: '/home/other', fingerprint: 'x' },
    ],
    begun: [{ first: 0, count: 2 }],
  });
  const former = withRevisedInputs(spec, revised);
  t.deepEqual([...fingerprintsIn(former)], [['/home/s.sh', 'f2']]);
  const next = resume(getBag(['1', '2', '3'], { fingerprint: 'f2' }), former);
  t.deepEqual([numbers(next), next.runs[0]?.reason], [[2], { code: 'rerun-input-changed', path: 's.sh' }]);
  t.deepEqual(numbers(resume(getBag(['1', '2', '3']), former)), [0, 1]);
  const again = withRevisedInputs(
    spec,
    reviseInputs(former, revised, {
      current: [{ path: '/home/s.sh', fingerprint: 'f3' }],
      begun: [{ first: 0, count: 3 }],
    }),
  );
  t.deepEqual(numbers(resume(getBag(['1', '2', '3'], { fingerprint: 'f2' }), again)), [2], 'the second time, too');
});

test('tasks are found again by their actions, wherever they are in the file', (t) => {
  const moved = diamond.map(
    (draft): Draft => ({
      ...draft,
      ...(draft.reads === undefined ? {} : { reads: draft.reads.map(([from, path]) => [from + 1, path] as const) }),
    }),
  );
  t.deepEqual(
    resume(deriveJob([{ command: 'new' }, ...moved]), deriveJob(diamond)).taken,
    new Map([
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 3],
    ]),
  );
});

test('a task that reads a file of the same name from another task runs', (t) => {
  const writers: readonly Draft[] = [
    { command: 'one', writes: { x: '' } },
    { command: 'two', writes: { x: '' } },
  ];
  const reader = (from: number): JobSpec =>
    deriveJob([...writers, { command: 'read', reads: [[from, 'x']], after: [0, 1] }]);
  t.deepEqual(resume(reader(1), reader(0)).runs, [{ taskIndex: 2, reason: { code: 'rerun-predecessors-differ' } }]);
});

test('a task that waits for one more than before runs, and so does one that waits for one less', (t) => {
  const [free, bound] = [deriveJob([{}, { command: 'b' }]), deriveJob([{}, { command: 'b', after: [0] }])];
  t.deepEqual(numbers(resume(bound, free)), [0]);
  t.deepEqual(numbers(resume(free, bound)), [0]);
});

test('an intermediate file that is kept no more matters only where a task that runs reads it', (t) => {
  const gone = ['0 a', '0 b', '1 A', '2 B'];
  t.deepEqual(numbers(resume(deriveJob(diamond), deriveJob(diamond), { gone })), [0, 1, 2, 3]);
  const { taken, runs } = resume(changed(3, { command: 'join --all' }), deriveJob(diamond), { gone: ['0 a', '1 A'] });
  t.deepEqual([...taken.keys()], []);
  t.deepEqual(runs[1]?.reason, { code: 'rerun-output-gone', path: 'A', readerTaskIndex: 3 });
  t.deepEqual(runs[0]?.reason, { code: 'rerun-output-gone', path: 'a', readerTaskIndex: 1 });
});

test('an input by a path that depends on the task, and what says the number of its job, are never the same', (t) => {
  const unknown = aJob(1, {
    groups: [
      aGroup(1, {
        inputs: [{ source: { kind: 'path', path: '/home/{}' }, root: 'playpen', path: 'in', condition: '' }],
      }),
    ],
  });
  t.deepEqual(numbers(resume(unknown, unknown)), []);
  t.deepEqual(numbers(resume(deriveJob([{ command: 'echo $JOB' }]), deriveJob([{ command: 'echo $JOB' }]))), []);
  t.deepEqual(numbers(resume(deriveJob([{}, { command: 'x {#}' }]), deriveJob([{}, { command: 'x {#}' }]))), [0, 1]);
  t.deepEqual(numbers(resume(deriveJob([{ command: 'x {#}' }]), deriveJob([{}, { command: 'x {#}' }]))), []);
});

test('of tasks that are alike each is taken once', (t) => {
  const alike = (count: number): JobSpec => deriveJob(Array.from({ length: count }, () => ({})));
  t.deepEqual(
    resume(alike(3), alike(2)).taken,
    new Map([
      [0, 0],
      [1, 1],
    ]),
  );
});
