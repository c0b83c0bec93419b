import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import test from 'ava';

import type { InputSpec, JobSpec, OutputSpec } from '@mutirao/core/messages';
import { renderGatheredOwner } from '@mutirao/runtime/files';
import { aGroup, aJob, temporaryFolder } from '@mutirao/testkit';

import { checkFiles, checkIndexIsNew, type FileRules } from '../../../src/submission/check-files.ts';
import { checkRequirements } from '../../../src/submission/check-requirements.ts';
import { resolveLocalPaths } from '../../../src/submission/resolve-paths.ts';

const rules: FileRules = { forbidden: ['/forbidden'], hasContent: () => false };

function input(path: string): InputSpec {
  return { source: { kind: 'path', path }, root: 'playpen', path: 'x', condition: '' };
}

function output(localPath: string): OutputSpec {
  return { root: 'playpen', path: 'x', localPath, condition: '' };
}

function deriveJob(
  inputs: readonly InputSpec[],
  outputs: readonly OutputSpec[] = [],
  values = aGroup(3).values,
): JobSpec {
  return aJob(1, { groups: [aGroup(1, { values, inputs, outputs })] });
}

test('relative paths begin at the home directory, templates and a trailing slash stay', (t) => {
  const spec = resolveLocalPaths({
    ...deriveJob([input('in/{}.txt'), input('/abs')], [output('../out/{#}/'), output('')]),
    homeDirectory: '/home/ana',
  });
  t.deepEqual(
    spec.groups[0]?.inputs.map(({ source }) => source),
    [
      { kind: 'path', path: '/home/ana/in/{}.txt' },
      { kind: 'path', path: '/abs' },
    ],
  );
  t.deepEqual(
    spec.groups[0]?.outputs.map(({ localPath }) => localPath),
    ['/home/out/{#}/', ''],
  );
});

test('a home directory that is relative, or missing where it is needed, is refused', (t) => {
  t.throws(() => resolveLocalPaths({ ...deriveJob([]), homeDirectory: 'here' }), {
    code: 'MUT_BAD_REQUEST',
    message: /home_directory is here/,
  });
  t.throws(() => resolveLocalPaths({ ...deriveJob([input('a')]), homeDirectory: '' }), {
    code: 'MUT_BAD_REQUEST',
    message: /folder that a is relative to/,
  });
  t.notThrows(() => resolveLocalPaths({ ...deriveJob([input('/a')]), homeDirectory: '' }));
  t.throws(() => resolveLocalPaths(aJob(1, { homeDirectory: '', groups: [aGroup(1, { check: 'true' })] })), {
    code: 'MUT_BAD_REQUEST',
    message: /check/,
  });
});

test('an input that is not there is refused with its path; folders and files that are there are fine', async (t) => {
  const home = temporaryFolder(t);
  mkdirSync(join(home, 'folder'));
  writeFileSync(join(home, 'file'), '');
  await t.notThrowsAsync(checkFiles(deriveJob([input(join(home, 'folder')), input(join(home, 'file'))]), rules));
  await t.throwsAsync(checkFiles(deriveJob([input(join(home, 'gone'))]), rules), {
    code: 'MUT_INPUT_MISSING',
    message: /gone is not there/,
  });
});

test('of a range the first and the last value are looked at, of a list all are', async (t) => {
  const home = temporaryFolder(t);
  for (const name of ['0', '2']) writeFileSync(join(home, name), '');
  await t.notThrowsAsync(checkFiles(deriveJob([input(join(home, '{}'))]), rules), 'task 1 will fail by itself');
  await t.throwsAsync(
    checkFiles(deriveJob([input(join(home, '{}'))], [], { kind: 'range', first: 0, count: 4, step: 1 }), rules),
    { message: /\/3 is not there/ },
  );
  await t.throwsAsync(
    checkFiles(deriveJob([input(join(home, '{}'))], [], { kind: 'list', values: ['0', '1', '2'] }), rules),
    { message: /\/1 is not there/ },
  );
  await t.notThrowsAsync(
    checkFiles(deriveJob([input(join(home, '$JOB/{}')), input(join(home, '$os'))]), rules),
    "nobody knows the job's number yet",
  );
  await t.throwsAsync(checkFiles(deriveJob([input(join(home, 'in.$TASK'))]), rules), {
    message: /in\.[02] is not there/,
  });
});

test('a content that was not uploaded is refused', async (t) => {
  const content = { sha256: 'ab'.repeat(32), size: 1 };
  const job = deriveJob([{ source: { kind: 'content', content }, root: 'playpen', path: 'x', condition: '' }]);
  await t.throwsAsync(checkFiles(job, rules), { code: 'MUT_CONTENT_NOT_FOUND' });
  await t.notThrowsAsync(checkFiles(job, { ...rules, hasContent: () => true }));
});

test('an output may go to a folder that is still to be made, but not below a file, nor where it is forbidden', async (t) => {
  const home = temporaryFolder(t);
  writeFileSync(join(home, 'file'), '');
  await t.notThrowsAsync(checkFiles(deriveJob([], [output(join(home, 'a/b/c'))]), rules));
  await t.throwsAsync(checkFiles(deriveJob([], [output(join(home, 'file/b'))]), rules), {
    code: 'MUT_OUTPUT_FORBIDDEN',
    message: /file is not a folder/,
  });
  await t.throwsAsync(checkFiles(deriveJob([], [output('/forbidden/x')]), rules), {
    code: 'MUT_OUTPUT_FORBIDDEN',
    message: /inside \/forbidden/,
  });
  await t.throwsAsync(checkFiles(deriveJob([], [output('/a/../forbidden')]), rules), { code: 'MUT_OUTPUT_FORBIDDEN' });
  await t.notThrowsAsync(
    checkFiles(deriveJob([], [output(`${home}/forbidden-not`)]), { ...rules, forbidden: [`${home}/forbidden`] }),
  );
  if (process.getuid?.() === 0) return; // Nothing is read-only for root.
  chmodSync(home, 0o500);
  await t.throwsAsync(checkFiles(deriveJob([], [output(join(home, 'x'))]), rules), { message: /cannot be written/ });
});

test('what a job gathers does not get among the results of one of the same number whose journal is gone', async (t) => {
  const folder = temporaryFolder(t);
  await checkIndexIsNew(join(folder, 'missing'), 1);
  writeFileSync(join(folder, 'job-1.index.jsonl'), renderGatheredOwner({ jobId: 1, brokerId: 'b', instance: 'other' }));
  await t.throwsAsync(checkIndexIsNew(folder, 1), {
    code: 'MUT_OUTPUT_FORBIDDEN',
    message: /job-1\.index\.jsonl is there already/,
  });
  await t.notThrowsAsync(checkIndexIsNew(folder, 2), 'a job of another number has files of its own');
});

test('a check needs a home directory that is there', async (t) => {
  const home = temporaryFolder(t);
  const checked = (homeDirectory: string): JobSpec =>
    aJob(1, { homeDirectory, groups: [aGroup(1, { check: 'true' })] });
  await t.notThrowsAsync(checkFiles(checked(home), rules));
  await t.throwsAsync(checkFiles(checked(join(home, 'gone')), rules), {
    code: 'MUT_BAD_REQUEST',
    message: /gone; expected a folder/,
  });
});

test('an expression that cannot be read is refused with its place', (t) => {
  t.throws(
    () => {
      checkRequirements(aJob(1, { groups: [aGroup(1), aGroup(1, { requirements: 'os ==' })] }));
    },
    { code: 'MUT_BAD_REQUEST', message: /groups\[1\]: requirements, character 6/ },
  );
  t.throws(
    () => {
      checkRequirements(deriveJob([{ ...input('/a'), condition: '(os' }]));
    },
    { code: 'MUT_BAD_REQUEST', message: /condition of input x/ },
  );
  t.notThrows(() => {
    checkRequirements(aJob(1, { groups: [aGroup(1, { requirements: 'os == linux && mem >= 512' })] }));
  });
});
