import test from 'ava';
import { FormatError, parseGpuDevices, parseGpus, parseNamedResource, parseResources } from '@mutirao/formats';

function findMessage(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof FormatError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'no error';
}

test('GPUs are whole, or a fraction of one, and may be of a kind', (t) => {
  t.deepEqual(parseGpus('2'), { gpus: 2000 });
  t.deepEqual(parseGpus('0.5'), { gpus: 500 });
  t.deepEqual(parseGpus('0.29'), { gpus: 290 });
  t.deepEqual(parseGpus('2:A100'), { gpus: 2000, gpuKind: 'a100' });
  t.deepEqual(parseGpus('0'), { gpus: 0 });
  t.is(
    findMessage(() => parseGpus('1.5')),
    'MUT_BAD_RESOURCE number of GPUs "1.5", character 1: found "1.5", expected a whole number of GPUs, or a ' +
      'fraction of a single one',
  );
  t.is(
    findMessage(() => parseGpus('a100')),
    'MUT_BAD_RESOURCE number of GPUs "a100", character 1: found "a100", expected a number of GPUs, as in 1, 0.5 or ' +
      '2:a100',
  );
  t.is(
    findMessage(() => parseGpus('1:')),
    'MUT_BAD_RESOURCE number of GPUs "1:", character 3: found the end, expected a kind of GPU of letters, digits, ' +
      '"-", "_" and ".", as in a100',
  );
  for (const text of ['', '-1', '0.0001', '2000', '0:a100', '1:a b']) t.throws(() => parseGpus(text), undefined, text);
});

test('devices of a machine are counted or listed', (t) => {
  t.deepEqual(parseGpuDevices('2:A100'), [
    { id: '0', kind: 'a100' },
    { id: '1', kind: 'a100' },
  ]);
  t.deepEqual(parseGpuDevices('0,3'), [
    { id: '0', kind: '' },
    { id: '3', kind: '' },
  ]);
  t.deepEqual(parseGpuDevices('GPU-8a1f,:t4'), [{ id: 'GPU-8a1f', kind: 't4' }]);
  t.deepEqual(parseGpuDevices('0'), []);
  for (const text of ['', 'x', '1,1', '1,2:', '9999']) t.throws(() => parseGpuDevices(text), undefined, text);
});

test('a named resource has an amount, which may have the unit of a size', (t) => {
  t.deepEqual(parseNamedResource('licence=2'), { name: 'licence', amount: 2 });
  t.deepEqual(parseNamedResource('Scratch=200G'), { name: 'scratch', amount: 200 * 2 ** 30 });
  t.deepEqual(parseNamedResource('token'), { name: 'token', amount: 1 });
  t.is(
    findMessage(() => parseNamedResource('gpus=2')),
    'MUT_BAD_RESOURCE resource "gpus=2", character 1: found "gpus=2", expected a name of letters, digits, "-", "_" ' +
      'and "." that is not memory, gpus or cpus, as in licence=2',
  );
  for (const text of ['', '=2', 'x=0', 'x=-1', 'x=', '1x=2', '__proto__=1'])
    t.throws(() => parseNamedResource(text), undefined, text);
});

test('a request is read from its parts, and no parts make no request', (t) => {
  t.is(parseResources({}), undefined);
  t.deepEqual(parseResources({ memory: '16G', gpus: '1', named: ['licence=1', 'licence=2'] }), {
    memory: 16 * 2 ** 30,
    gpus: 1000,
    named: { licence: 2 },
  });
});
