// Jobs whose tasks start in a folder of home: on machines that have the same folder, with nothing copied.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder, aJob } from '@mutirao/testkit';
import type { JobSpec, MachineFacts, TaskGroup } from '@mutirao/core/messages';
import { HomeProver, markHome } from '@mutirao/runtime/files';
import test, { type ExecutionContext } from 'ava';
import { sharedHomeAttribute, stateSharedHome } from '../../../src/providers/shared-home.ts';
import { placeInFolder, type WorkFolderRules } from '../../../src/submission/place-in-folder.ts';

interface Setting {
  readonly folder: string;
  readonly rules: WorkFolderRules;
  place(group: Partial<TaskGroup>, job?: Partial<JobSpec>): Promise<JobSpec>;
}

function set(t: ExecutionContext): Setting {
  const root = temporaryFolder(t);
  const [home, folder] = [join(root, 'home'), join(root, 'study')];
  for (const one of [join(home, 'agents/lab_m1/playpens/0'), folder]) mkdirSync(one, { recursive: true });
  const rules = { home, hasKey: true, forbidden: [join(home, 'agents'), '/proc'] };
  const place = (changes: Partial<TaskGroup>, job: Partial<JobSpec> = {}): Promise<JobSpec> => {
    const {
      groups: [group],
      ...spec
    } = aJob(1);
    if (group === undefined) throw new Error('a job has a group');
    return placeInFolder(
      { ...spec, replicasMax: 1, workFolder: folder, ...job, groups: [{ ...group, ...changes }] },
      rules,
    );
  };
  return { folder, rules, place };
}

const path = (value: string) => ({ kind: 'path', path: value }) as const;

test('a job in a folder of home asks for machines that share it, in addition to its own requirements', async (t) => {
  const { place } = set(t);
  t.is((await place({})).groups[0]?.requirements, `${sharedHomeAttribute} == yes`);
  t.is(
    (await place({ requirements: 'os == linux || mem > 5' })).groups[0]?.requirements,
    `(os == linux || mem > 5) && ${sharedHomeAttribute} == yes`,
  );
});

test('a folder on a local disk other than that of home is asked for on this host alone', async (t) => {
  const { place } = set(t);
  const {
    groups: [group],
  } = await place({}, { workFolder: '/dev' });
  t.is(group?.requirements, `${sharedHomeAttribute} == yes && hostname == "${hostname()}"`);
});

test('any other job is left as it is', async (t) => {
  const { rules } = set(t);
  const job = aJob(1);
  t.is(await placeInFolder(job, rules), job);
});

test('inputs and outputs at their own places pass, and those that would be copied are refused by name', async (t) => {
  const { folder, place } = set(t);
  const input = { root: 'playpen', path: 'sub/s.py', source: path(`${folder}/sub/s.py`), condition: '' } as const;
  const output = { root: 'playpen', path: 'out-{}', localPath: `${folder}/out-{}`, condition: '' } as const;
  await t.notThrowsAsync(place({ inputs: [input], outputs: [output] }));
  await t.notThrowsAsync(place({ inputs: [{ ...input, root: 'storage', source: path('/elsewhere/x') }] }));
  await t.throwsAsync(place({ inputs: [{ ...input, path: 's.py' }] }), {
    code: 'MUT_BAD_REQUEST',
    message: /the input s\.py would be copied.*leave it out/,
  });
  await t.throwsAsync(
    place({ inputs: [{ ...input, source: { kind: 'content', content: { sha256: 'a'.repeat(64), size: 1 } } }] }),
    { code: 'MUT_BAD_REQUEST' },
  );
  await t.throwsAsync(place({ outputs: [{ ...output, localPath: `${folder}/results/{}` }] }), {
    code: 'MUT_BAD_REQUEST',
    message: /the output out-\{\} would be copied/,
  });
  await t.throwsAsync(place({ outputs: [{ ...output, localPath: '' }] }), { code: 'MUT_BAD_REQUEST' });
});

test('what would run a task twice at once in the same files is refused', async (t) => {
  const { place } = set(t);
  await t.throwsAsync(place({}, { replicasMax: 2 }), { code: 'MUT_BAD_REQUEST', message: /2 replicas/ });
  await t.throwsAsync(place({}, { verification: { kind: 'vote', count: 3 } }), {
    code: 'MUT_BAD_REQUEST',
    message: /votes/,
  });
  await t.throwsAsync(place({}, { verification: { kind: 'credibility', threshold: 0.9 } }), {
    code: 'MUT_BAD_REQUEST',
    message: /votes/,
  });
  await t.throwsAsync(place({}, { gatherFolder: '/g' }), { code: 'MUT_BAD_REQUEST', message: /--archive-outputs/ });
});

test('a folder that no machine can have is refused with the reason', async (t) => {
  const { folder, rules, place } = set(t);
  writeFileSync(join(folder, 'file'), '');
  await t.throwsAsync(place({}, { workFolder: join(folder, 'gone') }), {
    code: 'MUT_WORK_FOLDER',
    message: /it is not there/,
  });
  await t.throwsAsync(place({}, { workFolder: join(folder, 'file') }), {
    code: 'MUT_WORK_FOLDER',
    message: /is not a folder/,
  });
  await t.throwsAsync(
    placeInFolder({ ...aJob(1), replicasMax: 1, groups: [], workFolder: folder }, { ...rules, hasKey: false }),
    { code: 'MUT_WORK_FOLDER', message: /holds no key/ },
  );
});

test('a folder in which Mutirao removes files is refused, by whatever path it is named', async (t) => {
  const { folder, rules, place } = set(t);
  const playpen = join(rules.home, 'agents/lab_m1/playpens/0');
  symlinkSync(playpen, join(folder, 'link'));
  for (const workFolder of [playpen, join(rules.home, 'agents'), join(folder, 'link'), '/proc/self']) {
    await t.throwsAsync(place({}, { workFolder }), { code: 'MUT_WORK_FOLDER', message: /where Mutirao removes files/ });
  }
});

test('home says whether a machine shares its files, whatever the machine says of itself', (t) => {
  const facts = {
    machineId: 'lab/m1',
    incarnation: 'x',
    processors: 1,
    attributes: { os: 'linux' },
    until: undefined,
    requestId: '',
    identity: 'h',
  };
  const ours = new HomeProver('ours');
  const stated = (homeMarks: readonly string[], prover = ours): MachineFacts =>
    stateSharedHome({ ...facts, homeMarks }, prover);
  t.is(stated([markHome('ours', 'x')]).attributes[sharedHomeAttribute], 'yes');
  t.false('homeMarks' in stated([markHome('ours', 'x')]), 'marks are kept in no record');
  t.is(stated([markHome('theirs', 'x')]).attributes[sharedHomeAttribute], undefined);
  t.is(stated([markHome('ours', 'another incarnation')]).attributes[sharedHomeAttribute], undefined);
  t.is(stated([markHome('', 'x')], new HomeProver('')).attributes[sharedHomeAttribute], undefined);
  t.deepEqual(
    stateSharedHome({ ...facts, attributes: { os: 'linux', [sharedHomeAttribute]: 'yes' } }, ours).attributes,
    { os: 'linux' },
  );
});
