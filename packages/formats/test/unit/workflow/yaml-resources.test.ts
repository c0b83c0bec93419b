import test from 'ava';
import { convertWorkflow, makeWorkflowJob, parseWorkflow } from '@mutirao/formats/workflow';

const yaml = (row: string): string => `tasks:\n  train: {command: ./train, ${row}}\n`;

test('a task of a YAML workflow asks for memory, GPUs and counted resources, and is written as it was', (t) => {
  const document = parseWorkflow(yaml("memory: 4GiB, gpus: '2:a100', resources: {licence: 1, scratch: 2K}"), 'f');
  const resources = { memory: 4 * 2 ** 30, gpus: 2000, gpuKind: 'a100', named: { licence: 1, scratch: 2048 } };
  const resourcesOf = (read: typeof document): unknown =>
    makeWorkflowJob(read, { directory: '/' }).job.groups[0]?.resources;
  t.deepEqual(resourcesOf(document), resources);
  t.deepEqual(resourcesOf(parseWorkflow(convertWorkflow(document, 'yaml').text, 'g')), resources);
  t.like(resourcesOf(parseWorkflow(yaml('gpus: 0.5'), 'f')), { gpus: 500 });
  t.is(resourcesOf(parseWorkflow(yaml('processors: 2'), 'f')), undefined);
});

test('a malformed amount is refused at its place', (t) => {
  const refuse = (row: string, message: RegExp, code = 'MUT_BAD_RESOURCE'): void => {
    t.throws(() => parseWorkflow(yaml(row), 'f'), { code, message }, row);
  };
  refuse('gpus: 1.5', /^f:2:\d+: found "1.5" as tasks.train.gpus, expected a whole number of GPUs/);
  refuse("gpus: '2:'", /expected a kind of GPU/);
  refuse('resources: {licence: 0}', /as tasks.train.resources.licence, expected an amount of 1 to/);
  refuse('resources: {gpus: 1}', /expected a name of letters/);
  refuse('memory: 4X', /found "4X" as tasks.train.memory/, 'MUT_BAD_SIZE');
});
