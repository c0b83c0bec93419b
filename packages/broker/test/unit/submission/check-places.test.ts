import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, aJob } from '@mutirao/testkit';
import type { JobSpec, OutputSpec, Values } from '@mutirao/core/messages';
import test from 'ava';
import { checkPlaces } from '../../../src/submission/check-places.ts';

function get(path: string, localPath: string, condition = ''): OutputSpec {
  return { root: 'playpen', path, localPath, condition };
}

/** A job of one group. */
function deriveJob(
  outputs: readonly OutputSpec[],
  values: Values = { kind: 'range', first: 1, count: 5, step: 1 },
  more: Partial<JobSpec> = {},
): JobSpec {
  const job = aJob(1);
  const [group] = job.groups;
  if (group === undefined) throw new Error('a job has a group');
  return { ...job, ...more, groups: [{ ...group, values, outputs }] };
}

function list(...values: readonly string[]): Values {
  return { kind: 'list', values };
}

const conflict = { code: 'MUT_OUTPUT_CONFLICT' };

test('tasks that write one place are refused with the way out in the message', async (t) => {
  await t.throwsAsync(checkPlaces(deriveJob([get('out', '/home/u/out')])), {
    ...conflict,
    message: /out of task 0 and out of task 1 .*--get 'out:out-\{#\}'.*--shared-places/,
  });
});

test('tasks with places of their own pass, by value, by number or by name of the output', async (t) => {
  await t.notThrowsAsync(checkPlaces(deriveJob([get('out', '/home/u/out-{}'), get('log', '/home/u/logs/{#}')])));
  await t.notThrowsAsync(checkPlaces(deriveJob([get('out-{}', '/home/u/results/')])));
  await t.notThrowsAsync(checkPlaces(deriveJob([get('out', '/home/u/out-$TASK-$JOB')])));
});

test('final paths are compared: values that are equal, dots, one place below another', async (t) => {
  await t.throwsAsync(checkPlaces(deriveJob([get('out', '/home/u/{}')], list('a', 'b', 'a'))), conflict);
  await t.throwsAsync(checkPlaces(deriveJob([get('out', '/home/u/{}')], list('a', './a'))), conflict);
  await t.throwsAsync(checkPlaces(deriveJob([get('out', '/home/u/{}')], list('a', 'b/../a'))), conflict);
  await t.throwsAsync(checkPlaces(deriveJob([get('out', '/home/u/{}')], list('a', 'a/b'))), conflict);
  await t.throwsAsync(checkPlaces(deriveJob([get('out', '/home/u/{}')], list('a/b', 'a'))), conflict);
  await t.throwsAsync(checkPlaces(deriveJob([get('out', '/home/u/results/')])), conflict);
  await t.notThrowsAsync(checkPlaces(deriveJob([get('out', '/home/u/{}')], list('a', 'ab', 'a.b', 'A'))));
});

test('links at home are followed, and a folder that is there takes files under their own names', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'real'));
  symlinkSync('real', join(folder, 'link'));
  await t.throwsAsync(checkPlaces(deriveJob([get('out', `${folder}/{}/out`)], list('real', 'link'))), conflict);
  await t.notThrowsAsync(checkPlaces(deriveJob([get('out{}', `${folder}/real`)], list('1', '2'))));
  await t.throwsAsync(checkPlaces(deriveJob([get('out', `${folder}/real`)], list('1', '2'))), conflict);
});

test('in a folder with many of the places, folders and links to folders are still distinguished from files', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'real'));
  symlinkSync('real', join(folder, 'link'));
  const many = Array.from({ length: 200 }, (_, index) => `n${index}`);
  await t.throwsAsync(checkPlaces(deriveJob([get('out', `${folder}/{}`)], list(...many, 'real', 'link'))), conflict);
  await t.notThrowsAsync(checkPlaces(deriveJob([get('out', `${folder}/{}`)], list(...many, 'link'))));
  await t.throwsAsync(
    checkPlaces(deriveJob([get('out', `${folder}/{}`)], list(...many, 'link', 'real/out'))),
    conflict,
  );
});

test('one task that writes one place twice is refused, unless machines decide which', async (t) => {
  const one = list('1');
  await t.throwsAsync(checkPlaces(deriveJob([get('a', '/home/u/x'), get('b', '/home/u/x')], one)), {
    ...conflict,
    message: /a place of its own/,
  });
  await t.notThrowsAsync(
    checkPlaces(deriveJob([get('a', '/home/u/x', 'os == linux'), get('b', '/home/u/x', 'os == windows')], one)),
  );
});

test('groups of one job are compared with each other', async (t) => {
  const job = deriveJob([get('out', '/home/u/out')], list('1'));
  await t.throwsAsync(checkPlaces({ ...job, groups: [...job.groups, ...job.groups] }), conflict);
});

test('what is gathered, kept as blobs, meant, or decided by machines is let through', async (t) => {
  await t.notThrowsAsync(checkPlaces(deriveJob([get('out', '/home/u/out')], undefined, { gatherFolder: '/home/u/g' })));
  await t.notThrowsAsync(checkPlaces(deriveJob([get('out', '/home/u/out')], undefined, { sharedPlaces: true })));
  await t.notThrowsAsync(checkPlaces(deriveJob([get('out', '')])));
  await t.notThrowsAsync(checkPlaces(deriveJob([get('out', '/home/u/out-$PROC')])));
});
