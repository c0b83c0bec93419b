import test from 'ava';

import {
  decodeCapacity,
  decodeResources,
  decodeUsage,
  encodeCapacity,
  encodeResources,
  encodeUsage,
} from '@mutirao/api/codecs';

import { ResourceRequest } from '../../../src/generated/mutirao/common/v1/common.ts';
import { ReplicaUsage, ResourceCapacity } from '../../../src/generated/mutirao/machine/v1/machine.ts';

interface MessageFns<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

function sent<T>(type: MessageFns<T>, message: T | undefined): T | undefined {
  return message && type.decode(Buffer.from(type.encode(message).finish()));
}

const wire = { memoryBytes: 5, gpuThousandths: 500, gpuKind: '', named: {} };

test('a request, a capacity and a usage come out as they went in', (t) => {
  const resources = { memory: 2 ** 40, gpus: 2000, gpuKind: 'a100', named: { licence: 2 } };
  t.deepEqual(decodeResources(sent(ResourceRequest, encodeResources(resources)), 'it'), { resources });
  t.deepEqual(decodeResources(undefined, 'it'), {});
  const capacity = { memory: 7, gpus: [{ id: '0', kind: 'a100' }], named: { licence: 3 } };
  t.deepEqual(decodeCapacity(sent(ResourceCapacity, encodeCapacity(capacity)), 'it'), { capacity });
  const usage = { memoryPeak: 10, processorTime: 20 };
  t.deepEqual(decodeUsage(sent(ReplicaUsage, encodeUsage(usage)), 'it'), { usage });
  t.deepEqual(decodeUsage(undefined, 'it'), {});
});

test('kinds and names count in any case', (t) => {
  t.deepEqual(decodeResources({ ...wire, gpuKind: 'A100', named: { Licence: 1 } }, 'it'), {
    resources: { memory: 5, gpus: 500, gpuKind: 'a100', named: { licence: 1 } },
  });
});

test('a request that cannot be met by any accounting is refused with what was expected', (t) => {
  const refuse = (changed: Partial<typeof wire> & { named?: Record<string, number> }, message: string): void => {
    t.throws(() => decodeResources({ ...wire, ...changed }, 'job.resources'), { code: 'MUT_BAD_REQUEST', message });
  };
  refuse(
    { gpuThousandths: 1500 },
    'job.resources.gpu_thousandths is 1500; expected 0 to 1000, or a multiple of it up to 1024000',
  );
  refuse(
    { gpuThousandths: 0, gpuKind: 'a100' },
    'job.resources.gpu_kind is "a100" and gpu_thousandths is 0; expected how much of that GPU',
  );
  refuse({ named: { licence: 0 } }, 'job.resources.named.licence is 0; expected 1 or more');
  refuse({ named: { 'a b': 1 } }, 'job.resources.named has the name "a b"; expected letters, digits, "-", "_" and "."');
  refuse({ named: { A: 1, a: 1 } }, 'job.resources.named has the name "a" twice; expected it once');
  refuse({ memoryBytes: 2 ** 51 }, `job.resources.memory_bytes is ${2 ** 51}; expected 0 to ${2 ** 50}`);
});

test('a machine whose devices have one id is refused', (t) => {
  const gpus = [
    { id: '0', kind: '' },
    { id: '0', kind: '' },
  ];
  t.throws(() => decodeCapacity({ memoryBytes: 0, gpus, named: {} }, 'facts.capacity'), {
    message: 'facts.capacity.gpus has the id "0" twice; expected each once',
  });
});
