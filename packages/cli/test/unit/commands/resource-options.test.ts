import test from 'ava';
import type { TaskGroup } from '@mutirao/core/messages';
import { jobDefaults, makeTaskGroup } from '@mutirao/formats';
import { overrideJob } from '../../../src/commands/job/job-options.ts';

const group: TaskGroup = makeTaskGroup({ command: 'true', values: undefined });
const ofFile: TaskGroup = { ...group, resources: { memory: 100, gpus: 500, gpuKind: 't4', named: { licence: 1 } } };
const job = { ...jobDefaults, groups: [group, ofFile], homeDirectory: '/' };
const place = { directory: '/', now: 0 };

test('what is asked for applies to every task, part by part, before what a file says of some', (t) => {
  const { resources, groups } = overrideJob(job, { memory: '4G', gpus: '2:a100', resource: ['Scratch=1K'] }, place);
  const asked = { memory: 4 * 2 ** 30, gpus: 2000, gpuKind: 'a100', named: { scratch: 1024 } };
  t.deepEqual(resources, asked);
  t.is(groups[0]?.resources, undefined);
  t.deepEqual(groups[1]?.resources, { ...asked, named: { licence: 1, scratch: 1024 } });
  const memoryOnly = overrideJob(job, { memory: '1M' }, place);
  t.deepEqual(memoryOnly.groups[1]?.resources, { memory: 2 ** 20, gpus: 500, gpuKind: 't4', named: { licence: 1 } });
  t.deepEqual(overrideJob(job, { gpus: '0', memory: '0' }, place).resources, undefined);
});

test('a job without such options stays as it is', (t) => {
  const plain = overrideJob(job, {}, place);
  t.false('resources' in plain);
  t.deepEqual(plain.groups, job.groups);
});

test('--cpus is --processors', (t) => {
  t.is(overrideJob(job, { cpus: '4' }, place).processors, 4);
  t.throws(() => overrideJob(job, { cpus: '0' }, place), { message: /--cpus is "0"; expected an integer/ });
  t.throws(() => overrideJob(job, { cpus: '4', processors: '2' }, place), { code: 'MUT_BAD_REQUEST' });
});

test('a malformed size, number of GPUs or resource is refused with what was expected', (t) => {
  t.throws(() => overrideJob(job, { memory: 'lots' }, place), { code: 'MUT_BAD_SIZE' });
  t.throws(() => overrideJob(job, { memory: '4X' }, place), { code: 'MUT_BAD_SIZE', message: /one of the units/ });
  t.throws(() => overrideJob(job, { gpus: '1.5' }, place), {
    code: 'MUT_BAD_RESOURCE',
    message: /whole number of GPUs/,
  });
  t.throws(() => overrideJob(job, { resource: ['memory=4G'] }, place), { code: 'MUT_BAD_RESOURCE' });
  t.throws(() => overrideJob(job, { resource: ['a=1', 'A=2'] }, place), { message: /--resource names a twice/ });
});
