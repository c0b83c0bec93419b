// Words of a hostile machine that no honest agent says, one after another on one grid: nothing at home is touched
// outside the places of the job, no secret comes into a result, everything lives, and the honest machine goes on.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, lstatSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { JobStatus, MachineStatus } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import type { MachineFacts, OutputContent, ReplicaEnded, Report } from '@mutirao/api/machine';
import { Grid, HostileMachine, taskGroup, temporaryFolder, until, type HostileWords } from '@mutirao/testkit';

let grid: Grid;
const honestAttributes = ['--attribute', 'honest=yes'];

test.before(async () => {
  grid = await Grid.start({
    machines: [{ processors: 1, args: honestAttributes }],
    // A machine that answers nothing is not waited for.
    brokerArgs: ['--cancel-grace', '500ms'],
  });
  await grid.client.waitMachines(1);
});
test.after.always(() => grid.stop());

interface HostileCase {
  readonly title: string;
  readonly words: HostileWords;
  /** Whether its task may be taken as finished, as that of a machine that returns a wrong result; never when left out. */
  readonly mayFinish?: boolean;
  /** What it says changes nothing: its task goes on. */
  readonly isIgnored?: boolean;
  /** The output is a folder at home. */
  readonly isFolder?: boolean;
}

/** A file within a report. */
function file(text: string, parts: Partial<OutputContent> = {}): OutputContent {
  const inline = Buffer.from(text);
  return {
    outputIndex: 0,
    path: '',
    content: { sha256: createHash('sha256').update(inline).digest(), sizeBytes: inline.length },
    mode: 0o644,
    inline,
    transferId: '',
    droppedName: '',
    ...parts,
  };
}

const bringing =
  (...outputs: readonly OutputContent[]): NonNullable<HostileWords['answer']> =>
  (honest) => ({ ...honest, outputs: [...outputs] });
const ending =
  (parts: Partial<ReplicaEnded>): NonNullable<HostileWords['answer']> =>
  (honest) => ({ ...honest, outputs: [file('forged')], ...parts });
const stating = (facts: Partial<MachineFacts>): HostileWords => ({ facts, answer: bringing(file('forged')) });
const reporting = (change: (honest: Report) => Partial<Report>): HostileWords => ({
  answer: bringing(file('forged')),
  report: (honest) => ({ ...honest, ...change(honest) }),
});
const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const far = 2 ** 52;

const cases: readonly HostileCase[] = [
  {
    title: 'a mode with the bit of another account',
    words: { answer: bringing(file('x', { mode: 0o6755 })) },
    mayFinish: true,
  },
  { title: 'a mode of all bits', words: { answer: bringing(file('x', { mode: 0xffffffff })) }, mayFinish: true },
  { title: 'a mode that nobody may read', words: { answer: bringing(file('x', { mode: 0 })) }, mayFinish: true },
  {
    title: 'a path of bytes that leads out',
    words: { answer: bringing(file('x', { pathBytes: Buffer.from('../../../victim/forged') })) },
    isFolder: true,
  },
  {
    title: 'a path of bytes with an end of text',
    words: { answer: bringing(file('x', { pathBytes: Buffer.from('a\0b') })) },
    isFolder: true,
  },
  {
    title: 'an absolute path',
    words: { answer: bringing(file('x', { path: '/tmp/forged-by-a-machine' })) },
    isFolder: true,
  },
  {
    title: 'the path of the folder itself',
    words: { answer: bringing(file('x', { path: '.' })) },
    isFolder: true,
    mayFinish: true,
  },
  {
    title: 'a path with a detour',
    words: { answer: bringing(file('x', { path: 'a/../../../victim/forged' })) },
    isFolder: true,
  },
  {
    title: 'a path through a link that is at home',
    words: { answer: bringing(file('x', { path: 'link/forged' })) },
    isFolder: true,
  },
  {
    title: 'a file and a folder by one name',
    words: { answer: bringing(file('x', { path: 'a' }), file('y', { path: 'a/b' })) },
    isFolder: true,
    mayFinish: true,
  },
  { title: 'one file twice', words: { answer: bringing(file('x'), file('y')) }, mayFinish: true },
  {
    title: 'files below an output that is a file',
    words: { answer: bringing(file('x'), file('y', { path: 'b' })) },
    mayFinish: true,
  },
  {
    title: 'a name with controls of a terminal',
    words: { answer: bringing(file('x', { path: '\u001b[2Jx\nfake row' })) },
    isFolder: true,
    mayFinish: true,
  },
  {
    title: 'a dropped file that leads out',
    words: { answer: bringing(file('x', { inline: undefined, droppedName: '../token' })) },
  },
  {
    title: 'a dropped file by its absolute path',
    words: { answer: bringing(file('x', { inline: undefined, droppedName: '/etc/passwd' })) },
  },
  {
    title: 'a dropped file that is not there',
    words: { answer: bringing(file('x', { inline: undefined, droppedName: 'nothing' })) },
  },
  {
    title: 'a transfer that leads out',
    words: { answer: bringing(file('x', { inline: undefined, transferId: '../../token' })) },
  },
  {
    title: 'a transfer that does not exist',
    words: { answer: bringing(file('x', { inline: undefined, transferId: 'a'.repeat(32) })) },
  },
  { title: 'neither bytes nor a transfer', words: { answer: bringing(file('x', { inline: undefined })) } },
  {
    title: 'another hash than that of the bytes',
    words: { answer: bringing(file('x', { content: { sha256: hashOf('y'), sizeBytes: 1 } })) },
  },
  {
    title: 'a hash that is too short',
    words: { answer: bringing(file('x', { content: { sha256: Buffer.from('short'), sizeBytes: 1 } })) },
  },
  {
    title: 'a size that no disk has',
    words: {
      answer: bringing(
        file('x', { inline: undefined, transferId: 'b'.repeat(32), content: { sha256: hashOf('y'), sizeBytes: far } }),
      ),
    },
  },
  { title: 'no content at all', words: { answer: bringing(file('x', { content: undefined })) } },
  { title: 'a success with the status of a failure', words: { answer: ending({ exitStatus: 77 }) }, mayFinish: true },
  { title: 'a reason that does not exist', words: { answer: ending({ outcome: 2, reason: 'MUT_NONSENSE' }) } },
  {
    title: 'a reason that is the word of the user',
    words: { answer: ending({ outcome: 2, reason: 'MUT_CANCELLED' }) },
  },
  {
    title: 'an end before its start',
    words: { answer: ending({ startedUnixMs: far, endedUnixMs: 5 }) },
    mayFinish: true,
  },
  {
    title: 'more memory and time than there is',
    words: { answer: ending({ usage: { memoryBytesMax: far, processorTimeMs: far } }) },
    mayFinish: true,
  },
  {
    title: 'output with controls of a terminal',
    words: { answer: ending({ standardOutput: Buffer.from('\u001b]0;title\u0007\u001b[2J') }) },
    mayFinish: true,
  },
  {
    title: 'an end of a task that does not exist',
    words: reporting(({ ended }) => ({ ended: [...ended, ...ended.map((end) => ({ ...end, replicaId: 999_999 }))] })),
    mayFinish: true,
  },
  {
    title: 'an end of task zero',
    words: reporting(({ ended }) => ({ ended: ended.map((end) => ({ ...end, replicaId: 0 })) })),
    isIgnored: true,
  },
  {
    title: 'an end two thousand times',
    words: reporting(({ ended }) => ({ ended: ended.flatMap((end) => Array.from({ length: 2000 }, () => end)) })),
  },
  { title: 'a report from far ahead', words: reporting(() => ({ sequence: far })), mayFinish: true },
  { title: 'a report without a number', words: reporting(() => ({ sequence: 0 })), mayFinish: true },
  {
    title: 'starts of tasks of others',
    words: reporting(() => ({
      started: Array.from({ length: 50 }, (_, at) => ({ replicaId: at, startedUnixMs: 1 })) as never,
    })),
    mayFinish: true,
  },
  {
    title: 'attributes that are those of every object',
    words: stating({ attributes: { __proto__: 'x', constructor: 'y', tostring: 'z' } as never }),
    mayFinish: true,
  },
  {
    title: 'memory without bounds in an attribute',
    words: stating({ attributes: { mem: '1e308', processors: '1e308' } }),
    mayFinish: true,
  },
  { isIgnored: true, title: 'an allocation that has ended', words: stating({ untilUnixMs: 1 }), mayFinish: true },
  { title: 'the request of another', words: stating({ requestId: '1' }), mayFinish: true },
  {
    title: 'GPUs of one name',
    words: stating({
      capacity: { memoryBytes: far, gpus: Array.from({ length: 600 }, () => ({ id: '0', kind: 'a100' })), named: {} },
    }),
    mayFinish: true,
  },
  {
    title: 'counted resources named as every object is',
    words: stating({ capacity: { memoryBytes: 1, gpus: [], named: { constructor: 5, __proto__: 5 } as never } }),
    mayFinish: true,
  },
  { title: 'nothing at all', words: { answer: () => undefined }, isIgnored: true },
  { title: 'a report delay of a year', words: stating({ reportDelayMs: 0xffffffff }), mayFinish: true },
  { title: 'a machine for another user alone', words: stating({ onlyUserId: 'somebody' }), mayFinish: true },
];

for (const [index, { title, words, mayFinish = false, isIgnored = false, isFolder = false }] of cases.entries())
  test.serial(`a hostile machine says ${title}`, async (t) => {
    const parent = temporaryFolder(t);
    const folder = join(parent, 'work');
    const victim = join(parent, 'victim');
    for (const path of [folder, victim, join(folder, 'results')]) mkdirSync(path);
    writeFileSync(join(victim, 'key'), 'secret');
    if (isFolder) {
      mkdirSync(join(folder, 'results/out'));
      symlinkSync(victim, join(folder, 'results/out/link'));
    }
    const name = `evil${index}`;
    const attributes = { ...words.facts?.attributes, case: String(index) };
    const hostile = await HostileMachine.join(grid, name, { ...words, facts: { ...words.facts, attributes } });
    t.teardown(() => {
      hostile.close();
    });
    const outputs = [{ root: Root.PLAYPEN, path: 'out', localPath: join(folder, 'results/out'), condition: '' }];
    const jobId = await grid.client.submit(
      [taskGroup('mkdir out', 1, { outputs, requirements: `case == "${index}"` })],
      { failuresMax: 1, replicasMax: 1, sharedPlaces: true, homeDirectory: folder },
    );
    const hasEnded = async (): Promise<boolean> => (await grid.client.job(jobId)).endedUnixMs > 0;
    await until(
      async () =>
        (isIgnored && hostile.messages.length > 0) ||
        hostile.refusals.length > 0 ||
        (await hasEnded()) ||
        (await isCaught(name)),
      'the words of the hostile machine were read',
      20_000,
    );
    if (!(await hasEnded())) await grid.client.cancel(jobId);
    await until(hasEnded, 'its job has ended');
    const { status } = await grid.client.job(jobId);
    if (!mayFinish) t.not(status, JobStatus.FINISHED);
    const honest = await grid.client.submit([taskGroup('echo right', 1, { requirements: 'honest == "yes"' })]);
    t.is((await grid.client.waitEnded(honest)).status, JobStatus.FINISHED);
    await grid.assertAllLive();
    t.deepEqual(readdirSync(victim), ['key']);
    t.is(readFileSync(join(victim, 'key'), 'utf8'), 'secret');
    t.deepEqual(readdirSync(parent).sort(), ['victim', 'work']);
    t.deepEqual(readdirSync(folder), ['results']);
    for (const path of readdirSync(join(folder, 'results'), { recursive: true, encoding: 'utf8' })) {
      const found = lstatSync(join(folder, 'results', path));
      t.is(found.mode & 0o7000, 0, `${path} has a bit of another account`);
      if (found.isFile() && !path.startsWith('out/link/'))
        t.regex(readFileSync(join(folder, 'results', path), 'utf8'), /^(?:x|y|forged|)$/);
    }
  });

async function isCaught(name: string): Promise<boolean> {
  const machines = await grid.client.machines();
  return machines.some(
    ({ facts, status }) => facts?.machineId === `lab/${name}` && status === MachineStatus.QUARANTINED,
  );
}
